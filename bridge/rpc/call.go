package rpc

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// calls are our own calls that wait for an answer. Their ids are the numbers
// from 1; the peer's ids are another matter and kept elsewhere, by the handler.
type calls struct {
	mu      sync.Mutex
	last    int64
	pending map[int64]*call
	closed  error // why no more calls are taken
}

// call is one of them. done is called once, by whoever takes it off the map.
type call struct {
	done func(result []byte, err error)
	sent int64 // length of the output stream after the request
	own  RawID // see AskFor
}

// Call sends a request and decodes its result into result, unless that is nil.
// It returns an *Error when the peer answered with one, ctx.Err() when ctx is
// done, and an error that wraps ErrClosed when there can be no answer. The peer is
// told of the end of ctx by CancelMethod. It must not be called from Handle.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	raw, err := marshal(params)
	if err != nil {
		return fmt.Errorf("encoding the params of %s: %w", method, err)
	}
	answer, err := c.CallRaw(ctx, method, raw)
	if err != nil || result == nil {
		return err
	}
	if err := Unmarshal(answer, result); err != nil {
		return fmt.Errorf("reading the result of %s: %w", method, err)
	}
	return nil
}

// CallRaw is Call with params and result as JSON; params may be nil, and the
// result is the caller's own.
func (c *Conn) CallRaw(ctx context.Context, method string, params []byte) (result []byte, err error) {
	type answer struct {
		result []byte
		err    error
	}
	answers := make(chan answer, 1)
	id, err := c.start(method, params, false, func(result []byte, err error) {
		answers <- answer{bytes.Clone(result), err}
	})
	if err != nil {
		return nil, err
	}
	select {
	case a := <-answers:
		return a.result, a.err
	case <-ctx.Done():
		if c.withdraw(id, context.Cause(ctx)) {
			return nil, ctx.Err()
		}
		a := <-answers // it came in the same moment
		return a.result, a.err
	}
}

// Go sends a request and returns; done is called once, with the result or the
// error. It runs on the read loop in wire order, so that what the peer sent
// before its answer was handled before it, and like Handle it must not wait; the
// result is borrowed until it returns. When the connection ends, it runs on
// Run's goroutine; when the request cannot be sent or is cancelled, on the
// caller's, before Go or cancel returns.
//
// cancel gives the call up, with the error context.Canceled and the
// CancelMethod; once the answer has come it does nothing.
func (c *Conn) Go(method string, params any, done func(result []byte, err error)) (cancel func()) {
	raw, err := marshal(params)
	if err != nil {
		done(nil, fmt.Errorf("encoding the params of %s: %w", method, err))
		return func() {}
	}
	id, err := c.start(method, raw, false, done)
	if err != nil {
		done(nil, err)
		return func() {}
	}
	return func() {
		if c.withdraw(id, nil) {
			done(nil, context.Canceled)
		}
	}
}

// Notify sends a notification; it does not block.
func (c *Conn) Notify(method string, params any) error {
	raw, err := marshal(params)
	if err != nil {
		return fmt.Errorf("encoding the params of %s: %w", method, err)
	}
	return c.add(func(dst []byte) []byte { return jsonrpc2.AppendNotification(dst, method, raw) })
}

// start registers and sends a request; with now it is written here rather than by
// the writer's goroutine, as far as the peer takes it at once.
func (c *Conn) start(method string, params []byte, now bool, done func([]byte, error)) (int64, error) {
	return c.startFor("", method, params, now, done)
}

// startFor is start for AskFor.
func (c *Conn) startFor(own RawID, method string, params []byte, now bool, done func([]byte, error)) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed != nil {
		return 0, c.closed
	}
	if c.pending == nil {
		c.pending = make(map[int64]*call)
	}
	c.last++
	id := c.last
	// The lock is held so that no answer can come before the call is known.
	add := c.out.add
	if now {
		add = c.out.addNow
	}
	sent, err := add(func(dst []byte) []byte {
		return jsonrpc2.AppendCall(dst, jsonrpc2.NewNumberID(id), method, params)
	})
	if err != nil {
		return 0, closedBy(err)
	}
	c.pending[id] = &call{done: done, sent: sent, own: own}
	return id, nil
}

// answered hands a response to its call.
func (c *Conn) answered(m *Message) {
	call := c.take(m.ID)
	switch {
	case call == nil:
		c.in.counts.late.Add(1)
		c.Log.Debug("dropped an answer to no call", "id", m.ID)
	case m.Error != nil:
		call.done(nil, decodeError(m.Error))
	default:
		call.done(m.Result, nil)
	}
}

// callID reads the id of a call of ours. Only the very bytes that we sent are one:
// "1" is not 1.
func callID(id RawID) (n int64, ok bool) {
	n, err := strconv.ParseInt(string(id), 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == string(id)
}

// take removes and returns the call with an id as the peer sent it, nil if
// there is none.
func (c *Conn) take(id RawID) *call {
	n, ok := callID(id)
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.pending[n]
	delete(c.pending, n)
	return call
}

// withdraw gives a call up for a reason, and reports whether it was still pending.
func (c *Conn) withdraw(id int64, why error) bool {
	c.mu.Lock()
	_, ok := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if ok && c.CancelMethod != "" {
		c.takeBack(c.CancelMethod, id, why)
	}
	return ok
}

// close refuses calls from now on.
func (c *Conn) close(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = closedBy(cause)
}

// failUnsent fails the calls that the peer cannot have got.
func (c *Conn) failUnsent(err error) {
	c.out.mu.Lock()
	written := c.out.written
	c.out.mu.Unlock()
	c.failIf(closedBy(err), func(call *call) bool { return call.sent > written })
}

// failAll fails all pending calls.
func (c *Conn) failAll(err error) {
	c.failIf(err, func(*call) bool { return true })
}

// failIf fails the pending calls that match, in the order of their ids.
func (c *Conn) failIf(err error, match func(*call) bool) {
	c.mu.Lock()
	var failed []*call
	for _, id := range slices.Sorted(maps.Keys(c.pending)) {
		if call := c.pending[id]; match(call) {
			delete(c.pending, id)
			failed = append(failed, call)
		}
	}
	c.mu.Unlock()
	for _, call := range failed {
		call.done(nil, err)
	}
}
