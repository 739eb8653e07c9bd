package harness

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// newestKnown is the Escouade whose manifest format this package knows.
const newestKnown = "2.1.0"

// reviewer looks at what a schema cannot say about one harness.
type reviewer struct {
	*problems
	doc  *document
	path []string // of the harness
	h    *Harness
	skip bool
}

// review checks a decoded manifest, takes out of it what may not stay, and
// adds the problems. The harnesses of m and those left in the tree are the
// same ones in the same order.
func (ps *problems) review(d *document, m *Manifest) {
	if m.Escouade.Min != "" && compareVersions(m.Escouade.Min, newestKnown) > 0 {
		ps.add(d.at([]string{"escouade", "min"}, false), Problem{
			Code: "newer-host", Message: fmt.Sprintf("the plugin asks for Escouade %s; this reader knows the format of %s", visible(m.Escouade.Min), newestKnown),
			Remedy: "check that the harness works; what is not known here is ignored", Severity: Warning, Consequence: Kept,
		})
	}
	ps.hiddenText(d, m)
	all, ok := d.find([]string{"contributes", "harnesses"})
	if !ok {
		return
	}
	var kept []*Harness
	seen := map[string]bool{}
	next := 0
	for i, n := range all.kids {
		if n.dropped {
			continue
		}
		r := &reviewer{problems: ps, doc: d, path: []string{"contributes", "harnesses", strconv.Itoa(i)}, h: m.Contributes.Harnesses[next]}
		next++
		r.identity(seen)
		r.text(n, r.path)
		r.program()
		r.environment()
		r.modes()
		r.claims()
		if !r.skip {
			kept = append(kept, r.h)
		}
	}
	m.Contributes.Harnesses = kept
}

func (r *reviewer) report(p Problem, steps ...string) {
	r.add(r.doc.at(append(slices.Clone(r.path), steps...), false), p)
	if p.Consequence == Skipped {
		r.skip = true
	}
}

func (r *reviewer) identity(seen map[string]bool) {
	if seen[r.h.ID] {
		r.report(Problem{Code: "duplicate-id", Message: fmt.Sprintf("the plugin has two harnesses called %q", r.h.ID),
			Remedy: "give this one another id", Severity: Error, Consequence: Skipped}, "id")
	}
	seen[r.h.ID] = true
}

// hiddenText takes out texts of the plugin that could draw on the screen.
func (ps *problems) hiddenText(d *document, m *Manifest) {
	for _, part := range []struct {
		name  string
		lines bool
		clear func()
	}{
		{"name", false, func() { m.Name = m.ID }},
		{"version", false, func() { m.Version = "" }},
		{"description", true, func() { m.Description = nil }},
		{"author", false, func() { m.Author = Author{} }},
		{"license", false, func() { m.Source.License = "" }},
		{"repository", false, func() { m.Source.Repository = "" }},
	} {
		n := d.root.kid(part.name)
		if n == nil || n.dropped || !n.hides(part.lines) {
			continue
		}
		part.clear()
		ps.add(d.at([]string{part.name}, false), Problem{Code: "hidden-text", Message: part.name + " holds control characters",
			Remedy: "write plain text", Severity: Error, Consequence: Ignored})
	}
}

// hides reports whether a string below n has characters that are not seen.
func (n *node) hides(lines bool) bool {
	if n.kind == '"' && strings.ContainsFunc(n.text, func(c rune) bool { return hidden(c) && !(lines && (c == '\n' || c == '\t')) }) {
		return true
	}
	return slices.ContainsFunc(n.kids, func(k *node) bool { return k.hides(lines) })
}

// text skips a harness with a text that could draw on the screen: its names
// and install lines are shown to a person, who may copy them.
func (r *reviewer) text(n *node, path []string) {
	if n.dropped {
		return
	}
	if n.kind == '"' {
		lines := slices.Contains(path, "meaning") || slices.Contains(path, "env")
		if n.hides(lines) {
			r.report(Problem{Code: "hidden-text", Message: subjectOf(path) + " holds control characters",
				Remedy: "write plain text", Severity: Error, Consequence: Skipped}, path[len(r.path):]...)
		}
		return
	}
	for i, k := range n.kids {
		step := k.name
		if n.kind == '[' {
			step = strconv.Itoa(i)
		}
		if n.kind == '{' && (&node{kind: '"', text: step}).hides(false) {
			r.report(Problem{Code: "hidden-text", Message: fmt.Sprintf("the name %s holds control characters", quoted(step)),
				Remedy: "write plain text", Severity: Error, Consequence: Skipped}, path[len(r.path):]...)
			continue
		}
		r.text(k, append(slices.Clip(path), step))
	}
}

// interpreters run whatever their arguments say.
var interpreters = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh",
	"python", "python3", "node", "deno", "bun", "perl", "ruby", "npx", "bunx", "uvx", "env", "sudo", "ssh", "xargs", "nohup", "eval"}

func (r *reviewer) program() {
	for i, name := range r.h.Program.Locate.Names {
		if slices.Contains(interpreters, strings.ToLower(name)) {
			r.report(Problem{Code: "interpreter", Message: fmt.Sprintf("the program %q runs what its arguments say: %s", name, visible(r.h.CommandLine())),
				Remedy: "check the arguments before you use it", Severity: Warning, Consequence: Kept}, "locate", "names", strconv.Itoa(i))
		}
	}
	t := r.h.Program.Tested
	if t != (Tested{}) && compareVersions(t.Oldest, t.Newest) > 0 {
		r.h.Program.Tested = Tested{}
		r.report(Problem{Code: "wrong-range", Message: fmt.Sprintf("the oldest version tested, %s, is above the newest, %s", t.Oldest, t.Newest),
			Remedy: "exchange them", Severity: Error, Consequence: Ignored}, "tested")
	}
}

func (r *reviewer) environment() {
	env := r.h.ACP.Environment.Env
	for _, name := range slices.Sorted(maps.Keys(env)) {
		switch {
		case runsOthers(name):
			r.report(Problem{Code: "unsafe-variable", Message: fmt.Sprintf("the variable %s makes another program run than the one that is shown", name),
				Remedy: "remove it; set it in your own configuration if you want it", Severity: Error, Consequence: Skipped}, "acp", "env", name)
		case env[name] != "" && (secretName(name) || secretValue(env[name])):
			delete(env, name)
			r.report(Problem{Code: "secret", Message: fmt.Sprintf("the variable %s looks like a secret, and a manifest can be read by anyone", name),
				Remedy:   fmt.Sprintf("remove it, and name it in x-sallyport.passEnv: [%q] so that the user's own value is passed on", name),
				Severity: Error, Consequence: Ignored}, "acp", "env", name)
		}
	}
}

// secretName reports whether a variable's name says that it holds a secret.
func secretName(name string) bool {
	for word := range strings.SplitSeq(strings.ToUpper(name), "_") {
		switch word {
		case "KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "COOKIE", "PAT":
			return true
		}
	}
	return false
}

// secretValue reports whether a value begins as well-known keys do.
func secretValue(value string) bool {
	for _, start := range []string{"sk-", "ghp_", "gho_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "AIza", "Bearer ", "-----BEGIN "} {
		if strings.HasPrefix(value, start) {
			return true
		}
	}
	return false
}

// runsOthers reports whether a variable makes a program load or run code
// that its command line does not show.
func runsOthers(name string) bool {
	name = strings.ToUpper(name)
	switch name {
	case "PATH", "PATHEXT", "COMSPEC", "SHELL", "BASH_ENV", "ENV", "ZDOTDIR", "NODE_OPTIONS", "NODE_PATH", "BUN_OPTIONS",
		"PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
		"EDITOR", "VISUAL", "PAGER", "BROWSER", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GCONV_PATH":
		return true
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "GIT_CONFIG") || strings.HasPrefix(name, "NPM_CONFIG_")
}

func (r *reviewer) modes() {
	var known []string
	for _, m := range r.h.Caps.Modes {
		known = append(known, m.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(r.h.ACP.Switches.Modes)) {
		if !slices.Contains(known, id) {
			remedy := "add it to caps.modes, or remove it"
			if near := Nearest(id, known); near != "" {
				remedy = fmt.Sprintf("did you mean %q?", near)
			}
			r.report(Problem{Code: "unknown-mode", Message: fmt.Sprintf("the mode %s is not among caps.modes, so nobody can choose it", quoted(id)),
				Remedy: remedy, Severity: Warning, Consequence: Kept}, "acp", "modes", id)
		}
	}
}

// claims takes back what only a built-in manifest is believed about.
func (r *reviewer) claims() {
	const why = "is believed only from built-in manifests"
	trusted := r.h.From.Origin == Builtin
	if r.h.ACP.FenceOnPermissions && !trusted {
		r.h.ACP.FenceOnPermissions = false
		r.report(Problem{Code: "not-believed", Message: "fenceOnPermissions " + why, Remedy: "remove it", Severity: Warning, Consequence: Ignored}, "acp", "fenceOnPermissions")
	}
	if r.h.Own.Self && !trusted {
		r.report(Problem{Code: "not-believed", Message: "self " + why, Remedy: "remove it, and name a program in locate.names", Severity: Error, Consequence: Skipped}, "x-sallyport", "self")
	}
	for i, q := range r.h.Own.Quirks {
		if !slices.Contains(Quirks(), q) {
			r.report(Problem{Code: "unknown-quirk", Message: fmt.Sprintf("no quirk is called %q", q), Remedy: quirkRemedy(q), Severity: Warning, Consequence: Ignored},
				"x-sallyport", "quirks", strconv.Itoa(i))
		}
	}
	for i, e := range r.h.ACP.Extensions {
		if e != "cursor" {
			r.report(Problem{Code: "unknown-extension", Message: fmt.Sprintf("no extension is called %s", quoted(e)), Remedy: `remove it; "cursor" is known`,
				Severity: Warning, Consequence: Ignored}, "acp", "extensions", strconv.Itoa(i))
		}
	}
}

func quirkRemedy(q Quirk) string {
	var names []string
	for _, known := range Quirks() {
		names = append(names, string(known))
	}
	if near := Nearest(string(q), names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "remove it"
}
