package bridge

import (
	"strings"

	"sallyport/workspace/text"
)

// Bounds of what one notice says; an agent chooses paths and messages.
const (
	maxNoticeText  = 2 << 10
	maxNoticePaths = 50
)

// notice tells the user something about this session. Nothing in it acts on a
// screen.
func (s *session) notice(n Notice) {
	n.Session = s.id
	if n.Turn == "" {
		n.Turn = s.turnID()
	}
	n.Text = clip(text.Visible(n.Text), maxNoticeText)
	n.Hint = clip(visibleLines(n.Hint), maxNoticeText)
	n.Paths = n.Paths[:min(len(n.Paths), maxNoticePaths)]
	s.flow.mu.Lock()
	if s.flow.hold {
		if len(s.flow.notices) < maxEarly {
			s.flow.notices = append(s.flow.notices, n)
		}
		s.flow.mu.Unlock()
		return
	}
	s.flow.mu.Unlock()
	s.b.Display.Notice(n)
}

// maxTold is how many notices one turn of an agent can cause; the rest is
// counted.
const maxTold = 20

// told counts the notices that the agent caused since the last turn began.
type told struct{ shown, more int }

// caused is notice for what an agent can cause as often as it likes.
func (s *session) caused(n Notice) {
	s.state.mu.Lock()
	t := &s.state.memory.told
	full := t.shown >= maxTold
	if full {
		t.more++
	} else {
		t.shown++
	}
	s.state.mu.Unlock()
	if !full {
		s.notice(n)
	}
}

// tellMore says how many notices were left out, and begins to count anew.
func (s *session) tellMore(turn string) {
	s.state.mu.Lock()
	more := s.state.memory.told.more
	s.state.memory.told = told{}
	s.state.mu.Unlock()
	if more > 0 {
		s.notice(Notice{
			Kind: NoticeRefused, Level: Warning, Turn: turn,
			Text: s.harness.Name + " went on: " + plural(more, "more notice") + " of this kind left out",
		})
	}
}

// notes are refusals to tell the agent before the next prompt.
type notes struct {
	lines []string
	bytes int
	more  int // left out
}

const (
	maxNotes     = 20
	maxNoteBytes = 8 << 10
)

func (n *notes) add(line string) {
	line = clip(line, maxNoteBytes/4)
	if len(n.lines) >= maxNotes || n.bytes+len(line) > maxNoteBytes {
		n.more++
		return
	}
	n.lines = append(n.lines, line)
	n.bytes += len(line)
}

// text is the note as the agent reads it, "" when there is nothing to say.
func (n *notes) text() string {
	if len(n.lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Note from Sallyport on the last turn:\n")
	for _, line := range n.lines {
		b.WriteString("- " + line + "\n")
	}
	if n.more > 0 {
		b.WriteString("- and " + plural(n.more, "more refusal") + "\n")
	}
	return b.String()
}

// clip cuts s to about limit bytes and says so.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "… (cut)"
}

// visibleLines is text.Visible for each line.
func visibleLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = text.Visible(strings.TrimSuffix(line, "\r"))
	}
	return strings.Join(lines, "\n")
}

// lastLines is the end of an agent's stderr, for a person.
func lastLines(stderr string) string {
	const few = 5
	lines := strings.Split(strings.TrimRight(stderr, "\n"), "\n")
	if len(lines) > few {
		lines = lines[len(lines)-few:]
	}
	return strings.Join(lines, "\n")
}
