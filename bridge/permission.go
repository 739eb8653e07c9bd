package bridge

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/workspace/text"
)

// permissionRequest serves session/request_permission (ACP v1, Tool Calls). The
// call is merged here, on the read loop, so that what the agent said before is
// known to the rules.
func (s *session) permissionRequest(a *agent, m *rpc.Message) func(context.Context) {
	if !s.names(m.Params) {
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.InvalidParams, "sessionId names no session of this agent"))
		return nil
	}
	raw, _ := rpc.Member(m.Params, "toolCall")
	call, err := s.calls.Request(raw)
	if err != nil {
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.InvalidParams, "toolCall: %s", err))
		return nil
	}
	options, err := optionsOf(m.Params)
	if err != nil {
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.InvalidParams, "options: %s", err))
		return nil
	}
	id := m.ID
	t := s.running()
	if t == nil || s.inReplay() { // the turn is cancelled or over, or this is history
		_ = a.conn.ReplyRaw(id, permit.Outcome{By: permit.ByCancel}.Response())
		return nil
	}
	card := &permit.Card{
		ID: newID("p-"), Session: s.id, Turn: t.id, Title: text.Visible(call.Title),
		Request: permit.Classify(call, s.spec.harness.ACP.Tools.Names),
		Options: options, Diffs: call.Diffs(), Paths: call.Paths(), Raw: append(jsontext.Value(nil), raw...),
	}
	return func(ctx context.Context) {
		o := s.decide(ctx, t, card)
		_ = a.conn.ReplyRaw(id, o.Response())
	}
}

// optionsOf reads the options of a permission request. An option that cannot be
// read makes the request invalid: it could not be shown.
func optionsOf(params []byte) ([]permit.Option, error) {
	raw, _ := rpc.Member(params, "options")
	var options []permit.Option
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if err := rpc.Unmarshal(raw, &options); err != nil {
		return nil, fmt.Errorf("not a list of {optionId, name, kind}: %w", err)
	}
	return options, nil
}

// decide settles a card and tells everybody who has to know.
func (s *session) decide(ctx context.Context, t *turn, c *permit.Card) permit.Outcome {
	ctx, cancel := t.within(ctx)
	defer cancel()
	o := s.ground.engine.Decide(ctx, c)
	t.grants.Record(c, o)
	s.b.Display.Settled(c, o)
	if o.By == permit.ByFence {
		s.notice(Notice{Kind: NoticeRefused, Level: Warning, Text: o.DenyNote(), Paths: c.Paths})
	}
	if note := permit.PromptNote(c, o); note != "" && o.By != permit.ByUser {
		s.state.mu.Lock()
		s.state.memory.notes = append(s.state.memory.notes, note)
		s.state.mu.Unlock()
	}
	return o
}

// settledError is a write that was asked about and refused.
type settledError struct{ note string }

func (e *settledError) Error() string { return e.note }

// ourOptions are what a person can pick when we ask by ourselves.
var ourOptions = []permit.Option{
	{ID: "allow", Name: "Allow", Kind: "allow_once"},
	{ID: "reject", Name: "Reject", Kind: "reject_once"},
}

// mayWrite makes sure that a write through fs/* is covered: by a permission of
// this turn, by the mode, or by asking now, with the diff.
func (s *session) mayWrite(ctx context.Context, t *turn, path, content string) error {
	switch t.grants.Covers(path) {
	case permit.Granted:
		return nil
	case permit.Refused:
		return &settledError{"Refused through Sallyport: the permission for this file was refused in this turn"}
	default:
	}
	old, exists, err := s.ground.files.Preview(ctx, path)
	if err != nil {
		return err
	}
	if exists && old == content {
		return nil
	}
	diff := permit.Diff{Path: path, New: content}
	tool := "Write"
	if exists {
		diff.Old, tool = &old, "Edit"
	}
	input, _ := jsontext.AppendQuote([]byte(`{"file_path":`), path) // a path that was read from JSON
	c := &permit.Card{
		ID: newID("p-"), Session: s.id, Turn: t.id, Title: tool + " " + s.relative(path),
		Request: permit.Request{ID: newID("w-"), Kind: permit.Edit, Tool: tool, Input: append(input, '}')},
		Options: ourOptions, Diffs: []permit.Diff{diff}, Paths: []string{path},
		Raw: jsontext.Value(`{}`),
	}
	o := s.decide(ctx, t, c)
	switch {
	case o.Allowed:
		return nil
	case o.By == permit.ByCancel:
		return errCancelled
	default:
		return &settledError{o.DenyNote()}
	}
}

// relative is a path as a person likes to read it.
func (s *session) relative(path string) string {
	rel, err := filepath.Rel(s.spec.folder, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return rel
}
