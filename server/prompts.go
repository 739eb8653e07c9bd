package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
	"sallyport/server/conversation"
	"sallyport/server/wire"
)

// prompts knows the prompts under way, so that a cancel reaches one that was
// sent just before it, on another goroutine.
type prompts struct {
	mu   sync.Mutex
	open map[string][]*turn // by session
}

// turn is one prompt under way.
type turn struct{ cancel context.CancelCauseFunc }

func newPrompts() *prompts { return &prompts{open: map[string][]*turn{}} }

func (p *prompts) add(session string, own *turn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[session] = append(p.open[session], own)
}

func (p *prompts) remove(session string, own *turn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[session] = slices.DeleteFunc(p.open[session], func(x *turn) bool { return x == own })
	if len(p.open[session]) == 0 {
		delete(p.open, session)
	}
}

// cancel ends the prompts of a session that are under way, and reports whether
// there were any.
func (p *prompts) cancel(session string) bool {
	p.mu.Lock()
	own := slices.Clone(p.open[session])
	p.mu.Unlock()
	for _, x := range own {
		x.cancel(errByCancel)
	}
	return len(own) > 0
}

// prompt is sallyport/session/prompt. The turn is known before the next
// message is read.
func prompt(c *client, m *rpc.Message) {
	p := new(wire.PromptParams)
	err := decode(wire.MethodPrompt, m.Params, p)
	if err == nil {
		err = checkPrompt(p)
	}
	if err != nil {
		c.refuse(m.ID, err)
		return
	}
	id := m.ID
	ctx, cancel := context.WithCancelCause(c.tasks.ctx)
	own := &turn{cancel}
	c.prompts.add(p.Session, own)
	started := c.spawn(id, func(byClient context.Context) {
		defer c.prompts.remove(p.Session, own)
		defer cancel(nil)
		defer context.AfterFunc(byClient, func() { cancel(context.Cause(byClient)) })()
		result, err := c.prompt(ctx, p)
		c.reply(ctx, id, result, err)
	})
	if !started {
		c.prompts.remove(p.Session, own)
		cancel(nil)
	}
}

func checkPrompt(p *wire.PromptParams) error {
	if err := need(wire.MethodPrompt, "sessionId", p.Session); err != nil {
		return err
	}
	if len(p.Prompt) == 0 {
		return badParams(wire.MethodPrompt, "/prompt", "at least one content block is needed")
	}
	for _, b := range p.Prompt {
		if b.Kind() != '{' {
			return badParams(wire.MethodPrompt, "/prompt", "a content block is an object")
		}
	}
	return nil
}

func (c *client) prompt(ctx context.Context, p *wire.PromptParams) (any, error) {
	blocks := p.Prompt
	if p.Context {
		blocks = append(blocks, c.contextBlocks(ctx, p.Session)...)
	}
	return c.runTurn(ctx, p.Session, blocks)
}

// runTurn is one prompt. One that was cancelled before it reached the agent,
// by whoever has the right to, ended as cancelled and not with an error.
func (c *client) runTurn(ctx context.Context, session string, blocks []rpc.RawJSON) (bridge.TurnResult, error) {
	r, err := c.sessions.Prompt(ctx, session, blocks)
	ended := errors.Is(err, context.Canceled) || errors.Is(err, errByCancel)
	if ended && errors.Is(context.Cause(ctx), errByCancel) {
		return bridge.TurnResult{StopReason: "cancelled"}, nil
	}
	c.standing.forget()
	if log := c.book.of(session); log != nil && err == nil {
		noteTurn(log, r)
	}
	return r, err
}

// noteTurn writes what the record says of a turn into its conversation.
func noteTurn(log *conversation.Log, r bridge.TurnResult) {
	for _, v := range r.Verifier {
		words := v.Name + ": " + v.Outcome
		if v.Why != "" {
			words += ", " + v.Why
		}
		log.Note("Check", words)
	}
	if r.Changed == 0 {
		return
	}
	items := changeItems(r.Changes)
	if more := r.Changed - len(r.Changes); more > 0 {
		items = append(items, conversation.Item{Name: "…", Note: fmt.Sprintf("and %d more", more)})
	}
	log.Items("Changed by turn "+r.Turn, items)
	if r.Undoable {
		log.Note("Undo", "sallyport undo "+r.Turn)
	}
}

// cancelTurn is sallyport/session/cancel, which editors send as a notification
// or, some, as a request: that is answered and cancels no less (K9).
func cancelTurn(c *client, m *rpc.Message) {
	p := new(wire.SessionParams)
	if err := decode(wire.MethodCancel, m.Params, p); err != nil {
		c.refuse(m.ID, err)
		return
	}
	if c.prompts.cancel(p.Session) {
		c.reply(c.tasks.ctx, m.ID, wire.Empty{}, nil)
		return
	}
	id := m.ID
	c.spawn(id, func(ctx context.Context) {
		err := c.sessions.Cancel(ctx, p.Session)
		c.reply(ctx, id, wire.Empty{}, err)
	})
}
