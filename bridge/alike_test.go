package bridge_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
)

// flusher is a display that gathers, so that updates which are alike come together.
type flusher struct {
	*display
	together *int // how many came with another
}

func (flusher) Flush() {}

func (f flusher) Update(ctx context.Context, u bridge.Update) {
	f.display.Update(ctx, u)
	u.EachAlike(func(raw jsontext.Value) {
		*f.together++
		u.Raw = raw
		f.display.Update(ctx, u)
	})
}

// A display that gathers gets chunks that differ in their text together, each whole and
// in its place; what the bridge learns from comes by itself.
func TestUpdatesAlike(t *testing.T) {
	var updates, lines []string
	say := func(kind string, texts ...string) {
		for _, text := range texts {
			u := fmt.Sprintf(`{"sessionUpdate":%q,"content":{"type":"text","text":%q},"messageId":"m"}`, kind, text)
			updates = append(updates, u)
			lines = append(lines, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${session}","update":`+u+`}}`)
		}
	}
	say("agent_message_chunk", "a", "b", "", "c c c")
	say("agent_thought_chunk", "c c c", "d", "e")
	say("plan", "f", "g")
	for i := range 1000 {
		say("agent_message_chunk", fmt.Sprint(i, strings.Repeat("x", i%40)))
	}
	script := fmt.Sprintf(`{"prompts": [{"steps": [{"raw": %q}]}]}`, strings.Join(lines, "\n")+"\n")
	together := 0
	r := newRig(t, script, func(r *rig) { r.Display = flusher{r.display, &together} })
	r.turn("go")
	r.display.mu.Lock()
	defer r.display.mu.Unlock()
	var got []string
	for _, u := range r.display.updates {
		if u.turn == "" {
			t.Errorf("an update outside the turn: %s", u.raw)
		}
		got = append(got, u.raw)
	}
	if !slices.Equal(got, updates) {
		t.Errorf("%d updates came of %d:\n%s", len(got), len(updates), strings.Join(got, "\n"))
	}
	if together == 0 {
		t.Error("none came together")
	}
}
