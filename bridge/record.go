package bridge

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/workspace"
	"sallyport/workspace/fence"
	"sallyport/workspace/receipt"
	"sallyport/workspace/text"
	"sallyport/workspace/turns"
)

// record is what of one turn goes on its receipt. One that was not begun records
// nothing: turns are not kept then.
type record struct {
	on atomic.Pointer[turns.Running]
	// begun is closed when the checkpoint before the turn was taken, or could not
	// be: before that nothing is written and nothing granted.
	begun chan struct{}
	// none says why the turn cannot be taken back, "" when it can; for readers
	// behind begun.
	none string
	// echoes: the agent writes the disk itself, and what it then sends through us
	// is a word about that (quirk write-echo). Set before begun is closed.
	echoes bool

	unwatch func() // ends the watching of the turn's folders; nil: they are not watched. Of Prompt's goroutine

	mu     sync.Mutex
	closed context.CancelFunc // ends the checks that follow the turn; nil before
	over   bool               // the turn was cancelled: no checks begin
}

// await waits until the checkpoint before the turn was dealt with.
func (r *record) await(ctx context.Context) error {
	select {
	case <-r.begun:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// uncovered says why the turn cannot be taken back, "" when it can.
func (r *record) uncovered() string {
	select {
	case <-r.begun:
		return r.none
	default:
		return "its checkpoint is not taken yet"
	}
}

func (r *record) taint(t receipt.Taint) {
	if on := r.on.Load(); on != nil {
		on.Taint(t)
	}
}

func (r *record) alarm(words string) {
	if on := r.on.Load(); on != nil {
		on.Alarm(clip(words, maxRecordedPath))
	}
}

// found notes the text that an open document's file was found with.
func (r *record) found(path, hash string) {
	if on := r.on.Load(); on != nil {
		on.Found(path, hash)
	}
}

func (r *record) posture(p Posture) {
	if on := r.on.Load(); on != nil {
		on.Posture(postureOf(p))
	}
}

func postureOf(p Posture) receipt.Posture {
	return receipt.Posture{Reads: string(p.Reads), Writes: string(p.Writes), Commands: string(p.Commands), Sentence: p.Sentence}
}

// permission notes a settled card.
func (r *record) permission(c *permit.Card, o permit.Outcome) {
	on := r.on.Load()
	if on == nil {
		return
	}
	p := receipt.Permission{
		Asked: receipt.Asked{Call: clip(callID(c), maxRecorded), Tool: c.Request.Tool, Kind: string(c.Request.Kind), Target: clip(text.Visible(targetOf(c)), maxRecorded)},
		Settled: receipt.Settled{
			Outcome: "denied", By: string(o.By), Decider: o.ID, Name: oneLine(o.Name), Why: oneLine(o.Why),
			Option: clip(text.Visible(o.Option), maxRecorded), Rule: o.Rule, DelayMS: o.Delay.Milliseconds(), Time: time.Now().UTC(),
		},
	}
	switch {
	case o.Allowed:
		p.Outcome = "allowed"
	case o.By == permit.ByCancel:
		p.Outcome = "cancelled"
	}
	on.Permission(p)
}

// How much of one text of an agent, and of a path as it spelt it, goes on the
// receipt.
const (
	maxRecorded     = 256
	maxRecordedPath = 4 << 10
)

// oneLine is the first line of a reason, as it may be kept.
func oneLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return clip(text.Visible(line), 2*maxRecorded)
}

func callID(c *permit.Card) string {
	value, _ := rpc.Member(c.Raw, "toolCallId")
	id, _ := rpc.Unquote(value)
	return id
}

// targetOf is what a card is about: never more than the first line of a command,
// behind which a file's content may stand.
func targetOf(c *permit.Card) string {
	switch c.Request.Kind {
	case permit.Command:
		command, _ := inputText(c, "command")
		line, rest, _ := strings.Cut(command, "\n")
		if rest != "" {
			line += " …"
		}
		return line
	case permit.Fetch:
		if address, ok := inputText(c, "url"); ok {
			return address
		}
	case permit.MCP:
		return c.Request.Tool
	}
	if len(c.Paths) > 1 {
		return c.Paths[0] + " and " + plural(len(c.Paths)-1, "more file")
	}
	return strings.Join(c.Paths, "")
}

// access notes a read or a write that passed through us. What a fence refused,
// and what failed otherwise, is noted where it is told.
func (r *record) access(a workspace.Access) {
	on := r.on.Load()
	if on == nil || a.Err != nil {
		return
	}
	if r.echoes && a.Kind == fence.Write && a.Outcome.Saved {
		return // the file was the agent's own doing: it is declared, not mediated
	}
	on.Access(receipt.Access{
		Kind: string(a.Kind), Path: a.Outcome.Path, Source: string(a.Outcome.Source), Before: bareHash(a.Outcome.Before), After: bareHash(a.Outcome.After),
		Merged: a.Outcome.Merged, Created: a.Outcome.Created, Time: time.Now().UTC(),
	})
}

// bareHash is a hash as receipts have it, without the name of its kind.
func bareHash(hash string) string { return strings.TrimPrefix(hash, "sha256:") }

// notApplied notes a write that failed, unless somebody refused or cancelled it.
func (r *record) notApplied(path string, err error) {
	var (
		refusal *fence.Refusal
		settled *settledError
	)
	if errors.As(err, &refusal) || errors.As(err, &settled) || errors.Is(err, errCancelled) || errors.Is(err, context.Canceled) {
		return
	}
	r.alarm("a write to " + text.Visible(path) + " was not applied: " + clause(err))
}

// clause says why a write failed, without a word of what it was.
func clause(err error) string {
	var conflict *workspace.ConflictError
	switch {
	case errors.As(err, &conflict):
		return "the user changed the same lines"
	case errors.Is(err, workspace.ErrReadOnly):
		return "the document is read-only in the editor"
	case errors.Is(err, workspace.ErrNotApplied), errors.Is(err, workspace.ErrStale), errors.Is(err, workspace.ErrClosed):
		return "the editor did not take it"
	case errors.Is(err, workspace.ErrNotSeen):
		return "the editor's text does not show it"
	default:
		return "an error of the disk or the editor"
	}
}

// refusal notes what a fence refused.
func (r *record) refusal(f *fence.Refusal) {
	if on := r.on.Load(); on != nil {
		on.Refusal(receipt.Refusal{Fence: string(f.Fence), Access: string(f.Access), Path: clip(f.Path, maxRecordedPath), Why: oneLine(f.Why), Time: time.Now().UTC()})
	}
}

// beforeWrite takes up a file that the checkpoint left out for want of time.
func (r *record) beforeWrite(ctx context.Context, path string) error {
	if on := r.on.Load(); on != nil {
		return on.BeforeWrite(ctx, path)
	}
	return nil
}

// recording is the turn that is on the record now, also when it was cancelled:
// until its receipt is written.
func (s *session) recording() *turn {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.turns.now
}

func (s *session) recordRefusal(f *fence.Refusal) {
	if t := s.recording(); t != nil {
		t.record.refusal(f)
	}
}

func (s *session) recordAlarm(text string) {
	if t := s.recording(); t != nil {
		t.record.alarm(oneLine(text))
	}
}

// recordPosture notes a posture that is lower from now on.
func (s *session) recordPosture(p Posture) {
	if t := s.recording(); t != nil {
		t.record.posture(s.withChecks(p))
		t.record.alarm("the posture was lowered")
	}
}

// tokensOf reads an agent's usage (ACP, PromptResponse.usage). What it did not
// give is nil, and so is the whole when it gave nothing that can be read.
func tokensOf(usage []byte) *receipt.Tokens {
	var said struct {
		Input       *int64 `json:"inputTokens"`
		Output      *int64 `json:"outputTokens"`
		Thought     *int64 `json:"thoughtTokens"`
		CachedRead  *int64 `json:"cachedReadTokens"`
		CachedWrite *int64 `json:"cachedWriteTokens"`
		Total       *int64 `json:"totalTokens"`
	}
	if len(usage) == 0 || json.Unmarshal(usage, &said) != nil {
		return nil
	}
	counts := []*int64{said.Input, said.Output, said.Thought, said.CachedRead, said.CachedWrite, said.Total}
	if !slices.ContainsFunc(counts, func(n *int64) bool { return n != nil }) || slices.ContainsFunc(counts, func(n *int64) bool { return n != nil && *n < 0 }) {
		return nil
	}
	return &receipt.Tokens{Input: said.Input, Output: said.Output, Thought: said.Thought, CachedRead: said.CachedRead, CachedWrite: said.CachedWrite, Total: said.Total}
}

// cancel ends the checks that follow the turn, and lets none begin.
func (r *record) cancel() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if r.closed != nil {
		r.closed()
	}
}

// checking is the context of the checks that follow the turn: it ends with ctx,
// and when the turn is cancelled.
func (r *record) checking(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = cancel
	if r.over {
		cancel()
	}
	return ctx, cancel
}
