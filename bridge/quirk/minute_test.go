package quirk

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestLoadWait(t *testing.T) {
	home := t.TempDir()
	chats := filepath.Join(home, ".gemini", "tmp", "project", "chats")
	if err := os.MkdirAll(chats, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(chats, "session-2026-11-30T18-00-9aaeff99.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const id = "9aaeff99-da10-4ab3-b79f-ad87094920dd"
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
		want           time.Duration
	}{
		{"in its minute", home, id, at("2026-11-30T18:00:50Z"), 10*time.Second + margin},
		{"by another clock", home, id, at("2026-11-30T19:00:50+01:00"), 10*time.Second + margin},
		{"in the next minute", home, id, at("2026-11-30T18:01:00Z"), 0},
		{"another session", home, "14d6b97a-1708-494d", at("2026-11-30T18:00:50Z"), 0},
		{"a short id", home, "9aae", at("2026-11-30T18:00:50Z"), 10*time.Second + margin},
		{"nothing kept", t.TempDir(), id, at("2026-11-30T18:00:50Z"), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := LoadWait(test.home, test.id, test.now); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
