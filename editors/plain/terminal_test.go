package plain

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"sallyport/bridge/bridgetest"
)

// terminal is a program in a terminal of its own (tmux, 180 by 30: Neovim waits
// for Enter where a message of its own, with a whole URI, has no place).
type terminal struct {
	*place
	socket string
}

// open starts a program in a new terminal, in the project's folder.
func (p *place) open(program string, args ...string) *terminal {
	p.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		bridgetest.Missing(p.T, "tmux", "testdata/peers/editors.sh")
	}
	dir, err := os.MkdirTemp("", "tm") // a socket's path must be short
	if err != nil {
		p.Fatal(err)
	}
	t := &terminal{place: p, socket: filepath.Join(dir, "s")}
	p.Cleanup(func() {
		if p.Failed() {
			p.Logf("the screen at the end:\n%s", dense(t.screen()))
		}
		_ = t.tmux("kill-server").Run() // it may have ended by itself
		_ = os.RemoveAll(dir)
	})
	cmd := t.tmux(append([]string{"-f", os.DevNull, "new-session", "-d", "-x", "180", "-y", "30", "-c", p.Project, program}, args...)...)
	cmd.Env = append(p.env, "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		p.Fatalf("starting %s in tmux: %v: %s", program, err, out)
	}
	return t
}

func (t *terminal) tmux(args ...string) *exec.Cmd {
	return exec.Command("tmux", append([]string{"-S", t.socket}, args...)...)
}

// keys presses keys: names as tmux has them (Enter, Escape), other words
// letter by letter.
func (t *terminal) keys(keys ...string) {
	t.Helper()
	if out, err := t.tmux(append([]string{"send-keys"}, keys...)...).CombinedOutput(); err != nil {
		t.Fatalf("pressing %q: %v: %s", keys, err, out)
	}
}

// screen is what stands there now, without the empty lines at the end.
func (t *terminal) screen() string {
	out, err := t.tmux("capture-pane", "-p").CombinedOutput()
	if err != nil {
		return "(no screen: " + strings.TrimSpace(string(out)) + ")"
	}
	return strings.TrimRight(string(out), "\n ")
}

// shows waits until the screen matches a pattern, and returns it.
func (t *terminal) shows(what, pattern string) string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	var s string
	if !until(screenDeadline, func() bool { s = t.screen(); return re.MatchString(s) }) {
		t.Fatalf("waited in vain: %s (%s)", what, pattern)
	}
	t.Logf("%s:\n%s", what, dense(s))
	return s
}

// dense leaves out the lines of a screen on which there is nothing.
func dense(s string) string {
	return regexp.MustCompile(`(?m)^(~| *|    ~)\n`).ReplaceAllString(s, "")
}

// comes waits until a file of the project is there.
func (t *terminal) comes(name string) {
	t.Helper()
	if !until(screenDeadline, func() bool { return t.disk(name) != "" }) {
		t.Fatalf("waited in vain for %s", name)
	}
}
