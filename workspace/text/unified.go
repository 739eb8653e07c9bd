package text

import "strings"

// Unified returns a unified diff.
func Unified(name, old, new string) string {
	var b strings.Builder
	b.WriteString("--- " + name + "\n+++ " + name + "\n")
	for l := range strings.Lines(old) {
		b.WriteString("-" + l)
	}
	for l := range strings.Lines(new) {
		b.WriteString("+" + l)
	}
	return b.String()
}
