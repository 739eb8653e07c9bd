package rules

import (
	"path"
	"strings"
)

// spelling is another way to write a command, for deny and ask. It may be a
// wrong guess where it is not sure.
type spelling struct {
	text string
	sure bool
}

// spellings are other ways to write the same command: without assignments,
// without the program's folder, without options before its subcommand.
func spellings(c call, program string) []spelling {
	var all []spelling
	plain := join(c.words)
	if len(c.assigns) > 0 {
		all = append(all, spelling{plain, true})
	}
	rest := plain[len(c.words[0].text):]
	for _, name := range []string{path.Base(c.words[0].value), program} {
		if name != c.words[0].value {
			all = append(all, spelling{name + rest, true})
		}
	}
	if sub, ok := strings.CutPrefix(program, "git-"); ok {
		all = append(all, spelling{"git " + sub + rest, true})
	}
	if program != "git" {
		return append(all, subcommands(program, c.words)...)
	}
	words, splits := gitWords(c.words)
	rest = join(words)[len(c.words[0].text):]
	if len(words) != len(c.words) {
		all = append(all, spelling{"git" + rest, true})
	}
	if splits {
		all = append(all, spelling{"git " + something.text + rest, true})
	}
	return all
}

// subcommands are spellings without the options before a subcommand. Whether
// the word after an option is its value nobody knows here: both are tried.
func subcommands(program string, words []word) []spelling {
	var all []spelling
	for k, sure := 1, true; k < len(words) && len(all) < 4; sure = false {
		from := k
		for k < len(words) && strings.HasPrefix(words[k].text, "-") {
			k++
		}
		if k == from || k == len(words) {
			return all
		}
		all = append(all, spelling{program + " " + join(words[k:]), sure})
		if k++; k < len(words) && !strings.HasPrefix(words[k].text, "-") {
			return append(all, spelling{program + " " + join(words[k:]), false})
		}
	}
	return all
}

// gitWords are git's words without the options that stand before a subcommand.
// splits is true if the shell may make a subcommand of their values.
func gitWords(words []word) (plain []word, splits bool) {
	i := 1
	for ; i < len(words) && strings.HasPrefix(words[i].text, "-"); i++ {
		splits = splits || words[i].splits
		switch words[i].text {
		case "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source", "--shallow-file":
			if i++; i < len(words) {
				splits = splits || words[i].splits
			}
		}
	}
	if i == 1 || i > len(words) {
		return words, splits
	}
	return append([]word{words[0]}, words[i:]...), splits
}

// configured says why git is unclear: what it is given by -c may be a command, and
// a repository named ext::… is one.
func configured(words []word) string {
	for _, w := range words {
		if strings.HasPrefix(w.text, "ext::") {
			return "git runs the command in the name of a place"
		}
	}
	plain, _ := gitWords(words)
	own := words[:len(words)-len(plain)+1] // git's own options
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
		case "protocol":
			return configuredCommand
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
