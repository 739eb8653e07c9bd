package bridge_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sallyport/bridge"
	"sallyport/bridge/permit"
)

// asks is a tool call that asks, and says how it was answered.
const asks = `{"ask": {"toolCall": {"toolCallId": "t", "kind": "execute", "title": "run", "rawInput": {"command": "make"}},
  "then": {"allow": [{"say": "allowed"}], "reject": [{"say": "rejected"}], "cancelled": [{"say": "cancelled"}]}}}`

func TestI1(t *testing.T) {
	r := newRig(t, `{"prompts": [{"match": "go", "steps": [{"hang": "deaf"}]}, {"match": "second", "steps": [{"say": "again"}]}]}`)
	r.config.Timeouts.CancelGraceSeconds = 1
	info := r.open()
	ends := r.start(info.ID, "go")
	r.awaits("session/prompt", 1)
	if err := r.Cancel(r.ctx(), info.ID); err != nil {
		t.Fatal(err)
	}
	if e := r.end(ends); e.err != nil || e.StopReason != "cancelled" {
		t.Fatalf("the turn ended with %+v, want cancelled", e)
	}
	if e, err := r.prompt(info.ID, "second"); err != nil || e.StopReason != "end_turn" || r.said() != "again" {
		t.Fatalf("the next prompt ended with %+v, %v and %q", e, err, r.said())
	}
	if len(r.display.noticed(bridge.NoticeNew)) != 1 {
		t.Errorf("notices are %+v, want one that the context is new", r.display.notices)
	}
}

func TestI2(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [
	  {"say": "ready"}, {"waitCancel": true},
	  {"write": {"path": "${cwd}/a.txt", "text": "x", "as": "w"}}, `+asks+`, {"say": " ${w.code} end"},
	  {"answer": "cancelled"},
	  {"write": {"path": "${cwd}/b.txt", "text": "x", "as": "v"}}, {"say": "late ${v.code}"}]},
	  {"steps": [{"say": "next"}]}]}`)
	r.config.Mode = "bypassPermissions"
	info := r.open()
	ends := r.start(info.ID, "go")
	r.display.until(t, "ready", func(d *display) bool { return len(d.updates) > 0 })
	r.Cancel(r.ctx(), info.ID)
	first := r.end(ends)
	if first.StopReason != "cancelled" {
		t.Fatalf("the turn ended with %+v, want cancelled", first)
	}
	r.display.until(t, "late", func(d *display) bool { return strings.Contains(d.saidLocked(), "late") })
	second, err := r.prompt(info.ID, "go on")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.said(), "readycancelled -32800 endlate -32800next"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if r.disk("a.txt")+r.disk("b.txt") != "" {
		t.Error("something was written after the cancel")
	}
	for _, u := range r.display.updates {
		if strings.Contains(u.raw, "late") && u.turn == second.Turn {
			t.Error("a late update was counted to the next turn")
		}
	}
}

func TestI3(t *testing.T) {
	r := newRig(t, `{"prompts": [
	  {"steps": [{"answer": {"stopReason": "end_turn", "twice": true}}]},
	  {"steps": [`+asks+`]}]}`)
	info := r.turn("one")
	release := make(chan struct{})
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) { <-release; return allow(ctx, c) }
	ends := r.start(info.ID, "two")
	<-r.display.asked
	select {
	case e := <-ends:
		t.Fatalf("the second answer to the first prompt ended the second turn: %+v", e)
	default:
	}
	close(release)
	if e := r.end(ends); e.err != nil || r.said() != "allowed" {
		t.Errorf("turn two ended with %+v and %q", e, r.said())
	}
}

func TestI4(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"say": "x"}, {"waitCancel": true}, {"answer": "end_turn"}]}]}`)
	info := r.open()
	ends := r.start(info.ID, "go")
	r.display.until(t, "x", func(d *display) bool { return len(d.updates) > 0 })
	r.Cancel(r.ctx(), info.ID)
	if e := r.end(ends); e.StopReason != "cancelled" || e.AgentSaid != "end_turn" {
		t.Errorf("ended with %+v, want cancelled, and that the agent said end_turn", e)
	}
}

func TestI5(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"answer": "end_turn"}, {"sleep": 50}, {"say": "b"}, {"sleep": 100}, {"say": "c"}]}, {"steps": [{"say": "d"}]}]}`)
	info := r.open()
	one, err := r.prompt(info.ID, "1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.prompt(info.ID, "2"); err != nil { // at once: the late ones come before it begins
		t.Fatal(err)
	}
	r.display.until(t, "all", func(d *display) bool { return len(d.updates) >= 3 })
	for i, u := range r.display.updates {
		if mine := u.turn == one.Turn; mine != (i < 2) {
			t.Errorf("update %d is counted to turn %s; the first turn was %s", i, u.turn, one.Turn)
		}
	}
}

func TestI6(t *testing.T) {
	r := newRig(t, `{"on": {"session/new": {"before": [
	    {"update": {"sessionUpdate": "available_commands_update", "availableCommands": []}},
	    {"notify": {"method": "session/update", "params": {"sessionId": "other", "update": {"sessionUpdate": "x"}}}}],
	  "after": [{"update": {"sessionUpdate": "y"}}]}}}`)
	var ready bridge.Info
	seen := -1
	_, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder, Ready: func(i bridge.Info) { ready, seen = i, len(r.display.kinds()) }})
	if err != nil {
		t.Fatal(err)
	}
	r.display.until(t, "both updates", func(d *display) bool { return len(d.updates) == 2 })
	if seen != 0 || ready.ID == "" {
		t.Errorf("%d updates were shown before the client knew the session", seen)
	}
	if got := strings.Join(r.display.kinds(), " "); got != "available_commands_update y" {
		t.Errorf("shown: %s; want the early one, then the later, and not the other session's", got)
	}
}

func TestI8(t *testing.T) {
	r := newRig(t, `{"prompts": [{"match": "hang", "steps": [{"say": "h"}, {"hang": "deaf"}]}, {"match": "ask", "steps": [`+asks+`]}, {"match": "more", "steps": [{"say": "more"}]}]}`)
	r.config.Timeouts.CancelGraceSeconds = 1
	release := make(chan struct{})
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) { <-release; return allow(ctx, c) }
	one, two := r.open(), r.open()
	hung, other := r.start(one.ID, "hang"), r.start(two.ID, "ask")
	<-r.display.asked
	r.display.until(t, "h", func(d *display) bool { return len(d.updates) > 0 })
	r.Cancel(r.ctx(), one.ID)
	if e := r.end(hung); e.StopReason != "cancelled" {
		t.Errorf("the hung turn ended with %+v", e)
	}
	close(release)
	if e := r.end(other); e.err != nil || e.StopReason != "end_turn" {
		t.Errorf("the other turn ended with %+v", e)
	}
	if _, err := r.prompt(one.ID, "more"); err != nil {
		t.Errorf("prompting the first again: %v", err)
	}
	if n := r.display.noticed(bridge.NoticeNew); len(n) != 1 {
		t.Errorf("notices are %+v, want that the context is lost", n)
	}
}

func TestG1(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"parallel": [
	  [{"ask": {"id": 7, "toolCall": {"toolCallId": "a", "kind": "execute", "title": "seven"}, "then": {"allow": [{"say": "7+"}], "reject": [{"say": "7-"}]}}}],
	  [{"ask": {"id": 8, "toolCall": {"toolCallId": "b", "kind": "execute", "title": "eight"}, "then": {"allow": [{"say": "8+"}], "reject": [{"say": "8-"}]}}}]]}]}]}`)
	eight := make(chan struct{})
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) {
		if c.Title == "eight" {
			defer close(eight)
			return reject(ctx, c)
		}
		<-eight
		return allow(ctx, c)
	}
	r.turn("go")
	if s := r.said(); s != "8-7+" && s != "7+8-" {
		t.Errorf("said %q, want seven allowed and eight rejected", s)
	}
}

func TestG2(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [`+asks+`]}]}`)
	clicked := make(chan struct{})
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) {
		<-ctx.Done()
		defer close(clicked)
		return allow(ctx, c) // too late
	}
	info := r.open()
	ends := r.start(info.ID, "go")
	<-r.display.asked
	r.Cancel(r.ctx(), info.ID)
	if e := r.end(ends); e.StopReason != "cancelled" || r.said() != "cancelled" {
		t.Errorf("ended with %+v and %q, want both cancelled", e, r.said())
	}
	<-clicked
	if n := len(r.display.settled); n != 1 {
		t.Errorf("settled %d times, want once", n)
	}
	for _, line := range r.wire() {
		if strings.Contains(line, `"optionId"`) {
			t.Errorf("the late click reached the agent: %s", line)
		}
	}
}

// TestK9 also shows that a cancel is a notification towards the agent.
func TestK9(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"say": "x"}, {"waitCancel": true}]}]}`)
	info := r.open()
	ends := r.start(info.ID, "go")
	r.display.until(t, "x", func(d *display) bool { return len(d.updates) > 0 })
	r.Cancel(r.ctx(), info.ID)
	r.end(ends)
	var seen bool
	for _, line := range r.wire() {
		if strings.Contains(line, `"session/cancel"`) {
			seen = true
			if strings.Contains(line, `"id"`) {
				t.Errorf("the cancel has an id: %s", line)
			}
		}
	}
	if !seen {
		t.Error("no cancel on the wire")
	}
}

func TestOneTurnAtATime(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [`+asks+`]}]}`)
	release := make(chan struct{})
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) { <-release; return allow(ctx, c) }
	info := r.open()
	ends := r.start(info.ID, "one")
	<-r.display.asked
	var busy *bridge.BusyError
	if _, err := r.prompt(info.ID, "two"); !errors.As(err, &busy) {
		t.Errorf("a second prompt gave %v, want a BusyError", err)
	}
	close(release)
	r.end(ends)
}

func TestOpenCallsAreClosedAtTheEnd(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"toolCall": {"toolCallId": "open", "title": "x", "kind": "execute"}}]}]}`)
	r.turn("go")
	last := r.display.updates[len(r.display.updates)-1]
	if last.kind != "tool_call_update" || !strings.Contains(last.raw, `"status":"failed"`) || !strings.Contains(last.raw, `"open"`) {
		t.Errorf("the last update is %+v, want the open call closed", last)
	}
}

func busy(i bridge.Info) bool { return i.Busy }

// until waits for a state of a session. There is no event for it: it polls.
func (r *rig) until(id string, state func(bridge.Info) bool) {
	r.t.Helper()
	r.poll("a state of the session", func() bool {
		info, err := r.Info(id)
		return err == nil && state(info)
	})
}

// poll waits for something outside of the program, which sends no event.
func (r *rig) poll(what string, done func() bool) {
	r.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !done(); <-tick.C {
		if time.Now().After(deadline) {
			r.t.Fatalf("never came: %s", what)
		}
	}
}
