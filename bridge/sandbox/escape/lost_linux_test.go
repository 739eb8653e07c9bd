package escape

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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
	{"a private project is mounted elsewhere", mountSecret, "alias"},
	{"a reserved file is made", script("echo {} > .mcp.json"), "pub/.mcp.json"},
	{"the user commits", script("echo x > x; git add x; git commit -qm x"), ""},
}

// mountSecret mounts the private project at a second place.
func mountSecret(s *scene) {
	s.as("mkdir", s.projects("alias"))
	if err := unix.Mount(s.projects("secret"), s.projects("alias"), "", unix.MS_BIND, ""); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := unix.Unmount(s.projects("alias"), unix.MNT_DETACH); err != nil {
			s.t.Error(err)
		}
	})
}

// lateness is how much later than promised a busy machine may notice.
const lateness = time.Second

// TestLostMasks: what the user does to a path that is held is noticed within a
// second, and what costs nothing is not.
func TestLostMasks(t *testing.T) {
	for _, l := range losses {
		for _, u := range users() {
			t.Run(l.name+"/"+u.name, func(t *testing.T) {
				t.Parallel()
				missing(t, bubblewrap)
				if l.told == "alias" && !ground.mounts {
					t.Skip(cannotMount("", u))
				}
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
		if len(s.result.Told) > 0 {
			t.Errorf("told of %q, want nothing", s.result.Told)
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
