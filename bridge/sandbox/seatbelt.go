package sandbox

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// profile is the plan as a profile of macOS' sandbox-exec (the Seatbelt language, version 1; the last rule that matches
// decides). It has not been run yet: start refuses this backend until it was.
//
// It is text for "sandbox-exec -f /dev/fd/N": paths in it are quoted, so that none has to be an argument. What moves is held by
// file-write-unlink on each folder above. Reserved names that are absent are held by their pattern, which mounts cannot.
func (p *plan) profile() string {
	var b strings.Builder
	line := func(words ...string) { b.WriteString(strings.Join(words, " ") + "\n") }
	rule := func(verb, operation string, filters []string) {
		if len(filters) > 0 {
			line("("+verb, operation, strings.Join(filters, " ")+")")
		}
	}
	line("(version 1)")
	line("(allow default)")
	line(`(deny file-write* (subpath "/"))`)
	open := append(subpaths(p.layout.Writable), subpaths(p.needs.State)...)
	rule("allow", "file-write*", append(open, subpaths([]string{p.temp})...))
	line(`(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))`)
	reserved := subpaths(slices.Concat(p.layout.Closed, p.needs.Settings))
	for _, a := range p.layout.Absent {
		reserved = append(reserved, "(subpath "+quoted(a.Path)+")")
	}
	for _, path := range p.layout.Told {
		reserved = append(reserved, "(subpath "+quoted(path)+")")
	}
	rule("deny", "file-write*", reserved)
	for _, w := range p.layout.Writable {
		rule("deny", "file-write*", []string{
			`(regex #"^` + pattern(w) + `(/.*)?/\.git/(hooks|info)(/|$)")`,
			`(regex #"^` + pattern(w) + `(/.*)?/\.git/(config|config\.worktree|commondir)$")`,
			`(regex #"^` + pattern(w) + `(/.*)?/\.(vscode|idea|devcontainer|zed|claude|gemini|codex|qwen|cursor|agents)(/|$)")`,
			`(regex #"^` + pattern(w) + `(/.*)?/\.(envrc|mcp\.json|gitmodules)$")`,
		})
	}
	rule("deny", "file-write-unlink", literals(above(slices.Concat(p.layout.Closed, p.layout.Pinned))))
	var hides, shows []string
	for _, h := range p.layout.Hidden {
		if h.Folder {
			hides = append(hides, "(subpath "+quoted(h.Path)+")")
		} else {
			hides = append(hides, "(literal "+quoted(h.Path)+")")
		}
		for _, name := range h.Open {
			shows = append(shows, "(literal "+quoted(filepath.Join(h.Path, name))+")")
		}
	}
	rule("deny", "file-read* file-write*", hides)
	rule("allow", "file-read*", shows)
	rule("allow", "file-read* file-write*", inside(p))
	var hidden []string
	for _, h := range p.layout.Hidden {
		hidden = append(hidden, h.Path)
	}
	rule("deny", "file-write-unlink", literals(above(hidden)))
	var sockets []string
	for _, s := range p.sockets {
		sockets = append(sockets, "(path "+quoted(s)+")")
	}
	rule("deny", "network-outbound", sockets)
	switch p.network {
	case NetworkOff:
		line("(deny network*)")
	case NetworkLoopback:
		line(`(deny network*)`)
		line(`(allow network* (local ip "localhost:*") (remote ip "localhost:*"))`)
	}
	line("(deny appleevent-send)")
	line("(deny job-creation)")
	line("(deny process-info* (target others))")
	line("(allow process-info* (target same-sandbox))")
	line("(deny signal (target others))")
	line("(allow signal (target same-sandbox))")
	return b.String()
}

// inside are the agent's own folders that lie in something hidden.
func inside(p *plan) (filters []string) {
	for _, path := range append([]string{p.temp}, p.needs.State...) {
		for _, h := range p.layout.Hidden {
			if h.Folder && p.within([]string{h.Path}, path) {
				filters = append(filters, "(subpath "+quoted(path)+")")
				break
			}
		}
	}
	return filters
}

// above are paths and every folder above them, once each.
func above(paths []string) []string {
	var all []string
	for _, path := range paths {
		for at := path; at != "/" && at != "."; at = filepath.Dir(at) {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func subpaths(paths []string) []string { return filters("subpath", paths) }
func literals(paths []string) []string { return filters("literal", paths) }

func filters(kind string, paths []string) []string {
	var all []string
	for _, path := range paths {
		if path != "" {
			all = append(all, "("+kind+" "+quoted(path)+")")
		}
	}
	return all
}

// quoted is a string of the profile's language.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// pattern is a path as a regular expression of the profile's language, in which a quote ends the text.
func pattern(path string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(path), `"`, `\"`)
}
