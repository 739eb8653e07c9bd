package bridge

import (
	"bytes"
	"context"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

// Passer is a Display for a client that speaks ACP itself. What an agent says that
// needs no action here goes to it as it came: every update, also one that only
// repeats the prompt, every notification and every other request.
type Passer interface {
	// Pass hands on a notification other than session/update. It is called as
	// Update is; session is ours, "" when the agent serves none.
	Pass(ctx context.Context, session string, o Original)
	// PassRequest hands on a request, on the agent's read loop: like Update it waits
	// only for a client that does not read, and gives up when ctx ends.
	// answered is called once, from any goroutine, with the client's result or its
	// *rpc.Error. withdraw tells the client that the agent takes the request back, in
	// its words where why is a *rpc.TakenBack; it is still answered.
	PassRequest(ctx context.Context, r PassedRequest, answered func(result jsontext.Value, err error)) (withdraw func(why error))
}

// Original is a message as an agent sent it, borrowed until the call returns.
type Original struct {
	Frame []byte // the whole message; nil: it is none of an agent's
	// At and End are where in Frame the value of its sessionId stands; 0 when it
	// has none.
	At, End int
	// Foreign: the sessionId is not that of the session that the agent serves.
	Foreign bool
	// Alike are updates that follow and differ from this one only in a text: whole
	// lines, each with its end, to be handed on behind it. Mostly there are none.
	Alike []byte
}

// EachAlike calls fn with each message of Alike.
func (o Original) EachAlike(fn func(Original)) {
	for line := range bytes.Lines(o.Alike) {
		if m, err := rpc.Scan(bytes.TrimSuffix(line, []byte("\n"))); err == nil { // it was valid
			fn(original(&m))
		}
	}
}

// PassedRequest is a request of an agent for its client. Params are the callee's.
type PassedRequest struct {
	Session string // ours; "" when the agent serves none
	Method  string
	Params  jsontext.Value
}

// original is a message with the place of its sessionId.
func original(m *rpc.Message) Original {
	o := Original{Frame: m.Frame}
	if id, ok := m.Param("sessionId"); ok {
		o.At = rpc.OffsetIn(m.Frame, id)
		o.End = o.At + len(id)
	}
	return o
}

func (o Original) clone() Original {
	o.Frame = bytes.Clone(o.Frame)
	return o
}

// passer is the display where it is one for a client that speaks ACP.
func (b *Bridge) passer() (Passer, bool) {
	p, ok := b.Display.(Passer)
	return p, ok
}

// actedOn reports whether a request of an agent is never passed on: files and
// permissions are ours, and a terminal would be a way to execute past every rule.
func actedOn(method string) bool {
	switch method {
	case "fs/read_text_file", "fs/write_text_file", "session/request_permission":
		return true
	}
	return strings.HasPrefix(method, "terminal/")
}

// passNotification hands on a notification in the order of the session's updates.
func (a *agent) passNotification(m *rpc.Message) {
	p, ok := a.b.passer()
	if !ok {
		return // codex-acp's _auth/status_update and the like are for nobody here
	}
	s := a.session.Load()
	if s == nil {
		p.Pass(a.span.ctx, "", original(m))
		return
	}
	s.waitClosed(a)
	if s.show(a.span.ctx) != nil {
		return
	}
	defer s.shown()
	o := original(m)
	o.Foreign = o.End > 0 && !isString(o.Frame[o.At:o.End], s.agentID())
	p.Pass(a.span.ctx, s.id, o)
}

// passRequest hands on a request that nobody here acts on. False: there is nobody
// who would take it.
func (a *agent) passRequest(m *rpc.Message) bool {
	p, ok := a.b.passer()
	if !ok {
		return false
	}
	size := len(m.ID) + len(m.Params)
	if !a.load.take(size) {
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.InternalError, "too many requests are open: wait for answers"))
		return true
	}
	r := PassedRequest{Method: string(m.Method), Params: a.forClient(m)}
	if s := a.session.Load(); s != nil {
		r.Session = s.id
	}
	id := m.ID
	ctx, cancel := context.WithCancelCause(a.span.ctx)
	own := a.asked.put(id, cancel)
	var back takenBack
	stop := context.AfterFunc(ctx, func() { back.take(context.Cause(ctx)) }) // the agent takes it back, or is gone
	back.say(p.PassRequest(a.span.ctx, r, func(result jsontext.Value, err error) {
		stop()
		if err != nil {
			_ = a.conn.ReplyError(id, err)
		} else {
			_ = a.conn.ReplyNow(id, func(dst []byte) []byte { return appendResult(dst, result) })
		}
		a.asked.drop(id, own)
		a.load.give(size)
	}))
	return true
}

// appendResult appends a result, null when there is none.
func appendResult(dst, result []byte) []byte {
	if len(result) == 0 {
		return append(dst, "null"...)
	}
	return append(dst, result...)
}

// takenBack is whether an agent took a request back, which may be so before it is
// known how to tell that. The zero value is ready.
type takenBack struct {
	mu   sync.Mutex
	why  error // nil: it was not
	tell func(why error)
}

func (t *takenBack) take(why error) {
	t.mu.Lock()
	t.why = why
	tell := t.tell
	t.mu.Unlock()
	if tell != nil {
		tell(why)
	}
}

func (t *takenBack) say(tell func(why error)) {
	t.mu.Lock()
	t.tell = tell
	why := t.why
	t.mu.Unlock()
	if why != nil {
		tell(why)
	}
}

// forClient are the params of an agent's request. An elicitation about a request
// of the client's names it by the id that the client knows (ACP, unstable).
func (a *agent) forClient(m *rpc.Message) jsontext.Value {
	if len(m.Params) == 0 {
		return nil
	}
	params := bytes.Clone(m.Params)
	if string(m.Method) != "elicitation/create" {
		return params
	}
	about, ok := rpc.Member(params, "requestId")
	if !ok {
		return params
	}
	own, ok := a.conn.AskedFor(rpc.RawID(about))
	if !ok {
		return params
	}
	if named, err := rpc.SetMember(params, "requestId", []byte(own)); err == nil {
		return named
	}
	return params
}
