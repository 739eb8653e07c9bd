package bridge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sallyport/bridge/permit"
	"sallyport/bridge/quirk"
	"sallyport/plugins/harness"
)

// postureLocked is what holds for the session now. It comes from what the
// manifest says was seen of this agent and from what this session has seen; it
// never comes from what we wish.
func (s *session) postureLocked() Posture {
	p := PostureOf(s.harness)
	if s.state.memory.past.reads {
		p.Reads = Observed
	}
	if s.state.memory.past.writes && p.Writes != Observed {
		p.Writes = Observed
		p.Sentence = sentence(s.harness, p)
	}
	if s.state.mode == permit.Bypass {
		p.Sentence += "; mode bypassPermissions: nothing is asked"
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
	p.Sentence = sentence(h, p)
	return p
}

func sentence(h *harness.Harness, p Posture) string {
	var parts []string
	switch {
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
	if h.Own.Reach.Commands == "none" {
		parts = append(parts, "it runs no commands")
	} else {
		parts = append(parts, "a command it runs can read and write past every fence")
	}
	return strings.Join(parts, "; ")
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

// modeChanged takes in the agent's word that its mode is another now. One that
// stops its asking and that nobody here set is told to the user.
func (s *session) modeChanged(agentMode string) {
	if agentMode == "" {
		return
	}
	s.state.mu.Lock()
	ours := s.harness.ACP.Switches.Modes[string(s.state.mode)]
	known := agentMode == ours || agentMode == s.state.memory.agentMode
	s.state.memory.agentMode = agentMode
	s.state.mu.Unlock()
	if known || !quirk.Loosens(s.harness.ID, agentMode) {
		return
	}
	s.recordAlarm(fmt.Sprintf("the agent switched itself to mode %q, in which it asks less", agentMode))
	s.caused(Notice{
		Kind: NoticePosture, Level: Warning,
		Text: fmt.Sprintf("%s switched itself to mode %q, in which it asks less", s.harness.Name, agentMode),
		Hint: fmt.Sprintf("set the mode again to put it back (now: %s)", s.currentMode()),
	})
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
