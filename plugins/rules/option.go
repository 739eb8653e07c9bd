package rules

import (
	"slices"
	"strings"
)

// Options by which a program runs a command, or writes a file, that the name of
// the program does not let expect. A rule with a wildcard is not meant for them.
// Long ones may be abbreviated, short ones joined.
type special struct {
	runs   []string // the value is a command, or a command line
	writes []string // the value is a file
	hidden bool     // a word that is not known is asked, as Claude Code has it
}

var (
	diffs  = special{writes: []string{"--output"}, hidden: true}
	remote = special{runs: []string{"--upload-pack", "--receive-pack", "--exec", "-u"}, hidden: true}
	tar    = special{runs: []string{"--to-command", "--use-compress-program", "-I", "--checkpoint-action", "--info-script", "--new-volume-script", "-F", "--rsh-command", "--rmt-command"}, hidden: true}
	fd     = special{runs: []string{"--exec", "--exec-batch", "-x", "-X"}, hidden: true}
	ssh    = special{runs: []string{"-o"}}
	npm    = special{runs: []string{"--script-shell"}}
	sorts  = special{runs: []string{"--compress-program"}, writes: []string{"--output", "-o"}, hidden: true}
)

var specials = map[string]special{
	"git log": diffs, "git diff": diffs, "git show": diffs, "git stash": diffs, "git reflog": diffs, "git whatchanged": diffs,
	"git diff-tree": diffs, "git diff-index": diffs, "git diff-files": diffs, "git range-diff": diffs,
	"git format-patch": {writes: []string{"--output", "--output-directory", "-o"}},
	"git archive":      {runs: []string{"--exec"}, writes: []string{"--output", "-o"}},
	"git fetch":        remote, "git pull": remote, "git clone": remote, "git ls-remote": remote, "git push": remote,
	"git fetch-pack": remote, "git send-pack": remote,
	"git grep":       {runs: []string{"--open-files-in-pager", "-O"}, hidden: true},
	"git rebase":     {runs: []string{"--exec", "-x"}},
	"git difftool":   {runs: []string{"--extcmd", "-x"}},
	"git send-email": {runs: []string{"--sendmail-cmd", "--smtp-server", "--to-cmd", "--cc-cmd"}},
	"git filter-branch": {runs: []string{"--setup", "--env-filter", "--tree-filter", "--index-filter", "--parent-filter", "--msg-filter",
		"--commit-filter", "--tag-name-filter"}},
	"tar": tar, "gtar": tar, "bsdtar": tar,
	"rsync": {runs: []string{"--rsh", "-e", "--rsync-path"}},
	"ssh":   ssh, "sftp": ssh, "scp": {runs: []string{"-o", "-S"}},
	"man":  {runs: []string{"--pager", "-P", "--html", "-H"}},
	"sort": sorts, "gsort": sorts,
	"split": {runs: []string{"--filter"}},
	"rg":    {runs: []string{"--pre", "--hostname-bin"}, hidden: true},
	"fd":    fd, "fdfind": fd,
	"tree": {writes: []string{"-o"}},
	"zip":  {runs: []string{"--unzip-command", "-T"}},
	"go":   {runs: []string{"-exec", "-toolexec", "--exec", "--toolexec"}},
	"npm":  npm, "pnpm": npm, "yarn": npm,
	"env": {runs: []string{"--split-string", "-S"}},
}

// options looks for special options among c's words. What they run are parts.
func (l *line) options(p *part, c call) {
	words, name := c.words, p.program
	if name == "git" {
		if words, _ = gitWords(words); len(words) < 2 {
			return
		}
		name, words = name+" "+words[1].text, words[1:]
	}
	s, ok := specials[name]
	if !ok {
		return
	}
	for i, w := range words[1:] {
		if w.known && w.value == "--" {
			return
		}
		if open := opened(w.text); s.hidden && open != "" && (w.opens() || slices.ContainsFunc(slices.Concat(s.runs, s.writes), func(o string) bool { return overlap(o+string(rune(star)), open) })) {
			p.limit.exact = "it may be given an option by which it runs or writes something"
			continue
		}
		var next *word
		if i+2 < len(words) {
			next = &words[i+2]
		}
		for _, o := range s.writes {
			if value, ok := valueOf(o, w, next); ok {
				p.limit.exact = "it writes a file by " + o
				p.writes = append(p.writes, value.path())
			}
		}
		for _, o := range s.runs {
			value, ok := valueOf(o, w, next)
			if !ok && i == 0 && p.program == "tar" && !strings.HasPrefix(w.text, "-") { // tar cIf
				if value, ok = valueOf(o, literal("-"+w.value), next); ok {
					value, _ = valueOf(o, literal(o), next)
				}
			}
			if ok {
				l.runsOption(p, o, value)
			}
		}
	}
}

// valueOf is the value that a word, or the next one, gives to an option.
func valueOf(option string, w word, next *word) (value word, ok bool) {
	if next == nil {
		next = &something
	}
	if len(option) == 2 { // short
		at := strings.IndexByte(w.text, option[1])
		switch {
		case len(w.text) < 2 || w.text[0] != '-' || w.text[1] == '-' || at < 1:
			return word{}, false
		case at+1 == len(w.text):
			return *next, true
		case !w.known:
			return something, true
		}
		return literal(w.value[at+1:]), true
	}
	name, rest, has := strings.Cut(w.value, "=")
	switch {
	case !w.known:
		name, _, has = strings.Cut(w.text, "=")
		if !has || !abbreviates(name, option) {
			return word{}, false
		}
		return something, true
	case !abbreviates(name, option):
		return word{}, false
	case has:
		return literal(rest), true
	}
	return *next, true
}

// abbreviates reports whether a long option may be spelt so.
func abbreviates(name, option string) bool {
	return name == option || len(name) > 3 && strings.HasPrefix(name, "--") && strings.HasPrefix(option, name)
}

// runsOption adds what an option runs.
func (l *line) runsOption(p *part, option string, value word) {
	text := value.value
	switch option {
	case "-o": // of ssh
		key := text[:max(0, strings.IndexAny(text, " ="))]
		if value.known && !strings.HasSuffix(strings.ToLower(key), "command") {
			return
		}
		text = text[min(len(key)+1, len(text)):]
	case "--checkpoint-action":
		command, ok := strings.CutPrefix(text, "exec=")
		if value.known && !ok {
			return
		}
		text = command
	}
	p.limit.exact = "it runs a command by " + option
	if !value.known {
		p.unclear = unknownCommands
		return
	}
	l.nest(text, true)
}
