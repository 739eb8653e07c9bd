package decider

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/plugins/decider/decidertest"
)

// log is a journal in memory.
type log struct {
	mu      sync.Mutex
	entries []Entry
}

func (l *log) note(e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, e)
}

// of are the entries about one thing.
func (l *log) of(what string) (all []Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		if e.What == what {
			all = append(all, e)
		}
	}
	return all
}

// rig is an open decider on a program in this process.
type rig struct {
	*Decider
	log     log
	program *decidertest.Program
}

func open(t *testing.T, name string, p *decidertest.Program) *rig {
	r := &rig{program: p}
	r.Decider = Open(Program{ID: "dev.test." + name, Name: name, Start: starts(p), Note: r.log.note})
	t.Cleanup(r.Close)
	return r
}

func starts(p *decidertest.Program) func(context.Context) (Process, error) {
	return func(context.Context) (Process, error) { return p.Start() }
}

// settle waits until all deciders run, or have begun to wait.
func settle() { synctest.Wait() }

var rm = &Question{
	Request: Request{ID: "r1", Kind: "command", Tool: "Bash", Input: jsontext.Value(`{"command":"rm -rf build"}`)},
	Project: Project{ID: "p", Name: "project"},
	Agent:   Agent{ID: "a", Name: "agent"},
}
