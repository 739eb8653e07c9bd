package terminal

import (
	"context"
	"io"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
)

// Lines is a bridge.Display for scripts: one JSON object a line. Each has a
// member type: session, posture, update, permission, refusal, notice or turn.
// Questions go to Asker; without one they are refused.
type Lines struct {
	Out   io.Writer
	Asker func(context.Context, *permit.Card) (permit.Answer, error)

	mu sync.Mutex
}

// Write writes one object.
func (l *Lines) Write(v any) {
	raw, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return // our own structs, and values that were read, always encode
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.Out.Write(append(raw, '\n')) // what cannot be written is lost: nobody looks
}

// Update writes {"type":"update","sessionId","turnId","update"}; update is the
// agent's own object, unchanged.
func (l *Lines) Update(_ context.Context, u bridge.Update) {
	l.Write(struct {
		Type    string         `json:"type"`
		Session string         `json:"sessionId"`
		Turn    string         `json:"turnId,omitzero"`
		Replay  bool           `json:"replay,omitzero"`
		Update  jsontext.Value `json:"update"`
	}{"update", u.Session, u.Turn, u.Replay, u.Raw})
}

// Notice writes {"type":"notice",…}, or "refusal" for what a fence refused.
func (l *Lines) Notice(n bridge.Notice) {
	kind := "notice"
	if n.Kind == bridge.NoticeRefused {
		kind = "refusal"
	}
	l.Write(struct {
		Type string `json:"type"`
		bridge.Notice
	}{kind, n})
}

// Ask asks by Asker.
func (l *Lines) Ask(ctx context.Context, c *permit.Card) (permit.Answer, error) {
	if l.Asker == nil {
		return permit.Answer{}, errNobody
	}
	return l.Asker(ctx, c)
}

// settled is one permission, as a line.
type settled struct {
	Type    string         `json:"type"`
	Session string         `json:"sessionId"`
	Turn    string         `json:"turnId,omitzero"`
	Title   string         `json:"title"`
	Request permit.Request `json:"request"`
	Paths   []string       `json:"paths"`
	outcome
}

type outcome struct {
	Allowed bool         `json:"allowed"`
	Option  string       `json:"optionId,omitzero"`
	By      permit.Party `json:"by"`
	Name    string       `json:"name,omitzero"`
	Why     string       `json:"why,omitzero"`
	Delay   int64        `json:"delayMs"`
}

// Settled writes {"type":"permission",…}: what was asked and how it was
// settled. delayMs is how long that took.
func (l *Lines) Settled(c *permit.Card, o permit.Outcome) {
	l.Write(settled{
		Type: "permission", Session: c.Session, Turn: c.Turn, Title: c.Title, Request: c.Request, Paths: c.Paths,
		outcome: outcome{o.Allowed, o.Option, o.By, o.Name, o.Why, o.Delay.Milliseconds()},
	})
}
