package rules

import (
	"strings"
)

// find adds the commands that find runs. As Claude Code has it, a rule of find
// with a wildcard is not meant for what runs or deletes something.
func (l *line) find(c call, p part) {
	var inner [][]word
	for i := 1; i < len(c.words); i++ {
		switch text := c.words[i].text; text {
		case "-exec", "-execdir", "-ok", "-okdir":
			p.limit.reach = len(p.text)
			end := i + 1
			for end < len(c.words) && c.words[end].text != ";" && !(c.words[end].text == "+" && c.words[end-1].text == "{}") {
				if c.words[end].splits { // a ; and another -exec may be in it
					p.unclear = unknownCommands
				}
				end++
			}
			if words := placed(c.words[i+1:end], "{}"); len(words) > 0 {
				inner = append(inner, words)
			}
			i = end
		case "-delete":
			p.limit.exact = "it deletes whatever it finds"
		case "-fprint", "-fprint0", "-fprintf", "-fls":
			p.redirect = true
			if i++; i < len(c.words) {
				p.writes = append(p.writes, c.words[i].path())
			}
		case "-files0-from":
			i++
		default:
			if c.words[i].opens() {
				p.unclear = "it may run something or delete what it finds"
			}
			for _, action := range []string{"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fls"} {
				if open := opened(text); open != "" && overlap(action, open) {
					p.unclear = "it may run something or delete what it finds"
				}
			}
		}
	}
	l.add(p)
	for _, words := range inner {
		l.command(c.within(words, true))
	}
}

// placed fills the place of what find or xargs puts into a command.
func placed(words []word, place string) []word {
	all := make([]word, len(words))
	for i, w := range words {
		if place != "" && strings.Contains(w.text, place) {
			w = word{text: strings.ReplaceAll(w.text, place, something.text), file: strings.ReplaceAll(w.path(), place, something.file)}
		}
		all[i] = w
	}
	return all
}

const unknownCommands = "it is not known which commands it runs"

// isShell reports whether a program reads command lines as bash does, or nearly.
func isShell(program string) bool {
	switch strings.TrimRight(program, "0123456789.-") {
	case "sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "rbash", "rzsh", "rksh", "pdksh", "oksh", "lksh", "loksh", "yash", "posh", "hush":
		return true
	default:
		return false
	}
}

// fed reports whether a file is none that lies somewhere: what is in it comes
// from elsewhere in the line.
func fed(file word) bool {
	return !file.known || strings.HasPrefix(file.value, "/dev/") || strings.HasPrefix(file.value, "/proc/")
}

// shell adds the command line that a shell is given by -c or on its input.
func (l *line) shell(c call, p part) {
	script, direct, input := 1, false, false
options:
	for ; script < len(c.words); script++ {
		w := c.words[script]
		switch {
		case !w.known:
			p.unclear = unknownCommands
			l.add(p)
			return
		case w.value == "--" || w.value == "-":
			script++
			break options
		case w.value == "--version" || w.value == "--help":
			l.add(p)
			return
		case w.value == "--rcfile" || w.value == "--init-file":
			p.unclear = unknownCommands
			script++
		case strings.HasPrefix(w.value, "--"):
		case len(w.value) > 1 && (w.value[0] == '-' || w.value[0] == '+'):
			direct = direct || w.value[0] == '-' && strings.Contains(w.value, "c")
			input = input || strings.Contains(w.value, "s")
			for range strings.Count(w.value, "o") + strings.Count(w.value, "O") {
				if script++; script < len(c.words) && c.words[script].splits {
					p.unclear = unknownCommands
				}
			}
		default:
			break options
		}
	}
	text := c.stdin
	switch given := script < len(c.words); {
	case given && direct:
		text = &c.words[script]
	case direct || given && fed(c.words[script]):
		text = nil
	case given && !input: // a file, as any program is
		l.add(p)
		return
	}
	if text == nil || !text.known {
		p.unclear = unknownCommands
		l.add(p)
		return
	}
	l.add(p)
	l.nest(text.value, c.covered)
}

// nest reads a command line that a command is given. When it is covered by an
// allow rule of what gives it, it needs none of its own.
func (l *line) nest(command string, covered bool) {
	from := len(l.parts)
	l.read(command)
	if covered {
		for i := from; i < len(l.parts); i++ {
			l.parts[i].allow = ""
		}
	}
}

// eval adds the command line that eval makes of its words.
func (l *line) eval(c call, p part, words []word) {
	if len(words) > 0 && words[0].value == "--" {
		words = words[1:]
	}
	all, ok := values(words)
	if !ok {
		p.unclear = unknownCommands
	}
	l.add(p)
	if ok {
		l.nest(strings.Join(all, " "), c.covered)
	}
}

// trap adds the command line that runs on a signal.
func (l *line) trap(c call, p part) {
	words := c.words[1:]
	if len(words) > 0 && words[0].value == "--" {
		words = words[1:]
	}
	if len(words) > 1 {
		l.eval(c, p, words[:1])
		return
	}
	l.add(p)
}

// alias adds what the aliases stand for. Where they will be used nobody knows.
func (l *line) alias(c call, p part) {
	for _, w := range c.words[1:] {
		if name, value, ok := strings.Cut(w.value, "="); ok || !w.known {
			p.unclear = "it gives another meaning to " + name
			if w.known {
				l.nest(value, c.covered)
			}
		}
	}
	l.add(p)
}
