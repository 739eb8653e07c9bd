package terminal_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/server/terminal"
)

// evil acts on a terminal, whole and in pieces.
const evil = "\x1b[2J\x1b]0;x\a\u202eevil\r\x08"

func quoted(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func update(raw string) bridge.Update {
	var u struct {
		Kind string `json:"sessionUpdate"`
	}
	if err := json.Unmarshal([]byte(raw), &u); err != nil {
		panic(err)
	}
	return bridge.Update{Kind: u.Kind, Raw: jsontext.Value(raw), Replay: true}
}

func card(options ...permit.Option) *permit.Card {
	return &permit.Card{ID: "c", Title: "run", Request: permit.Request{Kind: permit.Command, Tool: "Bash"}, Options: options}
}

var yesNo = []permit.Option{{ID: "a", Name: "Allow", Kind: "allow_once"}, {ID: "r", Name: "Refuse", Kind: "reject_once"}}

// TestNothingActsOnTheTerminal: every text of an agent, by every way in.
func TestNothingActsOnTheTerminal(t *testing.T) {
	var out bytes.Buffer
	lines := make(chan string, 1)
	lines <- "1"
	term := &terminal.Terminal{Out: &out, Lines: lines, Echo: true, Name: "Fake", Folder: "/p"}
	e := quoted(evil)
	for _, raw := range []string{
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + e + `}}`,
		`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":` + e + `}}`,
		`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":` + e + `}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":` + e + `}}`,
		`{"sessionUpdate":"tool_call","toolCallId":"t","title":` + e + `}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed","title":` + e + `}`,
		`{"sessionUpdate":"plan","entries":[{"content":` + e + `,"status":` + e + `}]}`,
		`{"sessionUpdate":` + e + `}`,
	} {
		term.Update(t.Context(), update(raw))
	}
	term.Notice(bridge.Notice{Text: evil, Hint: evil + "\n" + evil})
	old := evil
	c := card(permit.Option{ID: "a", Name: evil, Kind: "allow_once"})
	c.Request.Input = jsontext.Value(`{"command":` + e + `}`)
	c.Diffs = []permit.Diff{{Path: "/p/" + evil, Old: &old, New: evil + "\n" + evil}}
	c.Paths = []string{"/" + evil}
	if a, err := term.Ask(t.Context(), c); err != nil || a.Option != "a" {
		t.Errorf("answered %+v, %v", a, err)
	}
	c.Title = evil
	term.Settled(c, permit.Outcome{By: permit.ByDecider, Name: evil, Why: evil})
	sessions := &sessions{info: bridge.Info{Agent: evil, Folder: evil}, stop: bridge.StopReason(evil)}
	turn := terminal.Turn{Err: &out}
	turn.Run(t.Context(), sessions, term)
	sessions.err = &bridge.AgentError{Agent: "Fake", Message: evil, Data: `"` + evil + `"`}
	turn.Run(t.Context(), sessions, term)
	if i := strings.IndexFunc(out.String(), func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == '\u202e' }); i >= 0 {
		t.Errorf("%q acts on the terminal: …%q", out.String()[i], out.String()[max(0, i-60):])
	}
	if n := strings.Count(out.String(), "evil"); n < 18 {
		t.Errorf("something is not shown: %d of them in\n%s", n, out.String())
	}
}

// TestACardNamesEveryFile: also those beside a diff.
func TestACardNamesEveryFile(t *testing.T) {
	var out bytes.Buffer
	lines := make(chan string)
	close(lines)
	term := &terminal.Terminal{Out: &out, Lines: lines, Folder: "/p"}
	c := card(yesNo...)
	c.Diffs = []permit.Diff{{Path: "/p/a.txt", New: "x\n"}}
	c.Paths = []string{"/p/a.txt", "/p/b.txt"}
	if _, err := term.Ask(t.Context(), c); err == nil {
		t.Error("a closed input answered")
	}
	if got := out.String(); strings.Count(got, "b.txt") != 1 || !strings.Contains(got, "(no answer)") {
		t.Errorf("shown:\n%s", got)
	}
}

// TestOneQuestionAtATime: the second waits, and is not shown at all when it is
// withdrawn meanwhile.
func TestOneQuestionAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lockedBuffer
		lines := make(chan string)
		term := &terminal.Terminal{Out: &out, Lines: lines}
		type end struct {
			permit.Answer
			error
		}
		ask := func(ctx context.Context, title string) <-chan end {
			c := card(yesNo...)
			c.Title = title
			ends := make(chan end, 1)
			go func() {
				a, err := term.Ask(ctx, c)
				ends <- end{a, err}
			}()
			synctest.Wait()
			return ends
		}
		first := ask(t.Context(), "first")
		ctx, cancel := context.WithCancel(t.Context())
		second := ask(ctx, "second")
		third := ask(t.Context(), "third")
		cancel()
		if e := <-second; e.error == nil {
			t.Errorf("a question that was withdrawn was answered: %+v", e)
		}
		lines <- "y"
		if e := <-first; e.Option != "a" {
			t.Errorf("the first got %+v", e)
		}
		synctest.Wait()
		lines <- "perhaps"
		lines <- "2"
		if e := <-third; e.Option != "r" {
			t.Errorf("the third got %+v", e)
		}
		if got := out.String(); strings.Contains(got, "second") || !strings.Contains(got, "type a number from 1 to 2") {
			t.Errorf("shown:\n%s", got)
		}
	})
}

// TestWhatWasTypedBefore is no answer, on a terminal; in a pipe it is.
func TestWhatWasTypedBefore(t *testing.T) {
	for _, echo := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var out lockedBuffer
			lines := make(chan string, 8)
			lines <- "1"
			term := &terminal.Terminal{Out: &out, Lines: lines, Echo: echo}
			answers := make(chan permit.Answer, 1)
			go func() {
				a, _ := term.Ask(t.Context(), card(yesNo...))
				answers <- a
			}()
			synctest.Wait()
			lines <- "2"
			if a := <-answers; (a.Option == "a") != echo {
				t.Errorf("with echo %v the answer is %q", echo, a.Option)
			}
		})
	}
}

// TestEndlessCallsAreBounded.
func TestEndlessCallsAreBounded(t *testing.T) {
	var out bytes.Buffer
	term := &terminal.Terminal{Out: &out}
	for i := range 5000 {
		term.Update(t.Context(), update(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"t%d","title":"x"}`, i)))
	}
	if n := terminal.Calls(term); n > 1000 {
		t.Errorf("%d open calls are remembered", n)
	}
}

// TestLinesTellTheSessionFirst: a script knows it before its updates.
func TestLinesTellTheSessionFirst(t *testing.T) {
	var out bytes.Buffer
	lines := &terminal.Lines{Out: &out}
	s := &sessions{info: bridge.Info{ID: "s"}, stop: "end_turn", display: lines}
	if status := (&terminal.Turn{Err: &out}).Run(t.Context(), s, lines); status != 0 {
		t.Errorf("exit status %d", status)
	}
	var types []string
	for line := range strings.Lines(out.String()) {
		var o struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		types = append(types, o.Type)
	}
	if got, want := strings.Join(types, " "), "session posture update update turn"; got != want {
		t.Errorf("lines are %s, want %s", got, want)
	}
}

// TestAnInterruptEndsTheTurn, whenever it comes.
func TestAnInterruptEndsTheTurn(t *testing.T) {
	for _, when := range []string{"before", "in New", "in Prompt"} {
		t.Run(when, func(t *testing.T) {
			var out bytes.Buffer
			interrupted := make(chan struct{})
			s := &sessions{info: bridge.Info{ID: "s"}, stop: "end_turn", waits: when, interrupt: func() { close(interrupted) }}
			if when == "before" {
				s.interrupt()
			}
			status := (&terminal.Turn{Err: &out, Interrupted: interrupted}).Run(t.Context(), s, &terminal.Terminal{Out: &out})
			if status != 1 || !s.closed {
				t.Errorf("exit status %d, closed %v:\n%s", status, s.closed, out.String())
			}
		})
	}
}

// sessions is a bridge of one session, as far as a turn needs one.
type sessions struct {
	bridge.Sessions
	info      bridge.Info
	stop      bridge.StopReason
	err       error
	display   bridge.Display
	waits     string // where it waits for the end of its context
	interrupt func()
	closed    bool
}

func (s *sessions) New(ctx context.Context, n bridge.NewSession) (bridge.Info, error) {
	if s.waits == "in New" {
		s.interrupt()
	}
	if s.waits == "in New" || s.waits == "before" {
		<-ctx.Done()
		return bridge.Info{}, ctx.Err()
	}
	n.Ready(s.info)
	s.says("early")
	return s.info, nil
}

func (s *sessions) Prompt(ctx context.Context, _ string, _ []jsontext.Value) (bridge.TurnResult, error) {
	if s.waits == "in Prompt" {
		s.interrupt()
		<-ctx.Done()
		return bridge.TurnResult{StopReason: "cancelled"}, nil
	}
	s.says("late")
	return bridge.TurnResult{StopReason: s.stop}, s.err
}

func (s *sessions) says(text string) {
	if s.display != nil {
		s.display.Update(context.Background(), update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":`+quoted(text)+`}}`))
	}
}

func (s *sessions) Close(context.Context) error {
	s.closed = true
	return nil
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
