package fakeagent

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/coder/acp-go-sdk"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// errCancelled ends the steps of a prompt that heeds its cancel.
var errCancelled = errors.New("the prompt was cancelled")

// run is one list of steps being run. It belongs to one goroutine.
type run struct {
	serving  *serving
	call     *call // what is to be answered; nil for the start steps
	scope    scope
	heeds    bool   // a cancel ends the steps
	answered bool   // an answer step has run
	onMoved  func() // called once, when the run first waits for the client
}

// scope is what a run's own variables stand for.
type scope struct {
	session string
	cwd     string
	prompt  string
	id      jsontext.Value
	i       int // round of the innermost repeat
}

func (s *serving) newRun(c *call) *run {
	r := &run{serving: s, call: c}
	if c == nil {
		return r
	}
	r.scope.id = c.ID
	r.scope.session = c.session
	r.scope.cwd = s.memory.sessions.folder(c.session)
	return r
}

// moved reports that the run is about to wait for the client.
func (r *run) moved() {
	if r.onMoved != nil {
		r.onMoved()
		r.onMoved = nil
	}
}

// play runs what the script has for a call, and ends the connection when the
// script fails.
func (s *serving) play(c *call, nth int) {
	r := s.newRun(c)
	var err error
	if c.Method == acp.AgentMethodSessionPrompt {
		err = r.playPrompt()
	} else {
		err = r.playRequest(s.agent.Script.behavior(c.Method, nth))
	}
	if err != nil && !errors.Is(err, errGone) {
		s.fail(err)
	}
	if !r.answered {
		r.silence()
	}
}

// playPrompt runs the steps for a prompt and answers it, if they did not.
func (r *run) playPrompt() error {
	s := r.serving
	var params struct {
		Prompt []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	}
	if err := json.Unmarshal(r.call.Params, &params); err != nil {
		return r.answerError(acp.NewInvalidParams(err.Error()))
	}
	var text []string
	for _, block := range params.Prompt {
		text = append(text, block.Text)
	}
	r.scope.prompt = strings.Join(text, "\n")
	if !s.memory.sessions.known(r.scope.session) {
		return r.answerError(acp.NewInvalidParams("no such session: " + r.scope.session))
	}
	steps := s.memory.sessions.choose(s.agent.Script.Prompts, r.scope.prompt)
	r.heeds = heeding(steps)
	err := r.steps(steps)
	if errors.Is(err, errCancelled) {
		err = nil
	}
	if err != nil || r.answered {
		return err
	}
	return r.answer(Answer{})
}

// heeding says whether a cancel is to end the steps: not when one of them, or
// of theirs, is made for it.
func heeding(steps []Step) bool {
	for _, s := range steps {
		if s.Name == "waitCancel" || s.Name == "hang" || bytes.Contains(s.Args, []byte(`"waitCancel"`)) || bytes.Contains(s.Args, []byte(`"hang"`)) {
			return false
		}
	}
	return true
}

// playRequest runs the behavior of a call that is not a prompt.
func (r *run) playRequest(b Behavior) error {
	polite, refusal := r.serving.polite(r)
	if err := r.steps(b.Before); err != nil {
		return err
	}
	var err error
	switch {
	case b.Answer != nil:
		err = r.answer(*b.Answer)
	case r.answered: // by a step
	case refusal != nil:
		err = r.answerError(refusal)
	default:
		err = r.respond(answered{result: polite})
	}
	if err != nil {
		return err
	}
	return r.steps(b.After)
}

// answer answers the call as a script says.
func (r *run) answer(a Answer) error {
	if r.call == nil {
		return errors.New("answer: there is no request to answer here")
	}
	if r.answered {
		return errors.New("answer: the request has its answer; use twice or raw for another")
	}
	var err error
	if a.Result, err = r.expand(a.Result); err != nil {
		return err
	}
	if a.Error, err = r.expand(a.Error); err != nil {
		return err
	}
	reply := message{ID: r.call.ID, Result: a.Result, Error: a.Error}
	switch {
	case a.Never:
		r.silence()
		return nil
	case a.Raw != "":
		r.silence()
		quoted, err := jsontext.AppendQuote(nil, a.Raw)
		if err != nil {
			return err
		}
		var raw string
		if err := r.decode(quoted, &raw); err != nil {
			return err
		}
		return r.gone(r.serving.out.bytes([]byte(raw+"\n"), 0))
	case len(a.Error) > 0:
		e := new(acp.RequestError)
		if err := json.Unmarshal(a.Error, e); err != nil {
			return fmt.Errorf("answer: reading the error: %w", err)
		}
		err = r.answerError(e)
	case len(a.Result) > 0:
		err = r.respond(answered{result: a.Result})
	default:
		reply.Result = jsontext.Value(fmt.Sprintf(`{"stopReason":%q}`, r.stopReason(a.StopReason)))
		err = r.respond(answered{result: reply.Result})
	}
	if err != nil || !a.Twice {
		return err
	}
	return r.gone(r.serving.out.message(reply))
}

func (r *run) stopReason(given string) string {
	switch {
	case given != "":
		return given
	case r.cancelled():
		return string(acp.StopReasonCancelled)
	default:
		return string(acp.StopReasonEndTurn)
	}
}

func (r *run) answerError(e *acp.RequestError) error { return r.respond(answered{err: e}) }

// respond hands the answer to the SDK and waits until its line is written, so
// that what a script does next comes after it.
func (r *run) respond(a answered) error {
	r.answered = true
	r.call.answer <- a // holds one, and there is only this one
	select {
	case <-r.call.sent:
		return nil
	case <-r.serving.over:
		return errGone
	}
}

// silence makes the SDK drop its response.
func (r *run) silence() {
	r.answered = true
	r.serving.calls.mute(r.call)
	r.call.answer <- answered{}
}

// cancelled says whether the call was cancelled.
func (r *run) cancelled() bool {
	if r.call == nil {
		return false
	}
	select {
	case <-r.call.cancelled:
		return true
	default:
		return false
	}
}

// gone turns an error of writing into the end of the run: that the client has
// left is not a failure of the script.
func (r *run) gone(err error) error {
	if err != nil {
		return errGone
	}
	return nil
}
