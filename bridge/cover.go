package bridge

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sallyport/bridge/permit"
	"sallyport/bridge/quirk"
	"sallyport/workspace"
	"sallyport/workspace/checkpoint"
	"sallyport/workspace/config"
	"sallyport/workspace/receipt"
	"sallyport/workspace/text"
	"sallyport/workspace/turns"
)

// slowCover is how long a checkpoint takes before the user is told of it.
const slowCover = 2 * time.Second

// cover takes the checkpoint before a turn and begins its record. What cannot be
// covered is told, and stops nothing: only ctx's end does.
func (s *session) cover(ctx context.Context, a *agent, t *turn) error {
	defer close(t.record.begun)
	t.record.echoes = a.quirks.Has(quirk.EchoWrites)
	if s.b.Turns == nil {
		t.record.none = "turns are not kept here"
		if s.b.NoTurns != nil {
			t.record.none = s.b.NoTurns.Error()
			s.uncovered(t, t.record.none)
		}
		return nil
	}
	slow := time.AfterFunc(slowCover, func() {
		s.notice(Notice{Kind: NoticeStarting, Level: Plain, Turn: t.id, Text: "taking a copy of the project, so that the turn can be taken back"})
	})
	defer slow.Stop()
	on, err := s.b.Turns.Begin(ctx, turns.Start{
		Turn: t.id, Session: s.id, Folder: s.folder, Roots: s.folders()[1:],
		Agent: s.agentOf(a), Held: s.held(), Documents: s.dirty(ctx), Options: CheckpointOptions(s.config.Checkpoint),
		Placeholders: s.placeholders(),
	})
	switch {
	case ctx.Err() != nil:
		if on != nil { // begun in the last moment: it ends as any other
			t.record.on.Store(on)
		}
		t.record.none = "it was cancelled before it began"
		return ctx.Err()
	case err != nil:
		t.record.none = "it could not be put on the record"
		s.b.Log.Error("beginning the record of a turn", "session", s.id, "err", err)
		s.uncovered(t, err.Error())
		return nil
	}
	t.record.none = on.Uncovered()
	t.record.on.Store(on)
	for _, m := range s.ground.taint.Marks() {
		on.Taint(taintOf(m))
	}
	if t.record.none != "" {
		s.uncovered(t, t.record.none)
		return nil
	}
	s.setCover(t, s.tellLeftOut(t, on.LeftOut()))
	return nil
}

// uncovered says that a turn cannot be taken back.
func (s *session) uncovered(t *turn, why string) {
	s.setCover(t, nothing)
	s.notice(Notice{
		Kind: NoticeUncovered, Level: Warning, Turn: t.id,
		Text: "no undo for this turn: " + why,
		Hint: "keep a copy of your own before you let the agent go on",
	})
}

// tellLeftOut says what the checkpoint does not hold, once a session unless that
// changes. What the user left out by name, or a .gitignore, is no news.
func (s *session) tellLeftOut(t *turn, skipped []checkpoint.Skipped) cover {
	var news []checkpoint.Skipped
	for _, k := range skipped {
		if k.Reason != checkpoint.Ignored && k.Reason != checkpoint.Own {
			news = append(news, k)
		}
	}
	var b strings.Builder
	var paths []string
	for _, k := range news {
		fmt.Fprintf(&b, "%s\x00%s\x00%d\n", k.Root, k.Path, k.Reason)
		paths = append(paths, filepath.Join(k.Root, filepath.FromSlash(k.Path)))
	}
	seen := text.Hash(b.String())
	s.state.mu.Lock()
	same := s.state.memory.copied.leftOut == seen
	s.state.memory.copied.leftOut = seen
	s.state.mu.Unlock()
	switch {
	case len(skipped) == 0:
		return whole
	case len(news) == 0 || same:
		return partly
	}
	s.notice(Notice{
		Kind: NoticeUncovered, Level: Plain, Turn: t.id, Paths: paths,
		Text: "an undo of this turn does not cover " + s.list(paths) + " (" + reasons(news) + ")",
	})
	return partly
}

// reasons names why things are left out, each reason once.
func reasons(skipped []checkpoint.Skipped) string {
	var all []string
	for _, k := range skipped {
		if r := k.Reason.String(); !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return strings.Join(all, ", ")
}

// agentOf is the agent as the receipt names it.
func (s *session) agentOf(a *agent) *receipt.Agent {
	return &receipt.Agent{
		ID: s.harness.ID, Name: oneLine(s.harness.Name),
		Version: oneLine(strings.TrimSpace(a.hello.AgentInfo.Name + " " + a.hello.AgentInfo.Version)), Program: a.kernel.program,
	}
}

// held is what the turn is held to, as far as it is known at its start.
func (s *session) held() receipt.Held {
	s.state.mu.Lock()
	posture, mode := s.withChecks(s.postureLocked()), s.state.mode
	s.state.mu.Unlock()
	_, environment := s.b.environ(s.harness)
	names := slices.Clone(environment.Set)
	slices.Sort(names)
	policy := s.config.Permissions.Policy
	if policy == "" {
		policy = config.PolicyAsk
	}
	return receipt.Held{Posture: postureOf(posture), Environment: names, Mode: string(mode), Policy: string(policy)}
}

// unsavedTime is how long a client that has to be asked may take to tell unsaved texts.
const unsavedTime = 5 * time.Second

// dirty are the unsaved texts of the session's folders, as far as they are known.
func (s *session) dirty(ctx context.Context) []turns.Buffer {
	var docs []workspace.Document
	switch editor := s.ground.files.Editor.(type) {
	case interface{ Dirty() []workspace.Document }:
		docs = editor.Dirty()
	case interface {
		Unsaved(context.Context) []workspace.Document
	}:
		ctx, cancel := context.WithTimeout(ctx, unsavedTime)
		defer cancel()
		docs = editor.Unsaved(ctx)
	}
	var all []turns.Buffer
	for _, doc := range docs {
		if !doc.Untitled() && s.owns(doc.Path) {
			all = append(all, turns.Buffer{Path: doc.Path, Text: doc.Text})
		}
	}
	return all
}

// CheckpointOptions are the settings of checkpoints as package checkpoint has
// them.
func CheckpointOptions(c config.Checkpoint) checkpoint.Options {
	o := checkpoint.Options{LeaveOut: c.LeaveOut, MaxFile: c.MaxFile(), Limit: c.Limit(), Wide: c.Wide}
	switch c.Ignored {
	case config.IgnoredAll:
		o.Ignored = checkpoint.IgnoredAll
	case config.IgnoredNone:
		o.Ignored = checkpoint.IgnoredNone
	default:
		o.Ignored = checkpoint.IgnoredSmall
	}
	return o
}

// notCovered says why nothing is granted by policy record to a card.
func (s *session) notCovered(c *permit.Card) string {
	t := s.recording()
	if t == nil || t.id != c.Turn {
		return "its turn is over"
	}
	return t.record.uncovered()
}
