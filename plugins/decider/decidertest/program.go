package decidertest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Program says what a program does. The zero value starts, and answers no
// question.
type Program struct {
	Begin  time.Duration // before it answers initialize
	Hello  string        // its answer to that, as a line; empty: the right one
	Refuse int           // so many starts fail
	Deaf   bool          // it reads nothing after initialize
	// Decide is called for each question on a goroutine of its own, with the params
	// of permissions/decide. nil: it is silent.
	Decide func(l *Life, id int64, params jsontext.Value)

	starts atomic.Int32
}

// Answers is a program that answers each question after a time with a word.
func Answers(after time.Duration, word string) *Program {
	return &Program{Decide: func(l *Life, id int64, _ jsontext.Value) {
		time.Sleep(after)
		l.Say(Decision(id, word))
	}}
}

// Starts counts the starts so far, with those that failed.
func (p *Program) Starts() int { return int(p.starts.Load()) }

// Start begins a life of the program.
func (p *Program) Start() (*Life, error) {
	if int(p.starts.Add(1)) <= p.Refuse {
		return nil, errors.New("no such program")
	}
	l := &Life{gone: make(chan struct{})}
	l.in, l.inW = io.Pipe()
	l.out, l.outW = io.Pipe()
	l.work.Go(func() { p.serve(l) })
	return l, nil
}

func (p *Program) serve(l *Life) {
	var work sync.WaitGroup
	defer work.Wait()
	defer l.Crash()
	lines := bufio.NewScanner(l.in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			ID     int64          `json:"id"`
			Method string         `json:"method"`
			Params jsontext.Value `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			return
		}
		switch m.Method {
		case "initialize":
			time.Sleep(p.Begin)
			if p.Hello != "" {
				l.Say(p.Hello)
			} else {
				l.Say(Result(m.ID, `{"protocolVersion":1,"capabilities":{}}`))
			}
			if p.Deaf {
				<-l.gone
				return
			}
		case "shutdown":
			l.Say(Result(m.ID, "null"))
			return
		case "permissions/decide":
			if p.Decide != nil {
				work.Go(func() { p.Decide(l, m.ID, m.Params) })
			}
		}
	}
}

// Life is one run of a program: what it reads and writes, from the outside.
type Life struct {
	in   *io.PipeReader // what the program reads
	inW  *io.PipeWriter
	out  *io.PipeReader
	outW *io.PipeWriter
	work sync.WaitGroup
	gone chan struct{}
	once sync.Once
}

// Read reads what the program has written.
func (l *Life) Read(p []byte) (int, error) { return l.out.Read(p) }

// Write is what the program reads.
func (l *Life) Write(p []byte) (int, error) { return l.inW.Write(p) }

// Stop ends the program and waits for that.
func (l *Life) Stop() {
	l.once.Do(func() { close(l.gone) })
	_ = l.in.Close()
	_ = l.inW.Close()
	_ = l.outW.Close()
	_ = l.out.Close()
	l.work.Wait()
}

// Say has the program write a text as it is.
func (l *Life) Say(text string) { _, _ = io.WriteString(l.outW, text) }

// Crash ends the program's output.
func (l *Life) Crash() { _ = l.outW.Close() }

// Result is an answer as a line; value is JSON.
func Result(id int64, value string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`+"\n", id, value)
}

// Decision is a decider's answer as a line.
func Decision(id int64, word string) string {
	return Result(id, fmt.Sprintf(`{"decision":%q}`, word))
}
