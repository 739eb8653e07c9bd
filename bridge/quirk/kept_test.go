package quirk

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestKept(t *testing.T) {
	home := t.TempDir()
	chats := filepath.Join(home, ".gemini", "tmp", "project", "chats")
	if err := os.MkdirAll(chats, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"session-2026-11-30T18-00-9aaeff99.jsonl", "session-2026-11-30T17-00-77777777.jsonl", "session-2026-11-30T17-20-77777777.jsonl"} {
		if err := os.WriteFile(filepath.Join(chats, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const once, twice = "9aaeff99-da10-4ab3-b79f-ad87094920dd", "77777777-da10-4ab3-b79f-ad87094920dd"
	at := func(clock string) time.Time {
		now, err := time.Parse(time.RFC3339, clock)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	for _, test := range []struct {
		name, home, id string
		now            time.Time
		wait           time.Duration
		spoilt         bool
	}{
		{"in its minute", home, once, at("2026-11-30T18:00:50Z"), 10*time.Second + margin, false},
		{"by another clock", home, once, at("2026-11-30T19:00:50+01:00"), 10*time.Second + margin, false},
		{"in the next minute", home, once, at("2026-11-30T18:01:00Z"), 0, false},
		{"loaded before", home, twice, at("2026-11-30T18:00:50Z"), 0, true},
		{"another session", home, "14d6b97a-1708-494d", at("2026-11-30T18:00:50Z"), 0, false},
		{"a short id", home, "9aae", at("2026-11-30T18:00:50Z"), 0, false},
		{"nothing kept", t.TempDir(), once, at("2026-11-30T18:00:50Z"), 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			wait, spoilt := Kept(test.home, test.id, test.now)
			if wait != test.wait || spoilt != test.spoilt {
				t.Errorf("got %v, %t; want %v, %t", wait, spoilt, test.wait, test.spoilt)
			}
		})
	}
}
