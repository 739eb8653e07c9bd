package server

import (
	"bytes"
	"context"
	"sync"
	"time"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
)

// maxJoined bounds the text of one update that was joined, in bytes.
const maxJoined = 64 << 10

// joined gathers the chunks of one message, for a plugin that wants few updates
// rather than each: an agent sends thousands, and an editor decodes each of
// them between two keys. What is joined is the text alone, and only of updates
// that are the same but for it. The zero value is ready.
type joined struct {
	mu   sync.Mutex
	from bridge.Update // of the first chunk, without Raw
	head []byte        // its JSON before the text; empty: nothing waits
	text []byte
	tail []byte

	sent  time.Time   // when something was last sent
	timer *time.Timer // will send what waits; nil: nobody has to
}

// joinFor is how long chunks are gathered while they keep coming: a frame of a
// screen.
const joinFor = 16 * time.Millisecond

// takes reports whether an update was taken in; otherwise what waited has to be
// sent first.
func (j *joined) takes(u *bridge.Update) bool {
	head, text, tail, ok := split(u)
	if !ok {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case len(j.head) == 0:
		j.from = bridge.Update{Session: u.Session, Turn: u.Turn, Kind: u.Kind, Replay: u.Replay}
		j.head, j.tail = append(j.head, head...), append(j.tail[:0], tail...)
		j.text = append(j.text[:0], text...)
		return true
	case u.Session == j.from.Session && u.Turn == j.from.Turn && u.Replay == j.from.Replay &&
		len(j.text)+len(text) <= maxJoined && bytes.Equal(head, j.head) && bytes.Equal(tail, j.tail):
		j.text = append(j.text, text...)
		return true
	}
	return false
}

// send passes on what waits.
func (j *joined) send(ctx context.Context, conn *rpc.Conn) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.head) == 0 {
		return nil
	}
	if j.timer != nil {
		j.timer.Stop()
		j.timer = nil
	}
	j.sent = time.Now()
	u := j.from
	u.Raw = append(append(append(u.Raw, j.head...), j.text...), j.tail...)
	j.head = j.head[:0]
	return conn.Gather(ctx, func(dst []byte) []byte { return appendUpdate(dst, &u) })
}

// soon has send called once a frame is over; at once when it is already.
func (j *joined) soon(send func()) {
	j.mu.Lock()
	wait := joinFor - time.Since(j.sent)
	idle := len(j.head) == 0 || j.timer != nil
	if !idle && wait > 0 {
		j.timer = time.AfterFunc(wait, send)
		idle = true
	}
	j.mu.Unlock()
	if !idle {
		send()
	}
}

// split parts a chunk of text (ACP v1, ContentChunk) around its text: head and
// tail hold the quotes.
func split(u *bridge.Update) (head, text, tail []byte, ok bool) {
	switch u.Kind {
	case "agent_message_chunk", "agent_thought_chunk", "user_message_chunk":
	default:
		return nil, nil, nil, false
	}
	content, _ := rpc.Member(u.Raw, "content")
	value, _ := rpc.Member(content, "text")
	if len(value) < 2 || value[0] != '"' {
		return nil, nil, nil, false
	}
	at := cap(u.Raw) - cap(value) // a member is a part of what it was found in
	if at < 0 || at+len(value) > len(u.Raw) || &u.Raw[at] != &value[0] {
		return nil, nil, nil, false
	}
	return u.Raw[:at+1], value[1 : len(value)-1], u.Raw[at+len(value)-1:], true
}
