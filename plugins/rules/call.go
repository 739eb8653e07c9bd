package rules

import (
	"path"
	"strings"
)

// call is a simple command, or one that another command will start.
type call struct {
	assigns []word
	words   []word // at least the program's
	stdin   *word  // what is fed to it, if the line says; nil otherwise
	covered bool   // the outer command spelt this one: its allow rule counts
	depth   int    // of commands that start it, each spelling the next
}

// text is the command with what stands before it.
func (c call) text() string {
	if len(c.assigns) == 0 {
		return join(c.words)
	}
	return join(c.assigns) + " " + join(c.words)
}

// within is a command that c starts. It has its own words.
func (c call) within(words []word, covered bool) call {
	return call{words: words, stdin: c.stdin, covered: covered, depth: c.depth + 1}
}

// program is the name of c's program without folder and in lower case: some
// systems run RM as rm, and rm.exe.
func (c call) program() string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(c.words[0].value, `\`, "/")))
	for _, ending := range []string{".exe", ".com", ".cmd", ".bat", ".ps1"} {
		if name, ok := strings.CutSuffix(base, ending); ok {
			return name
		}
	}
	return base
}

// command adds a command and those that it will start.
func (l *line) command(c call) {
	if l.full {
		return
	}
	if c.depth > maxWrapped {
		l.unclear("…", "commands are nested too deep")
		return
	}
	text := c.text()
	p := part{text: text, allow: text}
	if c.covered {
		p.allow = ""
	}
	if !plainProgram(c.words[0]) {
		p.unclear = "it is not known which program this is"
		l.add(p)
		return
	}
	p.program = c.program()
	p.also = spellings(c, p.program)
	p.unclear = l.looksUp(p.program, c.words)
	p.touched = filesOf(p.program, c.words)
	l.options(&p, c)
	if w, words, ok := wrapperOf(p.program, c.words); ok {
		l.wrapped(c, p, w, words)
		return
	}
	switch p.program {
	case "find", "gfind":
		l.find(c, p)
	case "xargs", "gxargs":
		l.xargs(c, p)
	case "eval":
		l.eval(c, p, c.words[1:])
	case "trap":
		l.trap(c, p)
	case "alias":
		l.alias(c, p)
	case "cd", "chdir", "pushd":
		if p.moves = target(c.words); l.repeats && !strings.HasPrefix(p.moves, "/") && !strings.HasPrefix(p.moves, "~") {
			p.moves = something.file
		}
		l.add(p)
	case "source", ".":
		if len(c.words) > 1 && fed(c.words[1]) {
			p.unclear = unknownCommands
		}
		l.add(p)
	default:
		if isShell(p.program) {
			l.shell(c, p)
			return
		}
		l.add(p)
	}
}

// plainProgram reports whether a word is the name of a program that every shell
// and system reads alike. No other name is in need of more letters.
func plainProgram(w word) bool {
	if !w.known || w.value == "" || strings.IndexByte("=-@", w.value[0]) >= 0 {
		return false
	}
	for i := range len(w.value) {
		c := w.value[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') && strings.IndexByte(`._-+/\~:@=`, c) < 0 {
			return w.value == "["
		}
	}
	return true
}

// target is where cd leads.
func target(words []word) string {
	for _, w := range words[1:] {
		switch {
		case w.text == "--" || w.text == "-P" || w.text == "-L" || w.text == "-n":
		case w.text == "" || w.text[0] == '-' || w.text[0] == '+':
			return something.file
		default:
			return w.path()
		}
	}
	if words[0].text == "pushd" {
		return something.file
	}
	return "~"
}
