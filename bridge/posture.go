package bridge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sallyport/bridge/permit"
	"sallyport/bridge/sandbox"
	"sallyport/plugins/harness"
	"sallyport/workspace/text"
)

// postureLocked is what holds for the session now. It comes from what its
// agent's fence was seen to hold, from what the manifest says was seen of this
// agent, and from what this session has seen; it never comes from what we wish.
func (s *session) postureLocked() Posture {
	report := s.state.memory.kernel.report()
	p := postureIn(s.harness, report)
	if s.state.memory.past.reads && p.Reads != Enforced {
		p.Reads = Observed
	}
	if s.state.memory.past.writes && p.Writes == Mediated {
		p.Writes = Observed
		p.Sentence = sentence(s.harness, p, report)
	}
	if s.b.passesTerminals(s.config) {
		p.Commands = Observed
		p.Sentence += "; commands in the client's terminals are asked about, and run outside of every fence"
	}
	if s.state.mode == permit.Bypass {
		p.Sentence += "; mode bypassPermissions: nothing is asked"
	}
	switch mode, own := text.Visible(s.state.memory.own.said), s.harness.ACP.Switches.Modes; {
	case s.looseLocked() != "":
		p.Sentence += fmt.Sprintf("; it switched itself to its mode %q, in which it asks less", mode)
	case len(own) > 0 && mode != own[string(s.state.mode)] && s.asksLess(mode):
		p.Sentence += fmt.Sprintf("; it is in its mode %q, in which it asks less", mode)
	}
	return p
}

// PostureOf is the posture with which a session of a harness begins: without
// kernel fences, so nothing is enforced.
func PostureOf(h *harness.Harness) Posture {
	p := Posture{Reads: Observed, Writes: Observed, Commands: Observed}
	if h.Own.Reach.Reads == "mediated" {
		p.Reads = Mediated
	}
	if h.Own.Reach.Writes == "mediated" {
		p.Writes = Mediated
	}
	p.Sentence = sentence(h, p, nil)
	return p
}

// postureIn is the posture of a harness whose agent runs in a fence; nil: that
// is not known.
func postureIn(h *harness.Harness, r *sandbox.Report) Posture {
	p := PostureOf(h)
	if r == nil {
		return p
	}
	p.Kernel = string(r.Level)
	if r.Reads {
		p.Reads = Enforced
	}
	if r.Writes && r.Reserved {
		p.Writes = Enforced
	}
	if p.Reads == Enforced && p.Writes == Enforced {
		p.Commands = Enforced
	}
	p.Sentence = sentence(h, p, r)
	return p
}

func sentence(h *harness.Harness, p Posture, r *sandbox.Report) string {
	parts := kernelWords(p, r)
	switch {
	case p.Writes == Enforced:
	case p.Writes == Mediated:
		parts = append(parts, "edits pass through Sallyport and its fences")
	case h.Own.Reach.Writes == "":
		parts = append(parts, "what "+h.Name+" does with tools of its own has never been seen: fences hold only for what it asks")
	default:
		parts = append(parts, h.Name+" writes files itself: fences hold only for what it asks")
	}
	switch h.Own.Reach.Edits {
	case "always":
		parts = append(parts, "it asks before an edit")
	case "never":
		parts = append(parts, "it does not ask before an edit")
	}
	switch h.Own.Reach.Commands {
	case "always":
		parts = append(parts, "it asks before a command")
	case "writing":
		parts = append(parts, "it asks before a command that it takes for a writing one")
	case "sandbox":
		parts = append(parts, "it runs commands unasked in a sandbox of its own")
	case "never":
		parts = append(parts, "it does not ask before a command")
	}
	switch {
	case h.Own.Reach.Commands == "none":
		parts = append(parts, "it runs no commands")
	case p.Commands == Enforced:
		parts = append(parts, "a command it runs is inside the same fences")
	case r != nil && r.Level != sandbox.Nothing:
		parts = append(parts, "a command it runs is held no better")
	default:
		parts = append(parts, "a command it runs can read and write past every fence")
	}
	return strings.Join(append(parts, gapWords(r)...), "; ")
}

// kernelWords say what the kernel holds.
func kernelWords(p Posture, r *sandbox.Report) []string {
	switch {
	case r == nil:
		return nil
	case p.Reads == Enforced && p.Writes == Enforced:
		return []string{fmt.Sprintf("the kernel (%s) refuses writes outside the region and to reserved files, and reads of private projects and of secrets here and in your home", r.Backend)}
	case p.Reads == Enforced && r.Writes:
		return []string{fmt.Sprintf("the kernel (%s) refuses writes outside the region and reads of private projects and of secrets in your home, with gaps", r.Backend)}
	case p.Reads == Enforced:
		return []string{fmt.Sprintf("the kernel (%s) refuses reads of private projects and of secrets in your home", r.Backend)}
	case r.Writes:
		return []string{fmt.Sprintf("the kernel (%s) refuses writes outside the region", r.Backend)}
	case r.Why != "":
		return []string{"the kernel holds nothing: " + r.Why}
	default:
		return []string{"the kernel holds nothing"}
	}
}

// gapWords name what the kernel does not hold.
func gapWords(r *sandbox.Report) []string {
	if r == nil || r.Level == sandbox.Nothing {
		return nil
	}
	var out []string
	if len(r.Gaps) > 0 {
		out = append(out, "not held: "+strings.Join(r.Gaps, ", "))
	}
	switch r.Network {
	case sandbox.NetworkOff:
		return append(out, "it has no network")
	case sandbox.NetworkLoopback:
		return append(out, "it has a loopback of its own and no other network")
	default:
		return append(out, "the network is not fenced")
	}
}

// lowerPosture notes that the agent works past us, and says so when that was not
// known.
func (s *session) lowerPosture(seen past) {
	s.state.mu.Lock()
	was := s.postureLocked()
	s.state.memory.past.reads = s.state.memory.past.reads || seen.reads
	s.state.memory.past.writes = s.state.memory.past.writes || seen.writes
	now := s.postureLocked()
	s.state.mu.Unlock()
	if was != now {
		s.recordPosture(now)
		s.notice(Notice{Kind: NoticePosture, Level: Warning, Text: "posture is lower now: " + now.Sentence})
	}
}

// agentConfig lists an agent's own settings, which it may not write: those of
// the user's home as absolute paths, those of the project relative to it.
func agentConfig(h *harness.Harness) []string {
	home, err := os.UserHomeDir()
	var all []string
	for _, path := range h.Own.Footprint.Settings {
		rest, inHome := strings.CutPrefix(path, "~/")
		switch {
		case inHome && err == nil:
			all = append(all, filepath.Join(home, filepath.FromSlash(rest)))
		case inHome || strings.HasPrefix(path, "$"):
		default:
			all = append(all, filepath.FromSlash(path))
		}
	}
	return all
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
