package escape

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// loss is something that the user does while an agent runs.
type loss struct {
	name string
	does func(*scene)
	told string // below projects; "" when nothing is lost
}

// script is done by the user in the session's folder.
func script(text string) func(*scene) { return func(s *scene) { s.do(text) } }

var losses = []loss{
	{"a file is replaced", script("echo new > .envrc.tmp; mv .envrc.tmp .envrc"), "pub/.envrc"},
	{"a file is changed in place", script("echo new >> .envrc"), ""},
	{"a file in a closed folder is replaced", script("echo {} > .vscode/t; mv .vscode/t .vscode/settings.json"), ""},
	{"git's configuration is changed", script("git config user.name Another"), "pub/.git/config"},
	{"the folder of hooks is made anew", script("rm -rf .git/hooks; mkdir .git/hooks"), "pub/.git/hooks"},
	{"an editor's folder is made anew", script("rm -rf .vscode; mkdir .vscode"), "pub/.vscode"},
	{"a private project is made anew", script("rm -rf ../secret; mkdir ../secret; echo TOPSECRET > ../secret/key.txt"), "secret"},
	{"a private project is renamed", script("mv ../secret ../secret2"), ""},
	{"a private project is changed", script("echo more > ../secret/more"), ""},
	{"a private project is mounted elsewhere", aliased, "alias"},
	{"a disk is mounted", mountDisk, "mnt"},
	{"a disk is mounted in the region", func(s *scene) {
		s.as("mkdir", s.pub("mnt"))
		s.mount("tmpfs", s.pub("mnt"), "tmpfs", 0)
	}, ""},
	{"a reserved file is made", script("echo {} > .mcp.json"), "pub/.mcp.json"},
	{"the user commits", script("echo x > x; git add x; git commit -qm x"), ""},
}

// mountDisk mounts a file system outside the region.
func mountDisk(s *scene) {
	s.as("mkdir", s.projects("mnt"))
	s.mount("tmpfs", s.projects("mnt"), "tmpfs", 0)
}

// lateness is how much later than promised a busy machine may notice.
const lateness = time.Second

// TestLostMasks: what the user does to a path that is held is noticed within a
// second, and what costs nothing is not.
func TestLostMasks(t *testing.T) {
	for _, l := range losses {
		for _, u := range users() {
			t.Run(l.name+"/"+u.name, func(t *testing.T) {
				mounts := strings.Contains(l.name, "mounted")
				switch {
				case !mounts:
					t.Parallel()
				case !ground.mounts:
					t.Skip(cannotMount("", u))
				}
				missing(t, bubblewrap)
				playLoss(t, l, u)
			})
		}
	}
}

func playLoss(t *testing.T, l loss, u user) {
	var done time.Time
	r := row{id: "l" + string(rune('a'+slices.IndexFunc(losses, func(o loss) bool { return o.name == l.name }))), sh: ready, staging: staging{tells: true}}
	r.meanwhile = func(s *scene) {
		l.does(s)
		done = time.Now()
	}
	s := newScene(t, r, bubblewrap, u)
	s.play()
	if l.told == "" {
		for _, path := range s.result.Told {
			if strings.HasPrefix(path, s.dir+"/") { // others' mounts are told, too
				t.Errorf("told of %s, want nothing", path)
			}
		}
		return
	}
	i := slices.Index(s.result.Told, s.projects(l.told))
	if i < 0 {
		t.Fatalf("told of %q, want %s: %s", s.result.Told, s.projects(l.told), s.result)
	}
	if after := time.Unix(0, s.result.ToldAt[i]).Sub(done); after > noticed+lateness {
		t.Errorf("told after %v, want %v at most", after, noticed)
	}
}
