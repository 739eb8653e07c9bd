package quirk

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// LoadWait is how long a conversation has to be left alone before session/load
// asks an agent with [LoadSameMinute] for it; 0: it can be loaded now. home is
// the agent's home folder, id its session's.
//
// gemini-cli 0.61.0 names a conversation's file by the clock minute (UTC) in
// which it was made or loaded and by the first eight characters of the id. A
// load in that minute begins the file anew, fails, and what was said is lost.
//
// That it removes a loaded conversation when it is started the next time, with
// files of its own that it takes for broken, is not kept from it here.
func LoadWait(home, id string, now time.Time) time.Duration {
	const short = 8
	minute := now.UTC().Truncate(time.Minute)
	name := "session-" + minute.Format("2006-01-02T15-04") + "-" + id[:min(short, len(id))]
	projects := filepath.Join(home, ".gemini", "tmp")
	folders, err := os.ReadDir(projects)
	if err != nil {
		return 0 // it has kept nothing, or keeps it elsewhere
	}
	for _, f := range folders {
		chats, err := os.ReadDir(filepath.Join(projects, f.Name(), "chats"))
		if err != nil {
			continue // not a project
		}
		for _, c := range chats {
			if strings.HasPrefix(c.Name(), name) {
				return minute.Add(time.Minute + margin).Sub(now)
			}
		}
	}
	return 0
}

// margin is how far two looks at the clock may be apart.
const margin = 500 * time.Millisecond
