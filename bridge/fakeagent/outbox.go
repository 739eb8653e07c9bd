package fakeagent

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// errClosed is what a write after the end gives.
var errClosed = errors.New("the connection has ended")

// outbox is the agent's stdout. One call of its methods is one uninterrupted
// run of bytes on the wire, however it is chunked.
type outbox struct {
	mu     sync.Mutex
	w      io.Writer // guarded by mu
	closed bool      // guarded by mu
}

// bytes writes b in pieces of at most chunk bytes, 0 meaning at once.
func (o *outbox) bytes(b []byte, chunk int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return errClosed
	}
	if chunk <= 0 {
		chunk = len(b)
	}
	for len(b) > 0 {
		n := min(chunk, len(b))
		if _, err := o.w.Write(b[:n]); err != nil {
			return fmt.Errorf("writing to the client: %w", err)
		}
		b = b[n:]
	}
	return nil
}

// stream writes head, n times the byte x, and tail, in pieces of at most
// chunk bytes; it holds no more than one piece in memory.
func (o *outbox) stream(head string, n int, tail string, chunk int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return errClosed
	}
	if chunk <= 0 {
		chunk = 64 << 10
	}
	piece := make([]byte, 0, chunk)
	emit := func(c byte) error {
		piece = append(piece, c)
		if len(piece) < chunk {
			return nil
		}
		_, err := o.w.Write(piece)
		piece = piece[:0]
		return err
	}
	for i := range len(head) + n + len(tail) {
		c := byte('x')
		switch {
		case i < len(head):
			c = head[i]
		case i >= len(head)+n:
			c = tail[i-len(head)-n]
		}
		if err := emit(c); err != nil {
			return fmt.Errorf("writing to the client: %w", err)
		}
	}
	if len(piece) > 0 {
		if _, err := o.w.Write(piece); err != nil {
			return fmt.Errorf("writing to the client: %w", err)
		}
	}
	return nil
}

// message writes one JSON-RPC message, its members as given.
func (o *outbox) message(m message) error {
	m.JSONRPC = "2.0"
	line, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding a message: %w", err)
	}
	return o.bytes(append(line, '\n'), 0)
}

// close makes all later writes fail.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
}

// message is the envelope of one JSON-RPC message.
type message struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  string         `json:"method,omitzero"`
	Params  jsontext.Value `json:"params,omitzero"`
	Result  jsontext.Value `json:"result,omitzero"`
	Error   jsontext.Value `json:"error,omitzero"`
}

// responses is where the SDK's connection writes: only responses come from
// there. It drops those that a script chose not to send, and reports the rest.
type responses struct {
	out     *outbox
	written func(id jsontext.Value) (send bool, done func())
}

// Write takes one whole response line, as the SDK's connection writes it.
func (r responses) Write(line []byte) (int, error) {
	var m struct {
		ID jsontext.Value `json:"id"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return 0, fmt.Errorf("reading a response: %w", err)
	}
	send, done := r.written(m.ID)
	defer done()
	if !send {
		return len(line), nil
	}
	if err := r.out.bytes(line, 0); err != nil {
		return 0, err
	}
	return len(line), nil
}
