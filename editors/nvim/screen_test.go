package nvim

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sallyport/bridge/bridgetest"
)

var update = flag.Bool("update", false, "write the screens of testdata/screens anew")

// screenDeadline bounds the wait for one thing to appear.
const screenDeadline = 30 * time.Second

// TestScreens is what a person sees, in a terminal of 100 by 30, in the newest
// Neovim: it is compared with testdata/screens.
func TestScreens(t *testing.T) {
	t.Parallel()
	s := open(t, "0.12", "one\ntwo\nthree\n")
	s.keys(":Sallyport ask please-edit a.txt", "Enter")
	s.golden("card", `Reject`)
	s.keys(":Sallyport answer", "Enter")
	s.keys("=")
	s.golden("diff", `TWO`)
	s.keys(":tabclose", "Enter", ":Sallyport answer", "Enter", "a")
	s.shows("the write", `TWO`)
	s.keys(":Sallyport open", "Enter")
	s.golden("conversation", `(?s)done.*names context`)
	s.picture("conversation.svg")
	s.keys("Escape", ":tabnew | Sallyport review", "Enter")
	s.golden("review", `modified, mediated`)
	s.keys(":tabnew | checkhealth sallyport", "Enter")
	s.shows("health", `the server runs`)
	s.keys(":setlocal nowrap", "Enter")
	s.golden("health", `setlocal nowrap`)
}

// TestDecidedScreens is a card while deciders are asked, and once one of them has
// settled it; the server's messages come from testdata/deciding.lua.
func TestDecidedScreens(t *testing.T) {
	t.Parallel()
	s := open(t, "0.12", "one\ntwo\nthree\n")
	s.keys(":silent runtime testdata/deciding.lua", "Enter")
	s.golden("deciding", `being decided`)
	s.keys(":silent lua settle()", "Enter")
	s.golden("decided", `Denied`)
}

// TestKeysInTheOldest answers a card by keys in the oldest Neovim that the
// plugin supports, in a terminal.
func TestKeysInTheOldest(t *testing.T) {
	t.Parallel()
	s := open(t, "0.10", "one\ntwo\nthree\n")
	s.keys(":Sallyport ask please-edit a.txt", "Enter")
	s.shows("the card", `Reject`)
	s.keys(":Sallyport answer", "Enter", "a")
	s.shows("the write", `(?m)^. TWO`)
	s.keys(":Sallyport open", "Enter")
	s.shows("the end of the turn", `(?s)done.*names context`)
	s.keys("Escape", ":Sallyport undo", "Enter")
	s.shows("the turn taken back", `(?m)^. ?two`)
}

// terminal is a Neovim in a terminal of its own.
type terminal struct {
	*place
	socket string
}

// open opens a.txt with these lines.
func open(t *testing.T, version, text string) *terminal {
	t.Helper()
	nvim := bridgetest.Editor(t, "nvim-"+version)
	if _, err := exec.LookPath("tmux"); err != nil {
		bridgetest.Missing(t, "tmux", "testdata/peers/editors.sh")
	}
	p := scripted(t)
	if err := os.WriteFile(filepath.Join(p.Project, "a.txt"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "tm") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	s := &terminal{place: p, socket: filepath.Join(dir, "s")}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen at the end:\n%s", s.screen())
		}
		_ = s.tmux("kill-server").Run() // it may have ended by itself
		_ = os.RemoveAll(dir)
	})
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	cmd := s.tmux("-f", os.DevNull, "set-option", "-g", "default-terminal", "tmux-256color", ";", "set-option", "-ga", "terminal-overrides", ",*:Tc", ";", "new-session", "-d", "-x", "100", "-y", "30", "-c", p.Project,
		nvim, "--clean", "-n", "--cmd", "set runtimepath^="+strings.ReplaceAll(root, " ", `\ `), "--cmd", "set noruler termguicolors", "a.txt")
	cmd.Env = append(p.Environ(), "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("starting Neovim in tmux: %v: %s", err, out)
	}
	s.shows("it is up", `(?m)^a\.txt`)
	return s
}

func (s *terminal) tmux(args ...string) *exec.Cmd {
	return exec.Command("tmux", append([]string{"-S", s.socket}, args...)...)
}

// keys presses keys: names as tmux has them (Enter, Escape), other words
// letter by letter.
func (s *terminal) keys(keys ...string) {
	s.Helper()
	if out, err := s.tmux(append([]string{"send-keys"}, keys...)...).CombinedOutput(); err != nil {
		s.Fatalf("pressing %q: %v: %s", keys, err, out)
	}
}

// screen is what stands there now; ids, paths and our version are the same each
// time.
func (s *terminal) screen() string {
	out, err := s.tmux("capture-pane", "-p").CombinedOutput()
	if err != nil {
		return "(no screen: " + strings.TrimSpace(string(out)) + ")"
	}
	screen := regexp.MustCompile(`[0-9a-f]{16}`).ReplaceAllString(string(out), "0123456789abcdef")
	screen = regexp.MustCompile(`(?m)(: |sallyport )(/|devel|v\d).*$`).ReplaceAllString(screen, "$1…")
	return strings.TrimRight(screen, "\n ") + "\n"
}

// shows waits until the screen matches a pattern.
func (s *terminal) shows(what, pattern string) {
	s.Helper()
	re := regexp.MustCompile(pattern)
	for end := time.Now().Add(screenDeadline); !re.MatchString(s.screen()); {
		if time.Now().After(end) {
			s.Fatalf("waited in vain: %s (%s)", what, pattern)
		}
	}
}

// golden waits until the screen is the one that is kept under a name.
func (s *terminal) golden(name, pattern string) {
	s.Helper()
	path := filepath.Join("testdata", "screens", name+".txt")
	if *update {
		s.shows(name, pattern)
		if err := os.WriteFile(path, []byte(s.settled()), 0o600); err != nil {
			s.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		s.Fatal(err)
	}
	var got string
	for end := time.Now().Add(screenDeadline); got != string(want); {
		if got = s.screen(); time.Now().After(end) {
			s.Fatalf("the screen is not %s; wanted:\n%s\ngot:\n%s", path, want, got)
		}
	}
}

// settled is the screen once it did not change for a while: only for screens
// that a person looks at before they are kept.
func (s *terminal) settled() string {
	last := s.screen()
	for same := time.Now(); time.Since(same) < time.Second; {
		if now := s.screen(); now != last {
			last, same = now, time.Now()
		}
	}
	return last
}
