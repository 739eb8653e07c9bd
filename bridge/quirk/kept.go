package quirk

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Kept looks at what an agent with [LoadSameMinute] keeps of a conversation,
// before session/load asks it for it: how long to wait, and whether the load
// would lose the conversation whenever it came. home is the agent's home
// folder, id its session's.
//
// gemini-cli 0.61.0 names a conversation's file by the clock minute (UTC) and by
// the first eight characters of the id, and makes another one when it loads the
// conversation. A load in the minute of the file begins that file anew, and
// fails. A load while there are two files takes the empty one for the
// conversation, removes the other, and fails. Both were seen end to end.
func Kept(home, id string, now time.Time) (wait time.Duration, spoilt bool) {
	const short = 8
	minute := now.UTC().Truncate(time.Minute)
	start, end := "session-"+minute.Format("2006-01-02T15-04")+"-", "-"+id[:min(short, len(id))]+".jsonl"
	projects := filepath.Join(home, ".gemini", "tmp")
	folders, err := os.ReadDir(projects)
	if err != nil {
		return 0, false // it has kept nothing, or keeps it elsewhere
	}
	files := 0
	for _, f := range folders {
		chats, err := os.ReadDir(filepath.Join(projects, f.Name(), "chats"))
		if err != nil {
			continue // not a project
		}
		for _, c := range chats {
			if !strings.HasSuffix(c.Name(), end) {
				continue
			}
			files++
			if strings.HasPrefix(c.Name(), start) {
				wait = minute.Add(time.Minute + margin).Sub(now)
			}
		}
	}
	return wait, files > 1
}

// margin is how far two looks at the clock may be apart.
const margin = 500 * time.Millisecond
