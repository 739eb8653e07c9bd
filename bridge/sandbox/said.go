package sandbox

import (
	"slices"
	"strings"

	"sallyport/bridge/process"
)

// Said is how a program is started besides, by the word of somebody who is not
// trusted: the agent. It opens nothing: the fence is made as if it were not said,
// and only what is inside hears of it.
type Said struct {
	Program string   // absolute; in the place of the program and its arguments; empty: none
	Args    []string // behind the arguments
	Env     []string // NAME=VALUE, over variables of that name
}

// Of is a program as it is started with what was said.
func (s Said) Of(p process.Spec) process.Spec {
	if s.Program != "" {
		p.Path, p.Args = s.Program, nil
	}
	p.Args = slices.Concat(p.Args, s.Args)
	for _, entry := range s.Env {
		name, _, _ := strings.Cut(entry, "=")
		p.Env = append(slices.DeleteFunc(slices.Clone(p.Env), func(e string) bool { return strings.HasPrefix(e, name+"=") }), entry)
	}
	return p
}
