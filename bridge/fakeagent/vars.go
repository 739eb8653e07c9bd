package fakeagent

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// reference is a variable in a script's string.
var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_.]*)\}`)

// variables are what scripts remember with "as" and "let". One set serves the
// whole process.
type variables struct {
	mu     sync.Mutex
	values map[string]string // guarded by mu
}

func (v *variables) set(name, value string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.values == nil {
		v.values = map[string]string{}
	}
	v.values[name] = value
}

func (v *variables) get(name string) (string, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s, ok := v.values[name]
	return s, ok
}

// lookup finds a variable: the run's own, then environment, then remembered.
func (r *run) lookup(name string) (string, bool) {
	switch name {
	case "cwd":
		return r.scope.cwd, true
	case "session":
		return r.scope.session, true
	case "prompt":
		return r.scope.prompt, true
	case "id":
		return string(r.scope.id), true
	case "i":
		return strconv.Itoa(r.scope.i), true
	case "pid":
		return strconv.Itoa(os.Getpid()), true
	case "environ":
		return environ(), true
	}
	if rest, ok := strings.CutPrefix(name, "env."); ok {
		return os.Getenv(rest), true
	}
	return r.serving.memory.vars.get(name)
}

// environ is the environment, sorted, one NAME=value a line.
func environ() string {
	all := os.Environ()
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// expand replaces the variables in JSON text; they stand inside strings only,
// so the values are escaped for there.
func (r *run) expand(raw jsontext.Value) (jsontext.Value, error) {
	var unknown string
	out := reference.ReplaceAllFunc(raw, func(m []byte) []byte {
		name := string(m[2 : len(m)-1])
		value, ok := r.lookup(name)
		if !ok {
			unknown = name
			return m
		}
		quoted, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(value, "\uFFFD"))
		if err != nil {
			unknown = name
			return m
		}
		return quoted[1 : len(quoted)-1]
	})
	if unknown != "" {
		return nil, fmt.Errorf("unknown variable ${%s}", unknown)
	}
	return out, nil
}

// decode expands a step's arguments into v.
func (r *run) decode(raw jsontext.Value, v any) error {
	full, err := r.expand(raw)
	if err != nil {
		return err
	}
	return json.Unmarshal(full, v)
}
