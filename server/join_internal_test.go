package server

import (
	"testing"

	"sallyport/bridge"
)

func chunk(session, raw string) *bridge.Update {
	return &bridge.Update{Session: session, Turn: "t", Kind: "agent_message_chunk", Raw: []byte(raw)}
}

// TestJoined holds that only texts of the same message are joined, and that
// what is passed on is otherwise what came.
func TestJoined(t *testing.T) {
	const (
		a     = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\n\""},"messageId":"1"}`
		b     = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"b"},"messageId":"1"}`
		other = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"c"},"messageId":"2"}`
		meta  = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"c","_meta":{}},"messageId":"1"}`
		image = `{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":""}}`
	)
	var j joined
	if !j.takes(chunk("s", a)) || !j.takes(chunk("s", b)) {
		t.Fatal("chunks of one message are not joined")
	}
	for name, u := range map[string]*bridge.Update{
		"another message": chunk("s", other), "more than a text": chunk("s", meta), "another session": chunk("s2", b),
		"an image": chunk("s", image), "history": {Session: "s", Turn: "t", Kind: "agent_message_chunk", Replay: true, Raw: []byte(b)},
		"another kind": {Session: "s", Turn: "t", Kind: "plan", Raw: []byte(b)},
	} {
		if j.takes(u) {
			t.Errorf("%s is joined", name)
		}
	}
	got := string(j.head) + string(j.text) + string(j.tail)
	if want := `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\n\"b"},"messageId":"1"}`; got != want {
		t.Errorf("joined:\n got %s\nwant %s", got, want)
	}
}
