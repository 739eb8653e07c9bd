package bridge

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

// withNotes puts before a prompt what was refused since the last one: ACP's
// answer to a permission has no text that would tell the agent why.
func (s *session) withNotes(blocks []jsontext.Value) []jsontext.Value {
	s.state.mu.Lock()
	text := s.state.memory.notes.text()
	s.state.memory.notes = notes{}
	s.state.mu.Unlock()
	if text == "" {
		return blocks
	}
	return append([]jsontext.Value{textBlock(text)}, blocks...)
}

// textBlock is an ACP content block of type text.
func textBlock(text string) jsontext.Value {
	raw, _ := json.Marshal(struct { // two strings always encode
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", text})
	return raw
}

// promptText is what a client has shown of a prompt itself.
func promptText(blocks []jsontext.Value) string {
	var text string
	for _, b := range blocks {
		value, _ := rpc.Member(b, "text")
		s, _ := rpc.Unquote(value) // another kind of block has none
		text += s
	}
	return text
}

// repeats reports whether a user_message_chunk only repeats the prompt, which
// the client has shown already.
func (t *turn) repeats(chunk string) bool {
	rest, ok := strings.CutPrefix(t.echo, chunk)
	if ok {
		t.echo = rest
	}
	return ok && chunk != ""
}
