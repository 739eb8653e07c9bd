package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
	"sallyport/server/servertest"
	"sallyport/server/wire"
)

// Updates that a bridge gives together reach each kind of editor as if they had come
// one by one.
func TestUpdatesAlike(t *testing.T) {
	texts := []string{"one ", "", `two\n`, "a long one, with text ", `and \"quotes\" `, "last"}
	raw := func(text string) string {
		return `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"},"messageId":"m"}`
	}
	frame := func(text string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + raw(text) + `,"_meta":{}}}`
	}
	together := func(turn servertest.Turn) bridge.Update {
		var lines strings.Builder
		for _, text := range texts[1:] {
			fmt.Fprintln(&lines, frame(text))
		}
		first := []byte(frame(texts[0]))
		params, _ := rpc.Member(first, "params")
		update, _ := rpc.Member(params, "update")
		return bridge.Update{
			Session: turn.Session, Turn: turn.ID, Kind: "agent_message_chunk", Raw: update,
			From: bridge.Original{Frame: first, Alike: []byte(lines.String())},
		}
	}
	joined := []string{raw(strings.Join(texts, ""))}
	each := make([]string, len(texts))
	for i, text := range texts {
		each[i] = raw(text)
	}
	for name, test := range map[string]struct {
		features []wire.Feature
		want     []string
	}{
		"update": {[]wire.Feature{wire.FeatureUpdate}, each},
		"join":   {[]wire.Feature{wire.FeatureUpdate, wire.FeatureJoin}, joined},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.ed.Plugin = &wire.Plugin{Features: test.features}
			r.ss.Turn = func(ctx context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
				turn.Display.Update(ctx, together(turn))
				return bridge.TurnResult{StopReason: "end_turn"}, nil
			}
			r.start()
			session := r.session()
			if _, err := r.prompt(session, "go"); err != nil {
				t.Fatal(err)
			}
			r.ed.Look(func(s *servertest.Seen) {
				var got []string
				for _, u := range s.Updates {
					if u.Session != session || u.Turn == "" {
						t.Errorf("an update of session %q and turn %q", u.Session, u.Turn)
					}
					got = append(got, string(u.Update))
				}
				if fmt.Sprint(got) != fmt.Sprint(test.want) {
					t.Errorf("came:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
				}
			})
		})
	}
	t.Run("plain", func(t *testing.T) {
		r := plain(t)
		r.ss.Turn = func(ctx context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
			turn.Display.Update(ctx, together(turn))
			return bridge.TurnResult{StopReason: "end_turn"}, nil
		}
		r.start()
		if err := r.ed.Command(r.ctx, "sallyport.ask", "go"); err != nil {
			t.Fatal(err)
		}
		r.until("the turn ended", func(s *servertest.Seen) bool { return s.Ends() == 1 })
		if page, want := r.conversation(), "> one two\n> a long one, with text and \"quotes\" last\n"; !strings.Contains(page, want) {
			t.Errorf("the conversation has no %q:\n%s", want, page)
		}
	})
}
