package bridge

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

// Bounds of a turn's end.
const (
	closeTime  = 60 * time.Second // the comparison and the receipt, without the checks
	maxChanges = 1000             // in a TurnResult
)

// closeTurn puts the end of a turn on the record: it brings what the agent wrote
// past us into open documents, compares, tells, checks, and writes the receipt.
// Nothing of the turn writes any more; a bridge that is closing waits for it.
//
// prompt is the context of Prompt: only the checks end with it.
func (s *session) closeTurn(prompt context.Context, t *turn, end ending) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(prompt), closeTime+s.config.Checkpoint.Limit())
	defer cancel()
	on := t.record.on.Load()
	if on == nil {
		s.tellDirect(ctx, t)
		s.tellPlanted(ctx, t)
		return
	}
	// First, so that what open documents hold then is what the turn left.
	s.b.Refresh(ctx)
	changes, err := on.Compare(ctx, turns.Declared{Paths: t.touched.declared(s.folder), Placeholders: s.placeholders()}, s.dirty(ctx))
	covered := err == nil && t.record.uncovered() == ""
	switch {
	case t.record.uncovered() != "": // as it was told before; nothing was compared
		s.tellDirect(ctx, t)
	case err != nil:
		s.b.Log.Error("comparing a turn", "session", s.id, "turn", t.id, "err", err)
		s.notice(Notice{
			Kind: NoticeUncovered, Level: Warning, Turn: t.id,
			Text: "what this turn changed could not be compared, so it cannot be taken back: " + err.Error(),
		})
		s.tellDirect(ctx, t)
	default:
		s.tellCompared(ctx, t, changes)
	}
	s.tellTurn(t, changes, covered)
	s.tellPlanted(ctx, t)
	var verdicts []receipt.Verdict
	if undoable(changes) || !covered && t.touched.changed() {
		verdicts = s.check(prompt, t, end)
	}
	last, cancelLast := context.WithTimeout(context.WithoutCancel(prompt), closeTime) // the checks may have taken long
	defer cancelLast()
	r, err := on.End(last, end.receipt(s.b.life.ctx.Err() != nil), tokensOf(end.result.Usage), verdicts)
	if err != nil {
		s.b.Log.Error("writing a receipt", "session", s.id, "turn", t.id, "err", err)
		s.notice(Notice{Kind: NoticeUncovered, Level: Problem, Turn: t.id, Text: "the receipt of this turn could not be written: " + err.Error()})
	}
	if r != nil && err == nil {
		verdicts = r.Verifier
	}
	end.result.Changes = changes[:min(len(changes), maxChanges)]
	end.result.Changed = len(changes)
	end.result.Undoable = covered && err == nil && undoable(changes)
	end.result.Verifier = verdicts
}

// ending is how a turn ended: what its prompt returns.
type ending struct {
	result    *TurnResult
	err       error
	cancelled bool
}

// receipt is the end as the receipt has it, without a word of the agent's.
func (e *ending) receipt(closing bool) receipt.End {
	out := receipt.End{StopReason: oneLine(string(e.result.StopReason)), AgentStopReason: oneLine(string(e.result.AgentSaid))}
	if e.err != nil {
		out.Error = oneLine(loggable(e.err))
	}
	if closing && e.err == nil && e.result.StopReason == "cancelled" {
		out.Error = "Sallyport was closed"
	}
	return out
}

// undoable reports whether there is something of the agent's to take back.
func undoable(changes []receipt.Change) bool {
	for _, c := range changes {
		if c.By != receipt.ByUser {
			return true
		}
	}
	return false
}

// pathOf is a changed path as the system has it.
func pathOf(c receipt.Change) string { return filepath.Join(c.Root, filepath.FromSlash(c.Path)) }

// tellCompared tells what the agent wrote past us, by the comparison rather than
// by its word, and brings it into open documents.
func (s *session) tellCompared(ctx context.Context, t *turn, changes []receipt.Change) {
	var own, silent []string
	for _, c := range changes {
		switch c.By {
		case receipt.ByDeclared:
			own = append(own, pathOf(c))
		case receipt.BySilent:
			silent = append(silent, pathOf(c))
		}
	}
	_, reads := t.touched.direct(s.folder)
	s.tellPast(ctx, t, pastUs{declared: own, silent: silent, reads: reads, seen: true})
}

// tellTurn says what the turn changed, and how to take it back.
func (s *session) tellTurn(t *turn, changes []receipt.Change, covered bool) {
	var paths, unsure []string
	for _, c := range changes {
		switch c.By {
		case receipt.ByUser:
		case receipt.ByUnsure:
			unsure = append(unsure, pathOf(c))
		default:
			paths = append(paths, pathOf(c))
		}
	}
	// A file can have changed twice: its text by the agent, its mode by who knows.
	paths = slices.Compact(paths)
	unsure = slices.DeleteFunc(slices.Compact(unsure), func(path string) bool { return slices.Contains(paths, path) })
	if len(paths)+len(unsure) == 0 {
		return
	}
	n := Notice{Kind: NoticeTurn, Level: Plain, Turn: t.id, Paths: append(paths[:len(paths):len(paths)], unsure...)}
	switch {
	case len(paths) == 0:
		n.Text = "during this turn " + s.list(unsure) + " changed, perhaps not by " + s.harness.Name
	default:
		n.Text = "this turn changed " + s.list(paths)
		if len(unsure) > 0 {
			n.Text += "; perhaps also " + s.list(unsure)
		}
	}
	n.Hint = "it cannot be taken back"
	if covered {
		n.Hint = "take it back: sallyport undo " + t.id
	}
	s.notice(n)
}

// settled waits until nothing of an agent that ended by itself is left: what it
// wrote last belongs to the turn.
func (a *agent) settled(err error) {
	var gone *GoneError
	if !errors.As(err, &gone) {
		return
	}
	timer := time.NewTimer(2 * stopGrace)
	defer timer.Stop()
	select {
	case <-a.span.ended:
	case <-timer.C:
	}
}
