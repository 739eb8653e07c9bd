package rules

import (
	"strings"
)

// sets notes that a variable gets a value by the way: from a loop, an expansion,
// a redirection. What may matter to a program that is run later (PATH in
// `for PATH in /tmp; do ls; done`) is a part of its own, as if it were spelt.
func (l *line) sets(name string) {
	switch {
	case plainName(name):
		return
	case runsValue(name) || changesNames(name):
		l.unclear(name+"=…", "it is not known what this is set to")
		return
	}
	text := name + "=" + something.text
	l.add(part{text: text, allow: text})
}

// plainName reports whether a variable is one that only the line itself looks at: in
// lower case, but none of zsh's own, nor of those that programs look at.
func plainName(name string) bool {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return false
	}
	switch name {
	case "path", "cdpath", "fpath", "mailpath", "manpath", "fignore", "prompt", "aliases", "galiases", "saliases", "functions", "commands",
		"builtins", "options", "parameters", "histchars", "psvar", "watch", "nullcmd", "readnullcmd", "precmd", "preexec", "chpwd":
		return false
	}
	return !strings.HasSuffix(name, "_proxy") && !strings.HasSuffix(name, "_functions") && !strings.Contains(name, "path") && !strings.HasPrefix(name, "npm_")
}

// handed looks at assignments whose value is a command that some program will
// run, or that change what names of files mean.
func (l *line) handed(assigns []word) {
	for _, w := range assigns {
		name, value, ok := strings.Cut(w.text, "=")
		name = strings.TrimSuffix(name, "+")
		switch {
		case !ok:
		case changesNames(name):
			l.unclear(w.text, "it changes what names of files mean")
		case !runsValue(name) || value == "":
		case !w.known:
			l.unclear(w.text, "it is not known which command this hands on")
		default:
			_, value, _ = strings.Cut(w.value, "=")
			l.nest(value, true)
		}
	}
}

// changesNames reports whether names of files mean others when a variable is set.
func changesNames(name string) bool {
	switch name {
	case "HOME", "PWD", "OLDPWD", "CDPATH", "GLOBIGNORE":
		return true
	default:
		return false
	}
}

// runsValue reports whether programs run the value of a variable.
func runsValue(name string) bool {
	switch name {
	case "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "RSYNC_RSH", "CVS_RSH", "LESSOPEN", "LESSCLOSE", "BROWSER",
		"PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS3", "PS4", "PROMPT", "VISUAL", "FZF_DEFAULT_COMMAND":
		return true
	}
	return strings.HasSuffix(name, "PAGER") || strings.HasSuffix(name, "EDITOR") || strings.HasSuffix(name, "_ASKPASS") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_")
}
