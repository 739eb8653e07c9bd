package rpc

import (
	"context"
	"fmt"
	"strconv"

	"go.lsp.dev/jsonrpc2"
)

// Ask is Go for who passes on what somebody else asks: like Stream it blocks while
// more than HighWater bytes wait to be written, and the call can be cancelled and
// still answered. done runs as in Go. An error means that nothing was sent, and
// that done is not called.
func (c *Conn) Ask(ctx context.Context, method string, params RawJSON, done func(result []byte, err error)) (*Asked, error) {
	return c.AskFor(ctx, "", method, params, done)
}

// AskFor is Ask for one who calls the request own: AskedFor finds that by the id that
// the peer sees, as soon as the peer can have it and until it has answered.
func (c *Conn) AskFor(ctx context.Context, own RawID, method string, params RawJSON, done func(result []byte, err error)) (*Asked, error) {
	if c.out.full(c.highWater()) {
		// Nothing is built: this only waits.
		if err := c.Stream(ctx, func(dst []byte) []byte { return dst }); err != nil {
			return nil, err
		}
	}
	id, err := c.startFor(own, method, params, true, done)
	if err != nil {
		return nil, err
	}
	return &Asked{c, id, done}, nil
}

// AskedFor is what the asker calls the request that the peer knows by id; false: it is
// none of AskFor's, or it was answered.
func (c *Conn) AskedFor(id RawID) (own RawID, ok bool) {
	n, ok := callID(id)
	if !ok {
		return "", false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.pending[n]; call != nil && call.own != "" {
		return call.own, true
	}
	return "", false
}

// Asked is a call that Ask has sent.
type Asked struct {
	conn *Conn
	id   int64
	done func(result []byte, err error)
}

// ID is the call's id as the peer sees it.
func (a *Asked) ID() RawID { return RawID(strconv.FormatInt(a.id, 10)) }

// Cancel tells the peer by CancelRequest that nobody needs the answer any more, for
// a reason that may be a *TakenBack. It still comes.
func (a *Asked) Cancel(why error) { a.conn.takeBack(CancelRequest, a.id, why) }

// GiveUp ends the call with context.Canceled; once the answer has come it does
// nothing.
func (a *Asked) GiveUp() {
	a.conn.mu.Lock()
	_, ok := a.conn.pending[a.id]
	delete(a.conn.pending, a.id)
	a.conn.mu.Unlock()
	if ok {
		a.done(nil, context.Canceled)
	}
}

// StreamNotification is Notify that blocks as Stream does.
func (c *Conn) StreamNotification(ctx context.Context, method string, params RawJSON) error {
	return c.Stream(ctx, func(dst []byte) []byte { return jsonrpc2.AppendNotification(dst, method, jsonrpc2.RawMessage(params)) })
}

// SetMember returns a copy of the object raw in which the member called name is
// value: the last one of that name where there are some, else a new one behind the
// others. All other bytes stay as they are.
func SetMember(raw []byte, name string, value []byte) ([]byte, error) {
	at, end := -1, -1
	var last []byte
	err := Members(raw, func(key, v []byte) bool {
		last = v
		if string(key) == name {
			at, end = cap(raw)-cap(v), cap(raw)-cap(v)+len(v)
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("setting member %s: %w", name, err)
	}
	if at >= 0 {
		return splice(raw, at, end, value), nil
	}
	member := append(AppendQuote(nil, name), ':')
	member = append(member, value...)
	if last == nil {
		at = skipSpace(raw, 0) + 1
	} else {
		at = cap(raw) - cap(last) + len(last)
		member = append([]byte{','}, member...)
	}
	return splice(raw, at, at, member), nil
}

// splice is raw with value in the place of raw[at:end].
func splice(raw []byte, at, end int, value []byte) []byte {
	out := make([]byte, 0, len(raw)-(end-at)+len(value))
	out = append(append(out, raw[:at]...), value...)
	return append(out, raw[end:]...)
}

// OffsetIn is where in whole its part begins. Both end in one buffer: part was
// sliced off whole, without a bound on its capacity.
func OffsetIn(whole, part []byte) int { return cap(whole) - cap(part) }
