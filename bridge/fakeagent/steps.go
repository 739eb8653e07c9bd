package fakeagent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// steps runs a list in order, until one fails or the prompt was cancelled.
func (r *run) steps(list []Step) error {
	for _, s := range list {
		if r.heeds && r.cancelled() {
			return errCancelled
		}
		if err := r.step(s); err != nil {
			return err
		}
	}
	return nil
}

// step runs one. The schema has the same names.
func (r *run) step(s Step) error {
	var err error
	switch s.Name {
	case "say", "think":
		err = r.chunk(s)
	case "update", "toolCall", "toolUpdate":
		err = r.sendUpdate(s)
	case "notify", "request":
		err = r.message(s)
	case "read":
		err = r.read(s.Args)
	case "write":
		err = r.write(s.Args)
	case "directRead", "directWrite":
		err = r.direct(s)
	case "ask":
		err = r.ask(s.Args)
	case "shell":
		err = r.shell(s.Args)
	case "let", "replace", "expect":
		err = r.variable(s)
	case "sleep", "waitCancel", "hang":
		err = r.pause(s)
	case "noise", "flood", "hugeLine", "raw":
		err = r.rude(s)
	case "repeat", "parallel":
		err = r.nested(s)
	case "answer":
		var a Answer
		if err = r.decodeAnswer(s.Args, &a); err == nil {
			err = r.answer(a)
		}
	case "exit", "crash":
		err = r.quit(s)
	default:
		err = errors.New("no such step")
	}
	return named(s.Name, err)
}

// named adds the step's name to an error, unless it is a way of ending.
func named(step string, err error) error {
	var exit *ExitError
	if err == nil || errors.Is(err, errGone) || errors.Is(err, errCancelled) || errors.Is(err, ErrCrashed) || errors.As(err, &exit) {
		return err
	}
	return fmt.Errorf("%s: %w", step, err)
}

// pause is sleep, waitCancel and hang.
func (r *run) pause(s Step) error {
	var cancelled chan struct{}
	if r.call != nil {
		cancelled = r.call.cancelled
	}
	var timeout <-chan time.Time
	switch s.Name {
	case "sleep":
		var ms int
		if err := r.decode(s.Args, &ms); err != nil {
			return err
		}
		timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
		defer timer.Stop()
		timeout = timer.C
		if !r.heeds {
			cancelled = nil
		}
	case "waitCancel":
		if cancelled == nil {
			return errors.New("there is no prompt to cancel here")
		}
	case "hang":
		cancelled = nil
		if jsontext.Value(s.Args).Kind() == '"' {
			r.serving.deafen.Do(func() { close(r.serving.deaf) })
		}
	}
	r.moved()
	select {
	case <-timeout:
		return nil
	case <-cancelled:
		if r.heeds {
			return errCancelled
		}
		return nil
	case <-r.serving.gone:
		return errGone
	}
}

// variable is let, replace and expect.
func (r *run) variable(s Step) error {
	switch s.Name {
	case "let":
		var all map[string]string
		if err := r.decode(s.Args, &all); err != nil {
			return err
		}
		for name, value := range all {
			r.serving.memory.vars.set(name, value)
		}
		return nil
	case "replace":
		var p struct {
			replacement
			As string `json:"as"`
		}
		if err := r.decode(s.Args, &p); err != nil {
			return err
		}
		text, err := r.replaced(p.replacement)
		if err != nil {
			return err
		}
		r.serving.memory.vars.set(p.As, text)
		return nil
	default:
		return r.expect(s.Args)
	}
}

// replacement names a remembered text and what to change in it, once.
type replacement struct {
	In  string `json:"in"`
	Old string `json:"old"`
	New string `json:"new"`
}

func (r *run) replaced(p replacement) (string, error) {
	text, ok := r.lookup(p.In)
	if !ok {
		return "", fmt.Errorf("unknown variable %s", p.In)
	}
	if !strings.Contains(text, p.Old) {
		return "", fmt.Errorf("%q is not in ${%s}: %q", p.Old, p.In, text)
	}
	return strings.Replace(text, p.Old, p.New, 1), nil
}

func (r *run) expect(args jsontext.Value) error {
	var p struct {
		That     string  `json:"that"`
		Is       *string `json:"is"`
		Contains string  `json:"contains"`
		Lacks    string  `json:"lacks"`
		Matches  string  `json:"matches"`
	}
	if err := r.decode(args, &p); err != nil {
		return err
	}
	switch {
	case p.Is != nil && p.That != *p.Is:
		return fmt.Errorf("got %q, want %q", p.That, *p.Is)
	case !strings.Contains(p.That, p.Contains):
		return fmt.Errorf("got %q, want it to contain %q", p.That, p.Contains)
	case p.Lacks != "" && strings.Contains(p.That, p.Lacks):
		return fmt.Errorf("got %q, want it to lack %q", p.That, p.Lacks)
	}
	pattern, err := regexp.Compile(p.Matches)
	if err != nil {
		return err
	}
	if !pattern.MatchString(p.That) {
		return fmt.Errorf("got %q, want it to match %q", p.That, p.Matches)
	}
	return nil
}

// direct is directRead and directWrite: the disk, behind the client's back.
func (r *run) direct(s Step) error {
	var p struct {
		Path    string       `json:"path"`
		Text    string       `json:"text"`
		Replace *replacement `json:"replace"`
		As      string       `json:"as"`
	}
	if err := r.decode(s.Args, &p); err != nil {
		return err
	}
	if s.Name == "directRead" {
		data, err := os.ReadFile(p.Path)
		v := &r.serving.memory.vars
		v.set(p.As, string(data))
		v.set(p.As+".error", "")
		if errors.Is(err, fs.ErrNotExist) {
			v.set(p.As+".error", "missing")
		} else if err != nil {
			v.set(p.As+".error", err.Error())
		}
		return nil
	}
	text := p.Text
	if p.Replace != nil {
		var err error
		if text, err = r.replaced(*p.Replace); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(p.Path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(p.Path, []byte(text), 0o666)
}

// nested is repeat and parallel.
func (r *run) nested(s Step) error {
	if s.Name == "parallel" {
		var branches [][]Step
		if err := unmarshalPlain(s.Args, &branches); err != nil {
			return err
		}
		return r.parallel(branches)
	}
	var p struct {
		Times int    `json:"times"`
		Steps []Step `json:"steps"`
	}
	if err := unmarshalPlain(s.Args, &p); err != nil {
		return err
	}
	outer := r.scope.i
	defer func() { r.scope.i = outer }()
	for r.scope.i = range p.Times {
		if err := r.steps(p.Steps); err != nil {
			return err
		}
	}
	return nil
}

// parallel runs the branches at the same time. A branch starts once the one
// before it waits for the client, or is through: their messages come in order.
func (r *run) parallel(branches [][]Step) error {
	errs := make([]error, len(branches))
	var all sync.WaitGroup
	for i, steps := range branches {
		moved := make(chan struct{})
		branch := *r
		branch.onMoved = func() { close(moved) }
		all.Go(func() {
			defer branch.moved()
			errs[i] = branch.steps(steps)
		})
		<-moved
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// quit is exit and crash. Both take effect at once where the agent is a
// process of its own.
func (r *run) quit(s Step) error {
	if s.Name == "crash" {
		return r.die(ErrCrashed)
	}
	var code int
	if err := r.decode(s.Args, &code); err != nil {
		return err
	}
	return r.die(&ExitError{Code: code})
}

func (r *run) die(err error) error {
	if r.serving.agent.Die != nil {
		r.serving.agent.Die(err)
	}
	return err
}
