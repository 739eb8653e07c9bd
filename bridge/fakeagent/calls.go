package fakeagent

import (
	"bufio"
	"bytes"
	"context"
	stdjson "encoding/json" // of the SDK's signatures
	"fmt"
	"io"
	"sync"

	"github.com/coder/acp-go-sdk"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// sdkLine is the longest line that the SDK's connection takes, its newline
// included; longer requests are answered without it.
const sdkLine = 10 << 20

// call is one request of the client.
type call struct {
	message
	ticket    string        // its parameters, as the SDK sees them
	session   string        // params.sessionId, empty where there is none
	answer    chan answered // holds one; what the response will be
	cancelled chan struct{} // closed by session/cancel
	sent      chan struct{} // closed when the response is written, or dropped
	muted     bool          // guarded by calls.mu: drop the response
}

// answered is a result or an error.
type answered struct {
	result jsontext.Value
	err    *acp.RequestError
}

// calls are the requests of the client, in wire order. The SDK's connection
// hands requests over out of order and without their ids, so they are noted
// here as their lines come in, and given to it with a ticket as their parameters.
type calls struct {
	mu      sync.Mutex
	arrived map[string]*call // guarded by mu: not yet handed over by the SDK, by ticket
	open    map[string]*call // guarded by mu: by id, not yet answered
	count   map[string]int   // guarded by mu: by method
	tickets int              // guarded by mu: given out
}

// arrive notes a request and says the how-manieth of its method it is, from 0.
func (c *calls) arrive(m message, session string) (*call, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == nil {
		c.arrived, c.open, c.count = map[string]*call{}, map[string]*call{}, map[string]int{}
	}
	c.tickets++
	got := &call{ticket: fmt.Sprintf(`{"ticket":%d}`, c.tickets), message: m, session: session, answer: make(chan answered, 1), cancelled: make(chan struct{}), sent: make(chan struct{})}
	c.arrived[got.ticket] = got
	c.open[idKey(m.ID)] = got
	nth := c.count[m.Method]
	c.count[m.Method]++
	return got, nth
}

// take is the noted request of a method with this ticket.
func (c *calls) take(method, ticket string) (*call, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	got, ok := c.arrived[ticket]
	if !ok || got.Method != method {
		return nil, false
	}
	delete(c.arrived, ticket)
	return got, true
}

// cancel marks the open prompts of a session.
func (c *calls) cancel(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, open := range c.open {
		if open.Method != acp.AgentMethodSessionPrompt || open.session != session {
			continue
		}
		select {
		case <-open.cancelled:
		default:
			close(open.cancelled)
		}
	}
}

// written says whether the response to id is to be written; done is called
// after that.
func (c *calls) written(id jsontext.Value) (send bool, done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	got, ok := c.open[idKey(id)]
	if !ok {
		return true, func() {}
	}
	delete(c.open, idKey(id))
	return !got.muted, func() { close(got.sent) }
}

// mute drops the response to a call.
func (c *calls) mute(got *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	got.muted = true
}

// idKey tells "1" and 1 apart, and treats all spellings of a string as one.
func idKey(id jsontext.Value) string {
	if id.Kind() == '"' {
		if s, err := jsontext.AppendUnquote(nil, id); err == nil {
			return "s" + string(s)
		}
	}
	return "n" + string(id)
}

// receive reads lines until in ends, and feeds the SDK's connection.
func (s *serving) receive(in io.Reader, feed io.Writer) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		select {
		case <-s.deaf:
			<-s.gone
			return
		default:
		}
		line, err := r.ReadBytes('\n')
		if s.agent.Log != nil && len(line) > 0 {
			if _, err := s.agent.Log.Write(line); err != nil {
				s.fail(fmt.Errorf("writing the log: %w", err))
			}
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			s.line(line, feed)
		}
		if err != nil {
			return
		}
	}
}

// line handles one message, in wire order.
func (s *serving) line(line []byte, feed io.Writer) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		s.complain("a line that is no message: %v", err)
		return
	}
	if s.agent.Script.Strict {
		if err := strictly(m, line); err != nil {
			s.complain("%s: %v", m.Method, err)
		}
	}
	if m.Method == "" {
		if !s.requests.reply(m) {
			s.complain("a response to nothing asked: id %s", m.ID)
		}
		return
	}
	var about struct {
		SessionID string `json:"sessionId"`
	}
	json.Unmarshal(m.Params, &about) // no session is a session of no name
	if m.Method == acp.AgentMethodSessionCancel {
		s.calls.cancel(about.SessionID)
	}
	if len(m.ID) > 0 && m.ID.Kind() != 'n' {
		got, nth := s.calls.arrive(m, about.SessionID)
		s.work.Go(func() { s.play(got, nth) })
		if len(line) >= sdkLine {
			s.work.Go(func() { s.respondUnaided(got) })
			return
		}
		line = []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%s,"params":%s}`, m.ID, quoted(m.Method), got.ticket))
	}
	// One write a line: a pipe hands it over whole, and fails only when the
	// connection is over, which Serve sees for itself.
	feed.Write(append(line, '\n'))
}

// complain is about a message that breaks the protocol.
func (s *serving) complain(format string, args ...any) {
	if s.agent.Script.Strict {
		s.fail(failed("strict: "+format, args...))
	}
}

// respond is the SDK's way in: it waits for what the script answers.
func (s *serving) respond(ctx context.Context, method string, params stdjson.RawMessage) (any, *acp.RequestError) {
	got, ok := s.calls.take(method, string(params))
	if !ok {
		return nil, nil // a notification
	}
	select {
	case a := <-got.answer:
		return rawResult(a.result), a.err
	case <-ctx.Done():
		return nil, &acp.RequestError{Code: -32800, Message: "request cancelled"}
	}
}

// respondUnaided answers a request that is too long for the SDK.
func (s *serving) respondUnaided(got *call) {
	s.calls.take(got.Method, got.ticket)
	a := <-got.answer
	reply := message{ID: got.ID, Result: a.result}
	if a.err != nil {
		reply.Result = nil
		reply.Error, _ = json.Marshal(a.err) // three plain fields
	}
	send, done := s.calls.written(got.ID)
	defer done()
	if send {
		s.out.message(reply) // an error means that the client has left
	}
}
