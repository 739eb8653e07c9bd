package facade

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// SignInMarker is a word of our command line, wherever it stands: behind it is what
// a client's terminal is to sign in with. The answer to initialize has it in place
// of the arguments that an agent gives there, so that the client starts us again,
// however it started us.
const SignInMarker = "--sallyport-sign-in"

// SignIn is what stands behind the marker. What the agent says is in it, and acts
// neither on this program nor on the fences.
type SignIn struct {
	Agent   string   // harness, where the words before the marker name none
	Program string   // that the agent names in the place of its own
	Env     []string // NAME=VALUE
	Args    []string
}

// words are read by ReadSignIn.
func (s SignIn) words() []string {
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

// ReadSignIn reads what stands behind the marker.
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
