package bridge

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"sallyport/bridge/rpc"
	"sallyport/plugins/harness"
)

// SignInMarker is a word of our command line, wherever it stands: behind it is what
// a client's terminal is to sign in with. The answer to initialize has it in place
// of the arguments that an agent gives there, so that the client starts us again,
// however it started us.
const SignInMarker = "--sallyport-sign-in"

// Words are what ReadSignIn reads: the marker, and what stands behind it.
func (s SignIn) Words() []string {
	words := []string{SignInMarker}
	if s.Agent != "" {
		words = append(words, "--agent", s.Agent)
	}
	if s.Program != "" {
		words = append(words, "--program", s.Program)
	}
	for _, entry := range s.Env {
		words = append(words, "--env", entry)
	}
	return slices.Concat(words, []string{"--"}, s.Args)
}

// ReadSignIn reads what stands behind the marker. Folder and terminal are not said
// there.
func ReadSignIn(words []string) (s SignIn, err error) {
	for len(words) > 0 {
		word := words[0]
		switch {
		case word == "--":
			s.Args = words[1:]
			return s, nil
		case len(words) == 1:
			return s, fmt.Errorf("%s: %q has no value", SignInMarker, word)
		}
		value := words[1]
		words = words[2:]
		switch word {
		case "--agent":
			s.Agent = value
		case "--program":
			s.Program = value
		case "--env":
			if !isVariable(value) {
				return s, fmt.Errorf("%s: --env is NAME=VALUE", SignInMarker)
			}
			s.Env = append(s.Env, value)
		default:
			return s, fmt.Errorf("%s: %q means nothing", SignInMarker, word)
		}
	}
	return s, errors.New("what stands behind " + SignInMarker + " is cut short")
}

// isVariable reports whether an entry sets a variable.
func isVariable(entry string) bool { return strings.IndexByte(entry, '=') > 0 }

// signIn describes an agent's ways to sign in for a person. A terminal's way is a
// line to paste, by which we run the agent's program; none is ever run for the user.
func (a *agent) signIn() []AuthMethod {
	all := make([]AuthMethod, 0, len(a.hello.AuthMethods))
	for _, raw := range a.hello.AuthMethods {
		var m authMethod
		if rpc.Unmarshal(raw, &m) != nil {
			continue // _meta may hold anything; the other ways still work
		}
		one := AuthMethod{ID: m.ID, Name: m.Name, Description: m.Description}
		switch t := m.Meta.Terminal; {
		case t != nil && t.Command != "":
			one.Command = signInLine(a.harness, SignIn{Program: t.Command, Args: t.Args, Env: entries(t.Env)})
		case m.Type == "terminal":
			one.Command = signInLine(a.harness, SignIn{Args: m.Args, Env: entries(m.Env)})
		case m.Meta.Type == "terminal":
			one.Command = signInLine(a.harness, SignIn{Args: m.Meta.Args})
		}
		all = append(all, one)
	}
	return all
}

// signInLine is a line that a person can paste into a terminal. Where we cannot run
// it there, it is the agent's own.
func signInLine(h *harness.Harness, s SignIn) string {
	self, err := os.Executable()
	if runtime.GOOS == "windows" || err != nil {
		program := h.CommandLine()
		if s.Program != "" {
			program = shellquote.Join(s.Program)
		}
		return strings.TrimSpace(program + " " + shellquote.Join(s.Args...))
	}
	line := shellquote.Join(self, "acp")
	switch {
	case h.ID == harness.CustomID:
		line += " -- " + h.CommandLine()
	case h.From.Origin == harness.Installed:
		line += " --agent " + h.Global()
	default:
		line += " --agent " + h.ID
	}
	return line + " " + shellquote.Join(s.Words()...)
}

// entries are variables as an environment has them, in order.
func entries(variables map[string]string) (env []string) {
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		env = append(env, name+"="+variables[name])
	}
	return env
}
