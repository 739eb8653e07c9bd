package server_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"sallyport/bridge"
	"sallyport/server/servertest"
)

// The last of several quick reports is shown while the turn goes on: it says
// what takes so long.
func TestProgressShowsTheLastReport(t *testing.T) {
	r := plain(t)
	shown := make(chan struct{})
	r.ss.Turn = func(ctx context.Context, turn servertest.Turn) (bridge.TurnResult, error) {
		turn.Say(ctx, "I will run the tests.")
		for _, title := range []string{"look around", "make test"} {
			turn.Update(ctx, "tool_call", `{"toolCallId":"`+title+`","title":"`+title+`","kind":"execute","status":"in_progress"}`)
		}
		select {
		case <-shown:
		case <-ctx.Done():
		}
		return bridge.TurnResult{StopReason: "end_turn"}, nil
	}
	r.start()
	if err := r.ed.Command(r.ctx, "sallyport.ask", "test it"); err != nil {
		t.Fatal(err)
	}
	r.until("the running command is shown", func(s *servertest.Seen) bool {
		return slices.ContainsFunc(s.Progress, func(p servertest.Progress) bool { return p.Message == "make test" })
	})
	close(shown)
	r.ended()
}

// A mode that is none is refused before there is a session too.
func TestPlainSetModeBeforeTheFirstQuestion(t *testing.T) {
	r := plain(t).start()
	err := r.ed.Command(r.ctx, "sallyport.setMode", "nonsense")
	if err == nil || !strings.Contains(err.Error(), "acceptEdits") {
		t.Errorf("got %v, want the modes that there are", err)
	}
	if err := r.ed.Command(r.ctx, "sallyport.setMode", "acceptEdits"); err != nil {
		t.Error(err)
	}
}
