package bridge

import (
	"fmt"
	"slices"
	"strings"

	"sallyport/bridge/sandbox"
	"sallyport/workspace/config"
)

// report is what is held now; nil for an agent that was never started.
func (k *fenced) report() *sandbox.Report {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.Report
	if k.lost != "" {
		// Which accesses the lost mask stood for is not worth telling apart.
		r.Reads, r.Reserved, r.Level = false, false, sandbox.Partial
		r.Gaps = append([]string{"what was replaced or mounted while the agent ran"}, r.Gaps...)
	}
	return &r
}

// lower notes how a mask was lost, and says whether it is the first.
func (k *fenced) lower(how string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lost != "" {
		return false
	}
	k.lost = how
	return true
}

// lostBy is how the first mask was lost, "" while all stand.
func (k *fenced) lostBy() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lost
}

// watchFence looks after the masks of an agent's fence until it ends.
func (a *agent) watchFence() { a.kernel.Watch(a.span.ctx, a.fenceChanged) }

// unfence takes away what the fence put on disk. The agent is gone.
func (a *agent) unfence() {
	if err := a.kernel.Close(); err != nil {
		a.b.Log.Error("clearing a fence away", "agent", a.harness.ID, "err", err)
	}
}

// fenceChanged is told of masks that were lost, and of reserved files that were
// absent and are there now.
func (a *agent) fenceChanged(events []sandbox.Event) {
	var lost, made, mounted []string
	for _, e := range events {
		switch {
		case e.Mounted:
			mounted = append(mounted, e.Path)
		case e.Lost:
			lost = append(lost, e.Path)
		default:
			made = append(made, e.Path)
		}
	}
	s := a.session.Load()
	if len(made) > 0 && s != nil {
		s.caused(Notice{
			Kind: NoticeDirect, Level: Warning, Paths: made,
			Text: fmt.Sprintf("made while %s ran, by it or by another: %s, which no agent writes through Sallyport", a.harness.Name, strings.Join(made, ", ")),
			Hint: "look at it before a program acts on it",
		})
	}
	if len(lost) > 0 {
		a.fenceLost(lost, "was replaced while "+a.harness.Name+" ran, and is no longer closed to it")
	}
	if len(mounted) > 0 {
		a.fenceLost(mounted, "was mounted while "+a.harness.Name+" ran, and may be open to its writes")
	}
}

// fenceLost lowers the posture. An agent that must be held is ended, and so is
// one that nobody uses: the next one is held anew. Of one that is starting,
// startError tells.
func (a *agent) fenceLost(paths []string, how string) {
	how = strings.Join(paths, ", ") + " " + how
	first := a.kernel.lower(how)
	s := a.session.Load()
	required := a.kernel.asked == config.SandboxRequire
	if s != nil {
		n := Notice{Kind: NoticePosture, Level: Problem, Paths: paths, Text: how, Hint: "close the session and begin another to have it held again"}
		switch {
		case required:
			n.Text += "; a sandbox is required, so " + a.harness.Name + " is ended"
			n.Hint = "the next prompt starts it again, held anew"
		case first:
			s.state.mu.Lock()
			now := s.postureLocked()
			s.state.mu.Unlock()
			s.recordPosture(now)
			n.Text += "; posture is lower now: " + now.Sentence
		}
		s.notice(n)
	}
	if !required && s != nil {
		return
	}
	a.b.spawn(a.stop) // not here: stop waits for who calls this
}

// privateChanged ends or lowers an agent that was started before a project
// became private.
func (a *agent) privateChanged(now []string) {
	if a.kernel.report().Level == sandbox.Nothing {
		return
	}
	var fresh []string
	for _, p := range now {
		if !slices.Contains(a.kernel.private, p) {
			fresh = append(fresh, p)
		}
	}
	if len(fresh) > 0 {
		a.fenceLost(fresh, "became private after "+a.harness.Name+" was started, and is not closed to it")
	}
}
