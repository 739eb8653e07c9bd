package rules

import (
	"regexp"
	"strings"
)

// wrapper is a program whose last arguments are the command that it runs.
type wrapper struct {
	flags    string   // letters of options without a value
	values   string   // letters of options with one
	long     []string // long options whose value is the next word
	operands int      // words between options and command
	assigns  bool     // name=value may stand there too
	neutral  bool     // it changes nothing of what the command does
}

// wrappers, by program. An option that is not listed makes the line unclear.
var wrappers = map[string]wrapper{
	"timeout": {flags: "vfp", values: "ks", long: []string{"--kill-after", "--signal"}, operands: 1, neutral: true},
	"nohup":   {neutral: true},
	"nice":    {flags: "0123456789", values: "n", long: []string{"--adjustment"}, neutral: true},
	"stdbuf":  {values: "ioe", long: []string{"--input", "--output", "--error"}, neutral: true},
	"time":    {flags: "pvaq", values: "fo", long: []string{"--format", "--output"}},
	"env":     {flags: "i0v", values: "uC", long: []string{"--unset", "--chdir"}, assigns: true},
	"sudo": {flags: "AbBEHnPSkKis", values: "ugCDhpRrtTU", assigns: true,
		long: []string{"--user", "--group", "--close-from", "--chdir", "--host", "--prompt", "--chroot", "--role", "--type", "--command-timeout", "--other-user"}},
	"doas":       {flags: "nsL", values: "uCa"},
	"command":    {flags: "pvV"},
	"builtin":    {},
	"exec":       {flags: "cl", values: "a"},
	"setsid":     {flags: "cfw"},
	"ionice":     {flags: "t", values: "cn", long: []string{"--class", "--classdata"}},
	"chrt":       {flags: "bfiormaRv", values: "TPD", operands: 1},
	"taskset":    {flags: "ac", operands: 1},
	"caffeinate": {flags: "dimsu", values: "tw"},
	"busybox":    {},
	"toybox":     {},
	"noglob":     {},
	"nocorrect":  {},
	"coproc":     {},
	"winpty":     {},
	"unbuffer":   {flags: "p"},
}

// wrapped adds a wrapper and the command in it.
func (l *line) wrapped(c call, p part, w wrapper) {
	inner, why := w.unwrap(c.words)
	if why != "" {
		p.unclear = why
		l.add(p)
		return
	}
	if len(inner) == 0 { // it prints something, or changes itself
		if c.words[len(c.words)-1].known && (c.program() == "sudo" || c.program() == "doas") && len(c.words) > 1 {
			p.unclear = "it starts a shell whose commands are not known"
		}
		l.add(p)
		return
	}
	query := c.program() == "command" && len(c.words) > 1 && (c.words[1].value == "-v" || c.words[1].value == "-V")
	switch {
	case query:
		l.add(p)
	case w.neutral && len(c.assigns) == 0 && c.words[0].value == c.program(): // not some other program of that name
		p.allow = ""
		l.add(p)
		l.command(c.within(inner, c.covered))
	default:
		l.add(p)
		l.command(c.within(inner, true))
	}
}

var assigning = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// unwrap finds the command in a wrapper's words, or says why it cannot.
func (w wrapper) unwrap(words []word) (inner []word, why string) {
	i := 1
	for ; i < len(words); i++ {
		text := words[i].text
		if strings.HasPrefix(text, "-") && !words[i].known {
			return nil, "its options are not known"
		}
		if text == "--" {
			i++
			break
		}
		if !strings.HasPrefix(text, "-") {
			break
		}
		takes, ok := w.option(text)
		if !ok {
			return nil, "its option " + shown(text) + " is not known here"
		}
		if takes {
			i++
			if i < len(words) && !words[i].known {
				return nil, "the value of its option is not known"
			}
		}
	}
	for n := 0; n < w.operands && i < len(words); n++ {
		if !words[i].known {
			return nil, "it is not known where its command begins"
		}
		i++
	}
	for w.assigns && i < len(words) && assigning.MatchString(words[i].text) {
		i++
	}
	if i >= len(words) {
		return nil, ""
	}
	return words[i:], ""
}

// option says whether the next word is the option's value; false if the option
// is not listed.
func (w wrapper) option(text string) (takes, ok bool) {
	if text == "-" {
		return false, w.assigns // env's own spelling of -i
	}
	if strings.HasPrefix(text, "--") {
		name, _, has := strings.Cut(text, "=")
		for _, long := range w.long {
			if name == long {
				return !has, true
			}
		}
		switch name {
		case "--foreground", "--preserve-status", "--verbose", "--ignore-environment", "--null", "--login", "--preserve-env",
			"--non-interactive", "--stdin", "--set-home", "--background", "--wait", "--fork", "--ctty", "--ignore":
			return false, true
		}
		return false, false
	}
	for i := 1; i < len(text); i++ {
		switch {
		case strings.IndexByte(w.flags, text[i]) >= 0:
		case strings.IndexByte(w.values, text[i]) >= 0:
			return i+1 == len(text), true
		default:
			return false, false
		}
	}
	return false, true
}
