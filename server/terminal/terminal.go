package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/workspace/text"
)

// Terminal is a bridge.Display for a person. The fields are set before its use.
type Terminal struct {
	Out    io.Writer
	Colour bool
	// Lines are what the person types, one line each; closed at the end of
	// input. nil: nobody is there, and every question is refused.
	Lines <-chan string
	// Echo: Lines are not typed on this terminal, so answers are repeated, and
	// may come before their questions.
	Echo bool
	// Name is how the agent is called.
	Name string
	// Folder is the session's; paths in it are shown relative to it.
	Folder string

	screen
	asking asking
}

// screen is what was written last. mu is held while something is written, so
// that lines stay whole.
type screen struct {
	mu     sync.Mutex
	middle bool            // the last byte written was not a line's end
	calls  map[string]call // tool calls by id, for their last line
}

// maxCalls is how many open tool calls are remembered.
const maxCalls = 1000

type call struct{ title, status string }

// asking is whose turn it is to ask: one question at a time. The zero value is
// ready.
type asking struct {
	once sync.Once
	slot chan struct{}
}

func (a *asking) take(ctx context.Context) error {
	a.once.Do(func() { a.slot = make(chan struct{}, 1) })
	select {
	case a.slot <- struct{}{}:
		return ctx.Err() // a question that was withdrawn meanwhile is not asked
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *asking) give() { <-a.slot }

// Update shows one session/update.
func (t *Terminal) Update(_ context.Context, u bridge.Update) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch u.Kind {
	case "agent_message_chunk":
		t.write(plain(chunk(u.Raw)))
	case "agent_thought_chunk":
		t.write(t.paint(dim, plain(chunk(u.Raw))))
	case "user_message_chunk":
		if u.Replay {
			t.line(t.paint(cyan, "> "+plain(chunk(u.Raw))))
		}
	case "tool_call", "tool_call_update":
		t.call(u.Raw)
	case "plan":
		t.plan(u.Raw)
	}
}

// chunk is the text of a message chunk; other content is named.
func chunk(raw jsontext.Value) string {
	content, _ := rpc.Member(raw, "content")
	kind, _ := rpc.Member(content, "type")
	if string(kind) != `"text"` {
		name, _ := rpc.Unquote(kind) // not a string: no name
		return "[" + name + "]"
	}
	value, _ := rpc.Member(content, "text")
	s, _ := rpc.Unquote(value) // not a string: nothing to show
	return s
}

// call shows a tool call when it begins and when it ends.
func (t *Terminal) call(raw jsontext.Value) {
	var u struct {
		ID     string `json:"toolCallId"`
		Title  string `json:"title"`
		Status string `json:"status"`
	}
	if err := rpc.Unmarshal(raw, &u); err != nil {
		return
	}
	if t.calls == nil {
		t.calls = map[string]call{}
	}
	c, known := t.calls[u.ID]
	if u.Title != "" {
		c.title = u.Title
	}
	ended := u.Status != c.status && (u.Status == "completed" || u.Status == "failed")
	if u.Status != "" {
		c.status = u.Status
	}
	if known || len(t.calls) < maxCalls {
		t.calls[u.ID] = c
	}
	title := text.Visible(c.title)
	if !known && !ended {
		t.line(t.paint(dim, "· "+title))
	}
	if ended {
		delete(t.calls, u.ID)
		mark := t.paint(green, "✓ ")
		if c.status == "failed" {
			mark = t.paint(red, "✗ ")
		}
		t.line(mark + title)
	}
}

func (t *Terminal) plan(raw jsontext.Value) {
	var p struct {
		Entries []struct {
			Content string `json:"content"`
			Status  string `json:"status"`
		} `json:"entries"`
	}
	if err := rpc.Unmarshal(raw, &p); err != nil {
		return
	}
	for _, e := range p.Entries {
		box := "[ ] "
		if e.Status == "completed" {
			box = "[x] "
		}
		t.line("  " + box + text.Visible(e.Content))
	}
}

// Notice shows one sentence and its hint. What a turn changed is shown at its
// end.
func (t *Terminal) Notice(n bridge.Notice) {
	if n.Kind == bridge.NoticeTurn {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	st := dim
	switch n.Level {
	case bridge.Warning:
		st = yellow
	case bridge.Problem:
		st = red
	}
	t.line(t.paint(st, "sallyport: "+text.Visible(n.Text)))
	for _, line := range strings.Split(n.Hint, "\n") {
		if line != "" {
			t.line(t.paint(dim, "hint: "+text.Visible(line)))
		}
	}
}

// errNobody is why a question gets no answer.
var errNobody = errors.New("nobody is at the terminal")

// Ask puts a card on the terminal and reads the answer: the option's number.
// What was typed on the terminal before the card was there is no answer to it.
func (t *Terminal) Ask(ctx context.Context, c *permit.Card) (permit.Answer, error) {
	if t.Lines == nil {
		return permit.Answer{}, errNobody
	}
	err := t.asking.take(ctx)
	if err != nil {
		return permit.Answer{}, err
	}
	defer t.asking.give()
	if !t.Echo {
		t.discard()
	}
	t.card(c)
	for {
		t.say(t.paint(bold, "allow? ") + t.options(c.Options) + ": ")
		select {
		case <-ctx.Done():
			t.say("(withdrawn)\n")
			return permit.Answer{}, ctx.Err()
		case line, ok := <-t.Lines:
			if !ok {
				t.say("(no answer)\n")
				return permit.Answer{}, errNobody
			}
			t.answered(line)
			if option, ok := choose(c.Options, strings.TrimSpace(line)); ok {
				return permit.Answer{Option: option}, nil
			}
			t.say(fmt.Sprintf("type a number from 1 to %d\n", len(c.Options)))
		}
	}
}

// discard drops what was typed and not read.
func (t *Terminal) discard() {
	for {
		select {
		case _, ok := <-t.Lines:
			if !ok {
				return
			}
		default:
			return
		}
	}
}

// answered ends the question's line: the person pressed return, or did not.
func (t *Terminal) answered(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Echo {
		t.write(plain(line) + "\n")
	}
	t.middle = false
}

// card shows everything a person needs to judge by.
func (t *Terminal) card(c *permit.Card) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line(t.paint(yellow, "? "+t.Name+" wants: "+c.Request.Tool) + "  " + c.Title)
	if c.Reason != "" {
		t.line("    asked because " + plain(c.Reason))
	}
	if command, ok := rpc.Member(c.Request.Input, "command"); ok {
		s, _ := rpc.Unquote(command) // not a string: the title has to do
		if s != "" && s != c.Title {
			t.line("    " + strings.ReplaceAll(plain(s), "\n", "\n    "))
		}
	}
	shown := map[string]bool{}
	for _, d := range c.Diffs {
		old := ""
		if d.Old != nil {
			old = *d.Old
		}
		t.write(t.diff(t.name(d.Path), old, d.New))
		shown[d.Path] = true
	}
	for _, p := range c.Paths {
		if !shown[p] {
			t.line("    " + t.name(p))
		}
	}
}

// name is a path as a person likes to read it, harmless.
func (t *Terminal) name(path string) string {
	if rel, err := filepath.Rel(t.Folder, path); err == nil && t.Folder != "" && filepath.IsLocal(rel) && filepath.Clean(path) == path {
		path = rel
	}
	return text.Visible(path)
}

// options are all the agent's options, numbered in its order.
func (t *Terminal) options(all []permit.Option) string {
	var parts []string
	for i, o := range all {
		parts = append(parts, "["+strconv.Itoa(i+1)+"] "+text.Visible(o.Name))
	}
	return strings.Join(parts, "  ")
}

// choose finds the option that a line means: a number, or y and n where just
// one option of that sense is offered.
func choose(options []permit.Option, line string) (id string, ok bool) {
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(options) {
		return options[n-1].ID, true
	}
	kind := map[string]string{"y": "allow_once", "yes": "allow_once", "n": "reject_once", "no": "reject_once"}[strings.ToLower(line)]
	if kind == "" {
		return "", false
	}
	for _, o := range options {
		if o.Kind == kind {
			if ok {
				return "", false
			}
			id, ok = o.ID, true
		}
	}
	return id, ok
}

// Settled tells how a permission was settled, unless the person did it.
func (t *Terminal) Settled(c *permit.Card, o permit.Outcome) {
	if o.By == permit.ByUser || o.By == permit.ByCancel || o.By == permit.ByFence {
		return // known to the person, of no matter, or told by a notice
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	verb := t.paint(green, "allowed")
	if !o.Allowed {
		verb = t.paint(red, "refused")
	}
	t.line(verb + " " + text.Visible(c.Title) + t.paint(dim, " (by "+string(o.By)+" "+text.Visible(strings.TrimSuffix(o.Name+": "+o.Why, ": "))+")"))
}

// Line writes one line of our own.
func (t *Terminal) Line(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line(s)
}

// Heading writes a line that begins a part.
func (t *Terminal) Heading(s string) {
	t.Line("")
	t.Line(t.paint(bold, s))
}

// Finish ends a line that an agent left open.
func (t *Terminal) Finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.middle {
		t.write("\n")
	}
}

func (t *Terminal) say(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.middle {
		t.write("\n")
	}
	t.write(s)
}

func (t *Terminal) line(s string) {
	if t.middle {
		t.write("\n")
	}
	t.write(s + "\n")
}

// write is the one way out. What cannot be written is lost: nobody looks.
func (t *Terminal) write(s string) {
	if s == "" {
		return
	}
	t.middle = !strings.HasSuffix(strings.TrimSuffix(s, reset), "\n")
	_, _ = io.WriteString(t.Out, s)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
