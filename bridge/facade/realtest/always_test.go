package realtest

import (
	"strings"
	"testing"
)

// widens reports whether the agent would make of "always" a mode of its own, in
// which it asks for no edit.
func (s *stage) widens() bool { return s.agent.ID == "gemini" || s.agent.ID == "qwen" }

// switchedNothing: a person has answered "always" for two files. The agent got its
// answer for once, so it stays where it is and asks about the second file, too.
func (s *stage) switchedNothing(t *testing.T, c *goClient, asked int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if asked != 2 {
		t.Errorf("always: asked about %d edits, want both", asked)
	}
	for i, file := range []string{"a.txt", "b.txt"} {
		if i >= len(c.picked) || !strings.HasPrefix(c.picked[i], "Always allow ") || !strings.HasSuffix(c.picked[i], " Edit(./"+file+") in this project") {
			t.Errorf("always: the options say %q", c.picked)
		}
	}
	if len(c.modes) > 0 {
		t.Errorf("always: it switched itself: %q", c.modes)
	}
}
