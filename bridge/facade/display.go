package facade

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
)

// display shows a client what agents do: by ACP itself.
type display struct{ *client }

var (
	_ bridge.Display = display{}
	_ bridge.Flusher = display{}
	_ bridge.Passer  = display{}
)

func (c *client) display() bridge.Display { return display{c} }

// Update hands on one session/update as it came. It blocks while the client has
// more than rpc.DefaultHighWater bytes to read.
func (d display) Update(ctx context.Context, u bridge.Update) {
	e := d.table.of(u.Session)
	if e == nil {
		return // it was closed
	}
	switch u.Kind {
	case "available_commands_update":
		d.updateCommands(ctx, e, &u)
		return
	case "config_option_update":
		d.updateOptions(e, &u)
	case "current_mode_update":
		defer d.updateMode(e, u.Raw)
	}
	if u.From.Frame == nil { // ours
		d.update(e, u.Raw)
		return
	}
	d.pass(ctx, e, u.From)
}

// setMember changes a member of an update, and the message that it came in.
func setMember(u *bridge.Update, name string, value []byte) error {
	update, err := rpc.SetMember(u.Raw, name, value)
	if err != nil {
		return err
	}
	if o := &u.From; o.Frame != nil {
		at := rpc.OffsetIn(o.Frame, u.Raw)
		o.Frame = append(append(append([]byte(nil), o.Frame[:at]...), update...), o.Frame[at+len(u.Raw):]...)
		if o.End > at { // the id stands behind the update
			shift := len(update) - len(u.Raw)
			o.At, o.End = o.At+shift, o.End+shift
		}
	}
	u.Raw = update
	return nil
}

// pass hands on a message of an agent, and those that are alike, with the client's
// name of the session.
func (d display) pass(ctx context.Context, e *entry, o bridge.Original) {
	same := o.End == 0 || string(o.Frame[o.At:o.End]) == string(e.quoted)
	err := d.conn.Gather(ctx, func(dst []byte) []byte {
		if same {
			return append(dst, o.Frame...)
		}
		dst = append(dst, o.Frame[:o.At]...)
		dst = append(dst, e.quoted...)
		return append(dst, o.Frame[o.End:]...)
	})
	switch {
	case err != nil || len(o.Alike) == 0:
	case same:
		err = d.conn.GatherLines(ctx, o.Alike)
	default:
		o.EachAlike(func(o bridge.Original) { d.pass(ctx, e, o) })
	}
	if err != nil {
		d.log.Debug("a message did not reach the client", "error", err)
	}
}

// Flush has what was gathered written.
func (d display) Flush() { d.conn.Flush() }

// Pass implements bridge.Passer.
func (d display) Pass(ctx context.Context, session string, o bridge.Original) {
	e := d.table.of(session)
	if e == nil || o.Foreign {
		id, err := rpc.Unquote(o.Frame[o.At:o.End])
		if o.End > 0 && err == nil && d.table.named(id) != nil {
			d.log.Warn("dropped what an agent said in the name of another's session")
			return
		}
		e = &entry{} // about no session that is known here: it passes unchanged
		o.At, o.End = 0, 0
	}
	d.pass(ctx, e, o)
}

// PassRequest implements bridge.Passer.
func (d display) PassRequest(ctx context.Context, r bridge.PassedRequest, answered func(jsontext.Value, error)) (withdraw func(why error)) {
	params := r.Params
	if e := d.table.of(r.Session); e != nil {
		params = e.named(params)
	} else if id, ok := sessionOf(params); ok && d.table.named(id) != nil {
		answered(nil, ours(rpc.InvalidParams, "sessionId names no session of this agent"))
		return func(error) {}
	}
	asked, err := d.conn.Ask(ctx, r.Method, params, func(result []byte, err error) { answered(result, err) })
	if err != nil {
		answered(nil, err)
		return func(error) {}
	}
	return asked.Cancel
}

// named are params of an agent's with the client's name of the session, where they
// name one.
func (e *entry) named(params jsontext.Value) jsontext.Value {
	id, ok := rpc.Member(params, "sessionId")
	if !ok || string(id) == string(e.quoted) {
		return params
	}
	named, err := rpc.SetMember(params, "sessionId", e.quoted)
	if err != nil {
		return params
	}
	return named
}

// Ask shows a card by the client's own session/request_permission: with the
// agent's own params, or ours for a card that we made. The client's answer goes
// back to the agent as it came.
func (d display) Ask(ctx context.Context, card *permit.Card) (permit.Answer, error) {
	e := d.table.of(card.Session)
	if e == nil {
		return permit.Answer{}, errors.New("the client does not know the session")
	}
	params := card.Params
	if params == nil {
		params = askParams(card)
	}
	if card.Reason != "" {
		d.notice(e, bridge.Notice{Kind: bridge.NoticeTaint, Level: bridge.Plain, Text: "you are asked because " + card.Reason})
	}
	if card.Params == nil {
		e.mu.Lock()
		e.asked[card.ID] = true
		e.mu.Unlock()
	}
	raw, err := d.conn.CallRaw(ctx, "session/request_permission", e.named(params))
	if err != nil {
		return permit.Answer{}, err
	}
	return readAnswer(raw)
}

// readAnswer reads RequestPermissionResponse (ACP v1, Tool Calls).
func readAnswer(raw jsontext.Value) (permit.Answer, error) {
	outcome, _ := rpc.Member(raw, "outcome")
	kind, _ := rpc.Member(outcome, "outcome")
	word, err := rpc.Unquote(kind)
	switch {
	case err == nil && word == "cancelled":
		return permit.Answer{Raw: raw}, nil
	case err == nil && word == "selected":
		value, _ := rpc.Member(outcome, "optionId")
		option, err := rpc.Unquote(value)
		if err != nil || option == "" {
			return permit.Answer{}, errors.New("the client's answer to a permission names no option")
		}
		return permit.Answer{Option: option, Raw: raw}, nil
	default:
		return permit.Answer{}, errors.New("the client's answer to a permission has no outcome")
	}
}

// The parts of a session/request_permission that we author (ACP v1).
type (
	askedParams struct {
		Session  string          `json:"sessionId"`
		ToolCall askedCall       `json:"toolCall"`
		Options  []permit.Option `json:"options"`
	}
	askedCall struct {
		ID        string     `json:"toolCallId"`
		Title     string     `json:"title"`
		Kind      string     `json:"kind"`
		Status    string     `json:"status"`
		Content   []content  `json:"content,omitempty"`
		Locations []location `json:"locations,omitempty"`
		Meta      ourMark    `json:"_meta"`
	}
	location struct {
		Path string `json:"path"`
	}
	// content is a diff, or text as a content block.
	content struct {
		Type    string     `json:"type"`
		Path    string     `json:"path,omitzero"`
		Old     *string    `json:"oldText,omitzero"`
		New     *string    `json:"newText,omitzero"`
		Content *textBlock `json:"content,omitzero"`
	}
	textBlock struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	ourMark struct {
		Sallyport map[string]string `json:"sallyport"`
	}
)

// askParams are the params for a card that we made.
func askParams(card *permit.Card) jsontext.Value {
	p := askedParams{Session: card.Session, Options: card.Options, ToolCall: askedCall{
		ID: callOf(card), Title: card.Title, Kind: string(card.Request.Kind), Status: "pending",
		Meta: ourMark{map[string]string{"tool": card.Request.Tool}},
	}}
	switch card.Request.Kind {
	case permit.Edit, permit.Read, permit.Fetch:
	case permit.Command:
		p.ToolCall.Kind = "execute"
	default:
		p.ToolCall.Kind = "other"
	}
	for _, d := range card.Diffs {
		p.ToolCall.Content = append(p.ToolCall.Content, content{Type: "diff", Path: d.Path, Old: d.Old, New: &d.New})
	}
	for _, path := range card.Paths {
		p.ToolCall.Locations = append(p.ToolCall.Locations, location{path})
	}
	raw, err := json.Marshal(p, jsontext.AllowInvalidUTF8(true))
	if err != nil { // strings only
		return jsontext.Value("{}")
	}
	return raw
}

// callOf is the tool call by which a client knows a card that we made.
func callOf(card *permit.Card) string { return "sallyport-" + card.ID }

// Settled ends the tool call of a card that we made, and tells of a refusal that
// nobody at the client made.
func (d display) Settled(card *permit.Card, o permit.Outcome) {
	d.close(card, o)
	if o.Allowed || o.By == permit.ByUser || o.By == permit.ByCancel || o.By == permit.ByFence {
		return // known, or told by a notice
	}
	d.Notice(bridge.Notice{Session: card.Session, Turn: card.Turn, Kind: bridge.NoticeRefused, Level: bridge.Warning, Text: o.DenyNote()})
}

// close ends the tool call by which the client was asked about a card of ours.
func (d display) close(card *permit.Card, o permit.Outcome) {
	e := d.table.of(card.Session)
	if e == nil || card.Params != nil {
		return
	}
	e.mu.Lock()
	asked := e.asked[card.ID]
	delete(e.asked, card.ID)
	e.mu.Unlock()
	if !asked {
		return
	}
	c := shownCall{Update: "tool_call_update", ID: callOf(card), Status: "failed", Meta: marked{struct{}{}}}
	if o.Allowed {
		c.Status = "completed"
	}
	d.update(e, c)
}
