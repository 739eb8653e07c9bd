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
	return call{words: words, stdin: c.stdin, covered: covered}
}

// program is the name of c's program without folder and in lower case: some
// systems run RM as rm, and rm.exe.
func (c call) program() string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(c.words[0].value, `\`, "/")))
	return strings.TrimSuffix(base, ".exe")
}

// command adds a command and those that it will start.
func (l *line) command(c call) {
	if l.full {
		return
	}
	text := c.text()
	p := part{text: text, allow: text}
	if c.covered {
		p.allow = ""
	}
	name := c.words[0]
	if !name.known || name.value == "" || strings.IndexByte(name.text, gap) >= 0 || name.value[0] == '=' || name.value[0] == '-' {
		p.unclear = "it is not known which program this is"
		l.add(p)
		return
	}
	program := c.program()
	p.also = spellings(c, program)
	p.unclear = subscriptOf(program, c.words)
	p.reads, p.writes = operands(program, c.words[1:])
	if w, ok := wrappers[program]; ok {
		l.wrapped(c, p, w)
		return
	}
	switch program {
	case "find":
		l.find(c, p)
	case "xargs":
		l.xargs(c, p)
	case "sh", "bash", "zsh", "dash", "ksh", "ash", "mksh":
		l.shell(c, p)
	case "eval":
		l.eval(c, p, c.words[1:])
	case "trap":
		l.trap(c, p)
	case "alias":
		l.alias(c, p)
	case "source", ".":
		if len(c.words) > 1 && (!c.words[1].known || strings.HasPrefix(c.words[1].value, "/dev/")) {
			p.unclear = "it is not known which commands it runs"
		}
		l.add(p)
	default:
		if opaque[program] && len(c.words) > 1 {
			p.unclear = program + " runs a command in a way that is not known here"
		}
		l.add(p)
	}
}

// spellings are other ways to write the same command, for deny and ask: without
// assignments, without the program's folder, without git's options before its
// subcommand.
func spellings(c call, program string) []string {
	var all []string
	plain := join(c.words)
	if len(c.assigns) > 0 {
		all = append(all, plain)
	}
	rest := plain[len(c.words[0].text):]
	for _, name := range []string{path.Base(c.words[0].value), program} {
		if name != c.words[0].value {
			all = append(all, name+rest)
		}
	}
	if program == "git" {
		if words := gitWords(c.words); len(words) != len(c.words) {
			all = append(all, "git"+join(words)[len(c.words[0].text):])
		}
	}
	return all
}

// gitWords are git's words without the options that stand before a subcommand.
func gitWords(words []word) []word {
	i := 1
	for ; i < len(words) && strings.HasPrefix(words[i].text, "-"); i++ {
		switch words[i].text {
		case "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source":
			i++
		}
	}
	if i == 1 || i > len(words) {
		return words
	}
	return append([]word{words[0]}, words[i:]...)
}

// configured says why git is unclear: what it is given by -c may be a command.
func configured(words []word) string {
	own := words[:len(words)-len(gitWords(words))+1] // git's own options
	for i, w := range own {
		if strings.HasPrefix(w.text, "--config-env") {
			return configuredCommand
		}
		if w.text != "-c" || i+1 == len(own) {
			continue
		}
		key, value, _ := strings.Cut(strings.ToLower(own[i+1].text), "=")
		section, _, _ := strings.Cut(key, ".")
		switch section {
		case "user", "color", "advice", "init", "i18n", "safe":
			continue
		}
		switch value {
		case "", "true", "false", "auto", "always", "never", "0", "1":
			continue
		}
		return configuredCommand
	}
	return ""
}

const configuredCommand = "git may run a command that its configuration names"

// opaque are programs that run a command of their arguments in a way that is
// not followed here. They are asked.
var opaque = map[string]bool{
	"parallel": true, "watch": true, "script": true, "flock": true, "su": true, "runuser": true, "chroot": true,
	"unshare": true, "nsenter": true, "strace": true, "ltrace": true, "setpriv": true, "systemd-run": true,
	"expect": true, "entr": true, "repeat": true, "fish": true, "csh": true, "tcsh": true, "run0": true,
	"pkexec": true, "start-stop-daemon": true, "fc": true, "mapfile": true, "readarray": true, "bind": true,
	"complete": true, "compgen": true, "enable": true, "shopt": true, "hash": true,
}

// subscriptOf says why a builtin that evaluates names of variables is unclear:
// in `read 'a[$(rm x)]'` the shell runs rm.
func subscriptOf(program string, words []word) string {
	switch program {
	case "printf", "read", "unset", "test", "[", "let", "wait", "getopts", "export", "declare", "local", "readonly", "typeset":
		return subscript(words)
	case "git":
		return configured(words)
	}
	return ""
}

func subscript(words []word) string {
	for _, w := range words[1:] {
		if strings.IndexByte(w.text, '[') >= 0 && strings.ContainsAny(w.text, "$`") {
			return "an index may be run as a command"
		}
	}
	return ""
}

// operands are the files that a well-known program reads or writes, as far as
// its words say; only rules that forbid or ask look at them.
func operands(program string, words []word) (reads, writes []string) {
	var files []string
	for _, w := range words {
		if !strings.HasPrefix(w.text, "-") {
			files = append(files, w.text)
		}
	}
	switch program {
	case "cat", "head", "tail", "less", "more", "nl", "tac", "wc", "sort", "uniq", "grep", "egrep", "fgrep", "rg", "awk",
		"cut", "strings", "xxd", "od", "hexdump", "base64", "diff", "cmp", "source", ".":
		return files, nil
	case "sed":
		return files, files // -i writes; which one is said in too many ways
	case "cp", "mv", "install", "ln":
		return files, files
	case "tee", "rm", "rmdir", "unlink", "touch", "truncate", "shred", "chmod", "chown", "mkdir":
		return nil, files
	default:
		return nil, nil
	}
}
