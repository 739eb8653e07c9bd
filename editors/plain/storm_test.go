package plain

import (
	"strings"
	"testing"
)

// TestTypingStorm has an agent write while keys come faster than a person
// types: no key is lost, and the write is there too.
func TestTypingStorm(t *testing.T) {
	const keys = 150
	typed := strings.Repeat("abcdefghij", keys/10)
	storm := func(s *terminal) {
		for i, key := range typed {
			if i == keys/3 {
				s.put("go.txt", "go")
			}
			s.keys("-l", string(key))
		}
		s.keys("Escape")
	}
	for _, version := range neovims {
		t.Run("Neovim "+version, func(t *testing.T) {
			t.Parallel()
			s := openNeovim(t, version, "one\ntwo\nthree\n")
			s.keys(":Mode acceptEdits", "Enter")
			s.shows("the mode", `mode acceptEdits`)
			s.keys(":Ask please-wait", "Enter")
			s.comes("ready.txt")
			s.keys("G", "o")
			storm(s)
			s.shows("the end", `progress: none`)
			s.shows("all of it", `(?s)one\nTWO\nthree\n`+typed+`\n`)
			s.wrote()
			s.keys(":qa!", "Enter")
		})
	}
	t.Run("Helix", func(t *testing.T) {
		t.Parallel()
		s := openHelix(t, "one\ntwo\nthree\n")
		s.says("please-wait")
		s.pick(`Ask the agent about this selection`, 0)
		s.comes("ready.txt")
		s.keys("g", "g", "O")
		storm(s)
		if !until(screenDeadline, func() bool { return strings.Contains(s.conversations(), "Permission asked") }) {
			t.Fatal("the write was not asked about") // the message went with the next key
		}
		s.shows("normal mode", `NOR`)
		s.pick(`Allow`, 0)
		s.shows("all of it", `(?s)1  `+typed+`\n +2  one\n +3  TWO\n +4  three`)
		s.wrote()
		s.keys(":qa!", "Enter")
	})
}

// wrote waits until the conversation says that the agent's write was done.
func (s *terminal) wrote() {
	s.Helper()
	if !until(screenDeadline, func() bool { return strings.Contains(s.conversations(), "The write said: ()") }) {
		s.Errorf("the write was refused:\n%s", s.conversations())
	}
}
