package fakeagent

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// unmarshalPlain decodes arguments that hold steps: these are expanded when
// they run, not before.
func unmarshalPlain(raw jsontext.Value, v any) error { return json.Unmarshal(raw, v) }

// decodeAnswer leaves the answer's parts for answer to expand.
func (r *run) decodeAnswer(raw jsontext.Value, a *Answer) error { return json.Unmarshal(raw, a) }

// update sends a session/update.
func (s *serving) update(session string, update jsontext.Value) error {
	if s.out.message(message{Method: acp.ClientMethodSessionUpdate, Params: object("sessionId", quoted(session), "update", update)}) != nil {
		return errGone
	}
	return nil
}

// chunk is say and think.
func (r *run) chunk(s Step) error {
	var text string
	if err := r.decode(s.Args, &text); err != nil {
		return err
	}
	kind := "agent_message_chunk"
	if s.Name == "think" {
		kind = "agent_thought_chunk"
	}
	return r.serving.update(r.scope.session, chunkUpdate(kind, quoted(text)))
}

func chunkUpdate(kind string, text jsontext.Value) jsontext.Value {
	return object("sessionUpdate", quoted(kind), "content", object("type", quoted("text"), "text", text))
}

// sendUpdate is update, toolCall and toolUpdate.
func (r *run) sendUpdate(s Step) error {
	body, err := r.expand(s.Args)
	if err != nil {
		return err
	}
	switch s.Name {
	case "toolCall":
		body = with(r.toolCall(body), "sessionUpdate", quoted("tool_call"))
	case "toolUpdate":
		body = with(r.toolCall(body), "sessionUpdate", quoted("tool_call_update"))
	}
	return r.serving.update(r.scope.session, body)
}

// toolCall fills in the tool call's id: the last one used, else "call-1".
func (r *run) toolCall(body jsontext.Value) jsontext.Value {
	var have struct {
		ID string `json:"toolCallId"`
	}
	json.Unmarshal(body, &have) // a wrong type is the script's wish
	if have.ID != "" {
		r.serving.memory.vars.set("toolCall", have.ID)
		return body
	}
	id, ok := r.serving.memory.vars.get("toolCall")
	if !ok {
		id = "call-1"
		r.serving.memory.vars.set("toolCall", id)
	}
	return with(body, "toolCallId", quoted(id))
}

// with puts a member before the others of an object.
func with(body jsontext.Value, name string, value jsontext.Value) jsontext.Value {
	rest := bytes.TrimSpace(bytes.TrimSpace(body)[1:])
	head := fmt.Sprintf("{%q:%s", name, value)
	if rest[0] != '}' {
		head += ","
	}
	return append(jsontext.Value(head), rest...)
}

// message is notify and request.
func (r *run) message(s Step) error {
	var p struct {
		Method string         `json:"method"`
		Params jsontext.Value `json:"params"`
		ID     jsontext.Value `json:"id"`
		As     string         `json:"as"`
	}
	if err := r.decode(s.Args, &p); err != nil {
		return err
	}
	if s.Name == "notify" {
		return r.gone(r.serving.out.message(message{Method: p.Method, Params: p.Params}))
	}
	reply, err := r.request(p.Method, p.Params, p.ID)
	if err != nil {
		return err
	}
	r.remember(p.As, string(reply.Result), reply)
	return nil
}

// read asks the client for a file.
func (r *run) read(args jsontext.Value) error {
	var p struct {
		Path  string         `json:"path"`
		Line  jsontext.Value `json:"line"`
		Limit jsontext.Value `json:"limit"`
		ID    jsontext.Value `json:"id"`
		As    string         `json:"as"`
	}
	if err := r.decode(args, &p); err != nil {
		return err
	}
	params := object("sessionId", quoted(r.scope.session), "path", quoted(p.Path), "line", p.Line, "limit", p.Limit)
	reply, err := r.request(acp.ClientMethodFsReadTextFile, params, p.ID)
	if err != nil {
		return err
	}
	var result struct {
		Content string `json:"content"`
	}
	if len(reply.Error) == 0 {
		if err := json.Unmarshal(reply.Result, &result); err != nil {
			return fmt.Errorf("reading the reply: %w", err)
		}
	}
	r.remember(p.As, result.Content, reply)
	return nil
}

// write gives the client a file's new text.
func (r *run) write(args jsontext.Value) error {
	var p struct {
		Path    string         `json:"path"`
		Text    string         `json:"text"`
		Replace *replacement   `json:"replace"`
		ID      jsontext.Value `json:"id"`
		As      string         `json:"as"`
	}
	if err := r.decode(args, &p); err != nil {
		return err
	}
	text := p.Text
	if p.Replace != nil {
		var err error
		if text, err = r.replaced(*p.Replace); err != nil {
			return err
		}
	}
	params := object("sessionId", quoted(r.scope.session), "path", quoted(p.Path), "content", quoted(text))
	reply, err := r.request(acp.ClientMethodFsWriteTextFile, params, p.ID)
	if err != nil {
		return err
	}
	r.remember(p.As, string(reply.Result), reply)
	return nil
}

// usualOptions are what a permission request offers unless it says otherwise.
const usualOptions = `[{"optionId":"allow","name":"Allow","kind":"allow_once"},{"optionId":"reject","name":"Reject","kind":"reject_once"}]`

// ask requests a permission and runs the branch for its outcome.
func (r *run) ask(args jsontext.Value) error {
	var p struct {
		ToolCall jsontext.Value    `json:"toolCall"`
		Options  jsontext.Value    `json:"options"`
		Meta     jsontext.Value    `json:"meta"`
		ID       jsontext.Value    `json:"id"`
		As       string            `json:"as"`
		Then     map[string][]Step `json:"then"`
	}
	// The branches are expanded when they run; so decode them first as they are.
	if err := json.Unmarshal(args, &p); err != nil {
		return err
	}
	for _, part := range []*jsontext.Value{&p.ToolCall, &p.Options, &p.Meta, &p.ID} {
		full, err := r.expand(*part)
		if err != nil {
			return err
		}
		*part = full
	}
	options := or(p.Options, usualOptions)
	params := object("sessionId", quoted(r.scope.session), "toolCall", r.toolCall(or(p.ToolCall, "{}")), "options", options, "_meta", p.Meta)
	reply, err := r.request(acp.ClientMethodSessionRequestPermission, params, p.ID)
	if err != nil {
		return err
	}
	chosen, class, err := outcome(reply, options)
	if err != nil {
		return err
	}
	r.remember(p.As, chosen, reply)
	branch, ok := p.Then[chosen]
	if !ok {
		branch = p.Then[class]
	}
	if class == "cancelled" { // its branch is meant for a cancelled prompt
		heeds := r.heeds
		r.heeds = false
		defer func() { r.heeds = heeds }()
	}
	return r.steps(branch)
}

// outcome is the option chosen, or "cancelled" or "error", and its class:
// allow, reject, cancelled or error. An option that was not offered is an error.
func outcome(reply message, options jsontext.Value) (chosen, class string, err error) {
	if len(reply.Error) > 0 {
		return "error", "error", nil
	}
	var result struct {
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}
	if err := json.Unmarshal(reply.Result, &result); err != nil {
		return "", "", fmt.Errorf("reading the outcome: %w", err)
	}
	switch result.Outcome.Outcome {
	case "cancelled":
		return "cancelled", "cancelled", nil
	case "selected":
	default:
		return "", "", fmt.Errorf("unknown outcome in %s", reply.Result)
	}
	var offered []struct {
		ID   string `json:"optionId"`
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(options, &offered); err != nil {
		return "", "", fmt.Errorf("reading the options: %w", err)
	}
	for _, o := range offered {
		if o.ID == result.Outcome.OptionID {
			class, _, _ = strings.Cut(o.Kind, "_")
			return o.ID, class, nil
		}
	}
	return "", "", fmt.Errorf("the client chose %q, which was not offered", result.Outcome.OptionID)
}

// shell runs a child process in the session's folder.
func (r *run) shell(args jsontext.Value) error {
	var p struct {
		Command    string   `json:"command"`
		Argv       []string `json:"argv"`
		Background bool     `json:"background"`
		As         string   `json:"as"`
	}
	full, err := r.expand(args)
	if err != nil {
		return err
	}
	if full.Kind() == '"' {
		err = json.Unmarshal(full, &p.Command)
	} else {
		err = json.Unmarshal(full, &p)
	}
	if err != nil {
		return err
	}
	argv := p.Argv
	if len(argv) == 0 {
		argv = shellLine(p.Command)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = r.scope.cwd
	if p.Background {
		if err := cmd.Start(); err != nil {
			return err
		}
		return cmd.Process.Release() // left to whoever ends the agent's tree
	}
	return r.runShell(cmd, p.As)
}

// outputDelay is how long the output of a command is waited for after its end:
// its own children may hold it open.
const outputDelay = 200 * time.Millisecond

// runShell waits for cmd, and kills it when a heeded cancel or the end comes.
func (r *run) runShell(cmd *exec.Cmd, as string) error {
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.WaitDelay = outputDelay
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		cmd.Wait() // its outcome is in cmd.ProcessState
	}()
	var cancelled chan struct{}
	if r.call != nil && r.heeds {
		cancelled = r.call.cancelled
	}
	r.moved()
	var ended error
	select {
	case <-done:
	case <-cancelled:
		ended = errCancelled
	case <-r.serving.gone:
		ended = errGone
	}
	if ended != nil {
		cmd.Process.Kill() // it may have ended by itself
		<-done
		return ended
	}
	r.remember(as, output.String(), message{})
	if as != "" {
		r.serving.memory.vars.set(as+".code", fmt.Sprint(cmd.ProcessState.ExitCode()))
	}
	return nil
}
