package rules

import (
	"slices"
	"strings"
)

var xargsOptions = wrapper{
	flags: "0optrx", values: "EILnPsdaRSJ",
	long: []string{"--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-chars", "--process-slot-var"},
}

// xargsFlags are the long options of xargs without a value, or with one after =.
var xargsFlags = []string{"--null", "--no-run-if-empty", "--verbose", "--interactive", "--open-tty", "--exit", "--max-lines", "--eof", "--show-limits"}

// xargsOption reads the option of xargs at the beginning of words: how many words
// it takes, what stands for a word of the input if it says so, and why it is not
// known.
func xargsOption(words []word) (n int, place, why string) {
	text := words[0].text
	if strings.HasPrefix(text, "--") {
		name, value, has := strings.Cut(text, "=")
		switch takes, ok := xargsOptions.option(text); {
		case name == "--replace" && has:
			return 1, value, ""
		case name == "--replace":
			return 1, "{}", ""
		case ok && takes:
			return 2, "", ""
		case ok || slices.Contains(xargsFlags, name):
			return 1, "", ""
		}
		return 1, "", "its option " + shown(text) + " is not known here"
	}
	rest := strings.TrimLeft(text[1:], xargsOptions.flags)
	switch {
	case rest == "" || rest[0] == 'l' || rest[0] == 'e': // a value only if it is attached
		return 1, "", ""
	case rest == "i":
		return 1, "{}", ""
	case rest[0] == 'i' || len(rest) > 1 && (rest[0] == 'I' || rest[0] == 'J'):
		return 1, rest[1:], ""
	case len(words) > 1 && (rest == "I" || rest == "J"):
		return 2, words[1].text, ""
	case strings.IndexByte(xargsOptions.values, rest[0]) < 0:
		return 1, "", "its option " + shown(text) + " is not known here"
	case len(rest) > 1:
		return 1, "", ""
	}
	return 2, "", ""
}

// xargs adds the command that xargs runs with words of its input.
func (l *line) xargs(c call, p part) {
	place, rest, options := "", c.words[1:], false
	for len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") && rest[0].text != "--" {
		n, at, why := xargsOption(rest)
		n = min(n, len(rest))
		if options = true; at != "" {
			place = at
		}
		if why != "" {
			p.unclear = why
		}
		if !rest[0].known || rest[n-1].splits {
			p.unclear = "its options are not known"
		}
		rest = rest[n:]
	}
	if len(rest) > 0 && rest[0].text == "--" {
		rest = rest[1:]
	}
	words := placed(rest, place)
	if p.unclear != "" || len(words) == 0 { // xargs alone is echo
		l.add(p)
		return
	}
	if place == "" {
		words = append(words, something)
	}
	if !options && len(c.assigns) == 0 && c.words[0].value == "xargs" { // as Claude Code has it
		p.allow = ""
	}
	l.add(p)
	inner := c.within(words, c.covered)
	inner.stdin = nil
	l.command(inner)
}
