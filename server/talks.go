package server

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.lsp.dev/protocol"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/workspace/text"
)

// talks are the sessions of a plain editor: one for each workspace folder,
// begun by the first question.
type talks struct {
	mu       sync.Mutex
	byFolder map[string]*talk
	bySess   map[string]*talk
}

// talk is one of them. Its fields are guarded by talks.mu.
type talk struct {
	folder   string
	agent    string // wanted for the next session; empty: the default
	mode     permit.Mode
	session  string // empty: none yet
	cancel   context.CancelCauseFunc
	progress *progress // of the turn under way
	shown    bool      // the conversation was opened once
}

var errTalking = errors.New("a turn is running in this folder; cancel it or wait for its end")

func newTalks() *talks {
	return &talks{byFolder: map[string]*talk{}, bySess: map[string]*talk{}}
}

func (t *talks) ofLocked(folder string) *talk {
	x := t.byFolder[folder]
	if x == nil {
		x = &talk{folder: folder}
		t.byFolder[folder] = x
	}
	return x
}

// begin takes the talk of a folder for one turn.
func (t *talks) begin(folder string, cancel context.CancelCauseFunc) (*talk, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.ofLocked(folder)
	if x.cancel != nil {
		return nil, errTalking
	}
	x.cancel = cancel
	return x, nil
}

func (t *talks) end(x *talk) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x.cancel, x.progress = nil, nil
}

// cancel ends the turns of a folder, or of all folders when it is empty, and
// returns how many there were.
func (t *talks) cancel(folder string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for f, x := range t.byFolder {
		if x.cancel != nil && (folder == "" || f == folder) {
			x.cancel(errByCancel)
			n++
		}
	}
	return n
}

// forget makes the next question begin a new session, with the given agent
// where one is named. It returns the session that was, if any.
func (t *talks) forget(folder, agent string) (session string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.ofLocked(folder)
	if x.cancel != nil {
		return "", errTalking
	}
	session = x.session
	delete(t.bySess, session)
	x.session, x.shown = "", false
	if agent != "" {
		x.agent = agent
	}
	return session, nil
}

// session is the session of a folder's talk, and the agent and the mode wanted
// for the next one.
func (t *talks) sessionOf(folder string) (session, agent string, mode permit.Mode) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.ofLocked(folder)
	return x.session, x.agent, x.mode
}

func (t *talks) setSession(x *talk, session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.bySess, x.session)
	x.session = session
	if session == "" {
		x.shown = false
		return
	}
	t.bySess[session] = x
}

func (t *talks) setMode(folder string, mode permit.Mode) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ofLocked(folder).mode = mode
}

func (t *talks) setProgress(x *talk, p *progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x.progress = p
}

// firstShow reports whether the conversation was not shown yet, and counts it
// as shown.
func (t *talks) firstShow(x *talk) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !x.shown
	x.shown = true
	return first
}

// report moves the progress of an update's turn on.
func (t *talks) report(u bridge.Update) {
	if p := t.progressOf(u.Session); p != nil {
		p.update(u)
	}
}

// say shows words of ours in the progress of a session's turn.
func (t *talks) say(session, message string) {
	if p := t.progressOf(session); p != nil {
		p.report(message)
	}
}

// progressOf is the progress of the turn that runs in a session; nil for none.
func (t *talks) progressOf(session string) *progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x := t.bySess[session]; x != nil {
		return x.progress
	}
	return nil
}

// ask starts a turn in the folder's talk and returns when it has been taken
// on, so that no editor waits for the agent. What becomes of it is told by
// progress, messages and the conversation.
func (c *client) ask(folder string, q inquiry) error {
	started := make(chan error, 1)
	ok := c.spawnTurn(func(ctx context.Context, cancel context.CancelCauseFunc) {
		x, err := c.talks.begin(folder, cancel)
		started <- err
		if err != nil {
			return
		}
		doing := "starting the agent"
		if session, _, _ := c.talks.sessionOf(folder); session != "" {
			doing = "asking the agent"
		}
		p := c.beginProgress(ctx, "Sallyport", doing, cancel)
		c.talks.setProgress(x, p)
		how, err := c.turn(ctx, x, q)
		c.talks.end(x) // before the editor is told, so that the next question is taken
		p.end(text.Visible(how))
		if err != nil {
			c.complain(err)
		}
	})
	if !ok {
		return errClosing
	}
	return <-started
}

// spawnTurn runs f on a goroutine that the connection owns.
func (c *client) spawnTurn(f func(ctx context.Context, cancel context.CancelCauseFunc)) bool {
	_, ok := c.tasks.start("", func(ctx context.Context) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		f(ctx, cancel)
	})
	return ok
}

// complain shows why a turn could not be.
func (c *client) complain(err error) {
	s, hint := sentence(err)
	if errors.Is(err, errByCancel) || errors.Is(err, errClosing) || errors.Is(err, context.Canceled) {
		return
	}
	c.say(protocol.MessageTypeError, "Sallyport: "+withHint(text.Visible(s), hint))
}

// turn runs one turn of a talk and says how it ended.
func (c *client) turn(ctx context.Context, x *talk, q inquiry) (how string, err error) {
	for {
		session, fresh, err := c.sessionFor(ctx, x)
		if err != nil {
			return "", err
		}
		x.progress.report("waiting for the agent")
		log := c.book.open(session, "")
		if log != nil {
			log.Prompt(q.heading)
			if c.talks.firstShow(x) {
				c.showConversation(ctx, log.Path(), false)
			}
		}
		own := &turn{cancel: x.cancel}
		c.prompts.add(session, own)
		r, err := c.runTurn(ctx, session, q.blocks)
		c.prompts.remove(session, own)
		var lost *bridge.UnknownSessionError
		if errors.As(err, &lost) && !fresh {
			c.talks.setSession(x, "")
			c.book.drop(session)
			continue // it was closed for being idle: once more with a new one
		}
		how := ended(r.StopReason)
		switch {
		case err != nil:
			how = err.Error()
		case r.Changed > 0:
			how += ", " + count(r.Changed, "file") + " changed"
		}
		if log != nil {
			log.EndTurn(how)
		}
		return how, err
	}
}

// ended says how a turn ended, in words for a person.
func ended(reason bridge.StopReason) string {
	switch reason {
	case "end_turn":
		return "done"
	case "cancelled":
		return "cancelled"
	case "refusal":
		return "the agent refused to go on"
	case "max_tokens":
		return "the model's limit was reached"
	case "max_turn_requests":
		return "the agent's limit of requests was reached"
	default: // one that does not exist yet
		return string(reason)
	}
}

// sessionFor is the session of a talk, begun when there was none.
func (c *client) sessionFor(ctx context.Context, x *talk) (session string, fresh bool, err error) {
	session, agent, mode := c.talks.sessionOf(x.folder)
	if session != "" {
		return session, false, nil
	}
	info, err := c.sessions.New(ctx, bridge.NewSession{Agent: agent, Folder: x.folder, Mode: mode})
	if err != nil {
		return "", false, err
	}
	c.talks.setSession(x, info.ID)
	c.book.open(info.ID, fmt.Sprintf("%s in %s", info.Agent, info.Folder))
	if info.Posture.Sentence != "" {
		if log := c.book.of(info.ID); log != nil {
			log.Note("Posture", info.Posture.Sentence)
		}
	}
	return info.ID, true, nil
}
