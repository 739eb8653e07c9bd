package bridge_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/server/terminal"
	"sallyport/workspace"
)

// cancelled wants a turn to have ended as cancelled, without an error.
func (r *rig) cancelled(ends <-chan ending) {
	r.t.Helper()
	if e := r.end(ends); e.err != nil || e.StopReason != "cancelled" || e.Turn == "" {
		r.t.Errorf("the turn ended with %+v, want cancelled", e)
	}
}

// TestCancelWhileTheAgentIsOpenedAgain ends the wait, and the agent.
func TestCancelWhileTheAgentIsOpenedAgain(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"exit": 0}]}]}`)
	info := r.open()
	r.prompt(info.ID, "go")
	r.rewrite(never)
	ends := r.start(info.ID, "again")
	r.awaits("session/new", 2)
	r.Cancel(r.ctx(), info.ID)
	r.cancelled(ends)
	r.wantAgents(0)
	r.rewrite(`{"prompts": [{"steps": [{"say": "back"}]}]}`)
	if _, err := r.prompt(info.ID, "once more"); err != nil || r.said() != "back" {
		t.Errorf("the session after that: %v, %q", err, r.said())
	}
}

// TestCancelBetweenTurns: a prompt that waits for the last words of the turn
// before can be cancelled, too.
func TestCancelBetweenTurns(t *testing.T) {
	r := newRig(t, `{"prompts": [{"match": "one", "steps": []}, {"match": "two", "steps": [{"hang": true}]}]}`)
	info := r.turn("one")
	ends := r.start(info.ID, "two")
	r.until(info.ID, busy)
	r.Cancel(r.ctx(), info.ID)
	r.cancelled(ends)
	if n := r.heard("session/prompt"); n != 1 {
		t.Errorf("the agent got %d prompts, want only the first", n)
	}
	var err *bridge.BusyError
	if _, got := r.prompt(info.ID, "three"); errors.As(got, &err) {
		t.Errorf("the session is busy for ever: %v", got)
	}
}

// asker is a display that is asked about unsaved documents.
type asker struct {
	*display
	asked chan struct{}
}

func (a asker) AskUnsaved(ctx context.Context, _ string, _ []workspace.Document) (bridge.UnsavedChoice, error) {
	close(a.asked)
	<-ctx.Done()
	return "", ctx.Err()
}

// TestCancelWhileAskedAboutUnsavedText: the prompt is not sent, and what would
// have gone along is not taken for known to the agent.
func TestCancelWhileAskedAboutUnsavedText(t *testing.T) {
	r := newRig(t, `{"capabilities": {"promptCapabilities": {"embeddedContext": true}}, "prompts": [
	  {"match": "write", "steps": [{"directRead": {"path": "${cwd}/a.txt", "as": "a"}}, {"write": {"path": "${cwd}/a.txt", "replace": {"in": "a", "old": "two", "new": "TWO"}}}]}]}`)
	display := asker{r.display, make(chan struct{})}
	r.Display = display
	path := r.openDirty("a.txt", "one\ntwo\n", "one\ntwo\nunsaved\n")
	info := r.open()
	ends := r.start(info.ID, "first")
	<-display.asked
	r.Cancel(r.ctx(), info.ID)
	r.cancelled(ends)
	if n := r.heard("session/prompt"); n != 0 || len(r.display.noticed(bridge.NoticeUnsaved)) != 0 {
		t.Errorf("%d prompts were sent, told: %v", n, r.display.notices)
	}
	r.config.Unsaved = configUnsaved("leave")
	if _, err := r.prompt(info.ID, "write"); err != nil {
		t.Fatal(err)
	}
	if got, want := r.buffer(path), "one\nTWO\nunsaved\n"; got != want {
		t.Errorf("buffer is %q, want %q", got, want)
	}
}

// TestCancelWhileAWriteIsAskedAbout: the card is withdrawn, nothing is written.
func TestCancelWhileAWriteIsAskedAbout(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"write": {"path": "${cwd}/a.txt", "text": "x", "as": "w"}}, {"say": "${w.code}"}, {"waitCancel": true}]}]}`)
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) {
		<-ctx.Done()
		return allow(ctx, c)
	}
	info := r.open()
	ends := r.start(info.ID, "go")
	<-r.display.asked
	r.Cancel(r.ctx(), info.ID)
	r.cancelled(ends)
	if r.disk("a.txt") != "" || r.said() != "-32800" {
		t.Errorf("disk has %q, the agent was told %q", r.disk("a.txt"), r.said())
	}
}

// TestNothingIsWrittenAfterTheTurn: a write that the editor is slow to apply is
// over when the turn is.
func TestNothingIsWrittenAfterTheTurn(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"parallel": [
	  [{"write": {"path": "${cwd}/a.txt", "text": "ONE\n\n\n", "as": "w"}}],
	  [`+asks+`, {"answer": "end_turn"}, {"say": "done"}]]}]}]}`)
	r.config.Mode = "acceptEdits"
	path := r.openDirty("a.txt", "one\n\n\n", "one\n\n\ntwo\n")
	slow := &slowEditor{Buffers: r.editor, applying: make(chan struct{}), let: make(chan struct{}), applied: make(chan struct{})}
	r.Editor = slow
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) {
		<-slow.applying
		return allow(ctx, c)
	}
	info := r.open()
	ends := r.start(info.ID, "go")
	r.display.until(t, "the answer", func(d *display) bool { return strings.Contains(d.saidLocked(), "done") })
	select {
	case e := <-ends:
		t.Errorf("the turn ended before its write: %+v", e)
	case <-time.After(100 * time.Millisecond): // it does not come; a fault would show by now
	}
	close(slow.let)
	r.end(ends)
	select {
	case <-slow.applied:
	default:
		t.Errorf("the turn ended before its write, the buffer has %q", r.buffer(path))
	}
}

// TestNoQuestionOutlivesItsTurn: it is settled when the turn ends, whoever ends
// it.
func TestNoQuestionOutlivesItsTurn(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"parallel": [[`+asks+`], [{"answer": "end_turn"}]]}]}]}`)
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) { <-ctx.Done(); return allow(ctx, c) }
	info := r.open()
	if e, err := r.prompt(info.ID, "go"); err != nil || e.StopReason != "end_turn" {
		t.Fatalf("the turn ended with %+v, %v", e, err)
	}
	if n := len(r.display.settled); n != 1 || r.display.settled[0].outcome.By != permit.ByCancel {
		t.Errorf("settled: %+v", r.display.settled)
	}
}

// slowEditor waits before it applies, whatever its context says.
type slowEditor struct {
	*terminal.Buffers
	applying, let, applied chan struct{}
}

func (e *slowEditor) Apply(ctx context.Context, a workspace.Apply) (workspace.Applied, error) {
	close(e.applying)
	<-e.let
	defer close(e.applied)
	return e.Buffers.Apply(ctx, a)
}

// stuck is a display that takes nothing.
type stuck struct{ *display }

func (s stuck) Update(ctx context.Context, u bridge.Update) {
	s.display.Update(ctx, u)
	<-ctx.Done()
}

// TestAStuckDisplayHoldsNobody: an editor that reads nothing slows its agent;
// cancelling, closing the session and closing the bridge work all the same.
func TestAStuckDisplayHoldsNobody(t *testing.T) {
	const floods = `{"prompts": [{"steps": [{"repeat": {"times": 1000, "steps": [{"say": "x"}]}}, {"hang": "deaf"}]}]}`
	for name, end := range map[string]func(*rig, string) error{
		"cancel":        func(r *rig, id string) error { return r.Cancel(r.ctx(), id) },
		"close session": func(r *rig, id string) error { return r.CloseSession(r.ctx(), id) },
		"close":         func(r *rig, _ string) error { return r.Close(r.ctx()) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, floods)
			r.config.Timeouts.CancelGraceSeconds = 1
			r.Display = stuck{r.display}
			info := r.open()
			ends := r.start(info.ID, "go")
			r.display.until(t, "x", func(d *display) bool { return len(d.updates) > 0 })
			if err := end(r, info.ID); err != nil {
				t.Error(err)
			}
			r.cancelled(ends)
			r.wantAgents(0)
		})
	}
}

// TestEverythingAtOnce: whatever is called together, nothing hangs, races or is
// left.
func TestEverythingAtOnce(t *testing.T) {
	r := newRig(t, `{"capabilities": {"loadSession": true, "sessionCapabilities": {"resume": {}, "list": {}, "close": {}}}, `+modesAB+`,
	  "prompts": [{"steps": [{"repeat": {"times": 50, "steps": [{"say": "x"}]}}, `+asks+`, {"write": {"path": "${cwd}/a.txt", "text": "${i}"}}]}]}`,
		func(r *rig) { setModes(r, map[string]string{"default": "a", "plan": "b"}) })
	r.display.asked = make(chan *permit.Card, 10000)
	ctx, cancel := context.WithTimeout(r.ctx(), 3*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	again := func(f func()) {
		wg.Go(func() {
			for ctx.Err() == nil {
				f()
			}
		})
	}
	one, two := r.open(), r.open()
	for _, id := range []string{one.ID, two.ID} {
		again(func() { r.Prompt(ctx, id, []jsontext.Value{block("go")}) })
		again(func() { r.SetMode(ctx, id, permit.PlanMode) })
		again(func() { r.SetMode(ctx, id, permit.Default) })
		again(func() { r.SetConfigOption(ctx, id, "x", []byte("true")); pause(ctx) })
		again(func() { r.Cancel(ctx, id); pause(ctx) })
		again(func() { r.Info(id); r.Live(); pause(ctx) })
	}
	again(func() { r.Sweep(time.Now().Add(2 * time.Hour)); pause(ctx) })
	again(func() { r.Stored(ctx, "fake", r.folder, ""); pause(ctx) })
	again(func() { r.Refence(); pause(ctx) })
	again(func() {
		if i, err := r.New(ctx, bridge.NewSession{Folder: r.folder}); err == nil {
			r.CloseSession(ctx, i.ID)
		}
	})
	again(func() {
		if i, err := r.Load(ctx, bridge.LoadSession{ID: "s", Folder: r.folder, Replays: true}); err == nil {
			r.CloseSession(ctx, i.ID)
		}
	})
	wg.Wait()
	if err := r.Close(r.ctx()); err != nil {
		t.Fatal(err)
	}
	if n := r.Agents(); n != 0 {
		t.Errorf("%d agents are left", n)
	}
}

// pause gives the others a turn.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Millisecond):
	}
}

// TestEchoWhileAPromptBegins: an agent repeats what it was told, late.
func TestEchoWhileAPromptBegins(t *testing.T) {
	r := newRig(t, `{"prompts": [
	  {"steps": [{"answer": "end_turn"}, {"repeat": {"times": 300, "steps": [{"update": {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "z"}}}, {"sleep": 2}]}}]},
	  {"steps": []}]}`)
	info := r.turn("one")
	if _, err := r.prompt(info.ID, "two"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(r.display.kinds(), " "), "user_message_chunk") {
		t.Error("nothing was repeated")
	}
}
