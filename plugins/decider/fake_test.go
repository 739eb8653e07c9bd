package decider

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// fake is a program in this process.
type fake struct {
	in   *io.PipeReader // what it reads
	inW  *io.PipeWriter
	out  *io.PipeReader
	outW *io.PipeWriter
	work sync.WaitGroup
	gone chan struct{}
	once sync.Once
}

func (f *fake) Read(p []byte) (int, error)  { return f.out.Read(p) }
func (f *fake) Write(p []byte) (int, error) { return f.inW.Write(p) }

func (f *fake) Stop() {
	f.once.Do(func() { close(f.gone) })
	_ = f.in.Close()
	_ = f.inW.Close()
	_ = f.outW.Close()
	_ = f.out.Close()
	f.work.Wait()
}

// say writes text as it is.
func (f *fake) say(text string) { _, _ = io.WriteString(f.outW, text) }

// crash ends its output.
func (f *fake) crash() { _ = f.outW.Close() }

// asked is what a program is asked.
type asked struct {
	ID     int64          `json:"id"`
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
}

// result is an answer as a line.
func result(id int64, value string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`+"\n", id, value)
}

func decision(id int64, word string) string {
	return result(id, fmt.Sprintf(`{"decision":%q}`, word))
}

// script is what a fake does.
type script struct {
	begin  time.Duration // before it answers initialize
	hello  string        // its answer to it; empty: the right one
	refuse int32         // so many starts fail
	deaf   bool          // it reads nothing after initialize
	decide func(f *fake, id int64, q Question)
}

// starter makes the Start of a program that follows a script; starts counts.
func (s *script) starter(starts *atomic.Int32) func(context.Context) (Process, error) {
	return func(context.Context) (Process, error) {
		if starts.Add(1) <= s.refuse {
			return nil, errors.New("no such program")
		}
		f := &fake{gone: make(chan struct{})}
		f.in, f.inW = io.Pipe()
		f.out, f.outW = io.Pipe()
		f.work.Go(func() { s.serve(f) })
		return f, nil
	}
}

func (s *script) serve(f *fake) {
	var work sync.WaitGroup
	defer work.Wait()
	defer f.crash()
	lines := bufio.NewScanner(f.in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m asked
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			return
		}
		switch m.Method {
		case "initialize":
			time.Sleep(s.begin)
			if s.hello != "" {
				f.say(s.hello)
			} else {
				f.say(result(m.ID, `{"protocolVersion":1,"capabilities":{}}`))
			}
			if s.deaf {
				<-f.gone
				return
			}
		case "shutdown":
			f.say(result(m.ID, "null"))
			return
		case "permissions/decide":
			var q Question
			if json.Unmarshal(m.Params, &q) == nil && s.decide != nil {
				work.Go(func() { s.decide(f, m.ID, q) })
			}
		}
	}
}

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

// rig is an open decider on a fake.
type rig struct {
	*Decider
	log    log
	starts atomic.Int32
}

func open(t *testing.T, name string, s *script) *rig {
	r := &rig{}
	r.Decider = Open(Program{ID: "dev.test." + name, Name: name, Start: s.starter(&r.starts), Note: r.log.note})
	t.Cleanup(r.Close)
	return r
}

// settle waits until all deciders run, or have begun to wait.
func settle() { synctest.Wait() }

// answers is a script that answers after a time with a word.
func answers(after time.Duration, word string) *script {
	return &script{decide: func(f *fake, id int64, _ Question) {
		time.Sleep(after)
		f.say(decision(id, word))
	}}
}

var rm = &Question{
	Request: Request{ID: "r1", Kind: "command", Tool: "Bash", Input: jsontext.Value(`{"command":"rm -rf build"}`)},
	Project: Project{ID: "p", Name: "project"},
	Agent:   Agent{ID: "a", Name: "agent"},
}
