package server

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"

	"sallyport/bridge"
	"sallyport/workspace/text"
)

// reportEvery is the shortest time between two reports of one progress.
const reportEvery = 250 * time.Millisecond

// progress is one $/progress (LSP, "Work Done Progress") with a cancel button.
// Its methods do nothing for an editor that cannot show it, and after its end.
type progress struct {
	c     *client // nil: the editor cannot show it
	token string

	mu    sync.Mutex
	ended bool
	last  time.Time   // of the last report
	next  string      // what is to be reported when its time has come
	timer *time.Timer // until then; nil: nothing waits
}

// progresses are those that can be cancelled, by token.
type progresses struct {
	mu   sync.Mutex
	last int
	open map[string]context.CancelCauseFunc
}

func (p *progresses) add(cancel context.CancelCauseFunc) (token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[string]context.CancelCauseFunc{}
	}
	p.last++
	token = "sallyport-" + strconv.Itoa(p.last)
	p.open[token] = cancel
	return token
}

func (p *progresses) remove(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, token)
}

func (p *progresses) cancel(token string) {
	p.mu.Lock()
	cancel := p.open[token]
	p.mu.Unlock()
	if cancel != nil {
		cancel(errByCancel)
	}
}

// cancelProgress is window/workDoneProgress/cancel.
func cancelProgress(c *client, p *struct {
	Token jsontext.Value `json:"token"`
}) {
	var token string
	if json.Unmarshal(p.Token, &token) == nil { // ours are strings
		c.progresses.cancel(token)
	}
}

// beginProgress asks the editor to show a progress; cancel is called when the
// user clicks on it.
func (c *client) beginProgress(ctx context.Context, title, message string, cancel context.CancelCauseFunc) *progress {
	if !c.able.progress {
		return &progress{}
	}
	p := &progress{c: c, token: c.progresses.add(cancel)}
	var params struct {
		Token string `json:"token"`
	}
	params.Token = p.token
	if err := c.call(ctx, "window/workDoneProgress/create", params, nil); err != nil {
		c.progresses.remove(p.token)
		c.log.Debug("showing progress", "error", err)
		return &progress{}
	}
	yes := true
	p.send(&protocol.WorkDoneProgressBegin{Kind: "begin", Title: title, Cancellable: &yes, Message: &message})
	return p
}

// report says what is going on now. Of reports that come too fast the last is
// sent when its time has come: what is said before a long command stands there
// as long as it runs.
func (p *progress) report(message string) {
	if p.c == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch wait := reportEvery - time.Since(p.last); {
	case p.ended:
	case p.timer != nil:
		p.next = message
	case wait > 0:
		p.next = message
		p.timer = time.AfterFunc(wait, p.late) // end stops it
	default:
		p.reportLocked(message)
	}
}

// late sends what had to wait.
func (p *progress) late() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = nil
	if !p.ended {
		p.reportLocked(p.next)
	}
}

func (p *progress) reportLocked(message string) {
	p.last = time.Now()
	p.send(&protocol.WorkDoneProgressReport{Kind: "report", Message: &message})
}

// end closes it, once.
func (p *progress) end(message string) {
	if p.c == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.ended = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.c.progresses.remove(p.token)
	e := &protocol.WorkDoneProgressEnd{Kind: "end"}
	if message != "" {
		e.Message = &message
	}
	p.send(e)
}

func (p *progress) send(value any) {
	raw, err := protocol.Marshal(value)
	if err != nil {
		p.c.log.Error("bug: encoding progress", "error", err)
		return
	}
	p.c.notify("$/progress", struct {
		Token string         `json:"token"`
		Value jsontext.Value `json:"value"`
	}{p.token, raw})
}

// update says in a few words what an update is about.
func (p *progress) update(u bridge.Update) {
	if p.c == nil || u.Replay {
		return
	}
	switch u.Kind {
	case "agent_thought_chunk":
		p.report("thinking")
	case "agent_message_chunk":
		p.report("writing")
	case "plan":
		p.report("planning")
	case "tool_call", "tool_call_update":
		var call struct {
			Title  string `json:"title"`
			Status string `json:"status"`
		}
		if json.Unmarshal(u.Raw, &call, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) == nil && call.Title != "" {
			p.report(shorten(text.Visible(call.Title)))
		}
	}
}

// shorten cuts a title for a status line; the whole of it stands in the
// conversation.
func shorten(s string) string {
	const most = 80
	for i := range s {
		if i > most {
			return fmt.Sprintf("%s…", s[:i])
		}
	}
	return s
}
