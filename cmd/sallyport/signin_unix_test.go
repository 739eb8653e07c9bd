//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"sallyport/bridge/bridgetest"
)

// desk is a person's terminal, at which a sign-in runs.
type desk struct {
	t        *testing.T
	place    bridgetest.Place
	env      []string
	built    string // sallyport
	master   *os.File
	terminal *os.File
	cmd      *exec.Cmd
	family   *bridgetest.Family

	mu     sync.Mutex
	news   *sync.Cond
	screen string
	closed bool
}

// newDesk makes one with a shell's script as the agent mine, whose state is
// ~/.mine.
func newDesk(t *testing.T, built, script string) *desk {
	t.Helper()
	place := bridgetest.NewPlace(t)
	program := place.Write(t, "bin/mine", "#!/bin/sh\n"+script)
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(place.Home, ".mine")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{"agents": map[string]any{"mine": map[string]any{"name": "Mine", "command": program + " acp", "state": []string{state}}}})
	if err != nil {
		t.Fatal(err)
	}
	place.Write(t, "home/.config/sallyport/config.json", string(config))
	return sit(t, built, place, place.Environ())
}

// sit makes a terminal of 100 columns and 30 lines in a place.
func sit(t *testing.T, built string, place bridgetest.Place, env []string) *desk {
	t.Helper()
	d := &desk{t: t, built: built, place: place, env: env, family: bridgetest.NewFamily(t, place)}
	d.news = sync.NewCond(&d.mu)
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close() // it blocks, and could not be closed while it is read
	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.master, d.terminal = os.NewFile(uintptr(fd), master.Name()), terminal
	t.Cleanup(func() { d.master.Close(); d.terminal.Close() })
	d.resize(30, 100)
	return d
}

// run starts sallyport as a client's terminal does.
func (d *desk) run(words ...string) {
	d.t.Helper()
	d.cmd = exec.Command(d.built, words...)
	d.cmd.Env, d.cmd.Dir = d.env, d.place.Project
	d.cmd.Stdin, d.cmd.Stdout, d.cmd.Stderr = d.terminal, d.terminal, d.terminal
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { d.cmd.Process.Kill(); d.cmd.Wait() }) // it may have ended
	go func() {                                                // ends with the master
		buf := make([]byte, 4<<10)
		for {
			n, err := d.master.Read(buf)
			d.mu.Lock()
			d.screen += string(buf[:n])
			d.closed = err != nil
			d.news.Broadcast()
			d.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
}

// shows waits until the terminal has shown some words.
func (d *desk) shows(words string) {
	d.t.Helper()
	late := time.AfterFunc(patience, func() { d.mu.Lock(); d.closed = true; d.news.Broadcast(); d.mu.Unlock() })
	defer late.Stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	for !strings.Contains(d.screen, words) {
		if d.closed {
			d.t.Fatalf("never shown: %q; shown was\n%s", words, d.screen)
		}
		d.news.Wait()
	}
}

func (d *desk) types(keys string) {
	d.t.Helper()
	if _, err := d.master.WriteString(keys); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) resize(rows, columns uint16) {
	d.t.Helper()
	if err := pty.Setsize(d.terminal, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
		d.t.Fatal(err)
	}
}

// modes are the terminal's.
func (d *desk) modes() string {
	d.t.Helper()
	state, err := term.GetState(int(d.terminal.Fd()))
	if err != nil {
		d.t.Fatal(err)
	}
	return fmt.Sprint(*state)
}

// ends waits for the end of sallyport and returns its status, -1 for a signal.
func (d *desk) ends() int {
	d.t.Helper()
	late := time.AfterFunc(patience, func() { _ = d.cmd.Process.Kill() })
	defer late.Stop()
	var exit *exec.ExitError
	if err := d.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		d.t.Fatal(err)
	}
	return d.cmd.ProcessState.ExitCode()
}

// soon is how long something may outlive us.
const soon = 5 * time.Second

// TestSignIn: the agent's program runs with its arguments and its variables, at a
// terminal of the same size, and its status is ours. What it stores is kept; the
// terminal is as it was.
func TestSignIn(t *testing.T) {
	d := newDesk(t, bridgetest.Build(t), `echo "words $* A=$A size $(stty size)"
		trap 'echo "now $(stty size)"' WINCH
		echo ready
		while read -r line; do case "$line" in
			"") ;;
			*) echo "$line" > ~/.mine/token; echo "kept"; exit "$line" ;;
		esac; done
		while :; do sleep 0.1; read -r line && echo "$line" > ~/.mine/token && exit "$line"; done`)
	before := d.modes()
	d.run("acp", "--agent", "mine", "--sallyport-sign-in", "--env", "A=a b", "--", "--login", "x y")
	d.shows("the sign-in of Mine begins")
	d.shows("words acp --login x y A=a b size 30 100")
	d.shows("ready")
	if d.modes() == before {
		t.Error("the terminal echoes by itself what its program reads")
	}
	d.resize(40, 120)
	d.shows("now 40 120")
	d.types("3\r")
	if status := d.ends(); status != 3 {
		t.Errorf("status: got %d, want the program's own", status)
	}
	d.shows("the sign-in of Mine failed: exit status 3")
	if d.modes() != before {
		t.Error("the terminal is not as it was")
	}
	if token, err := os.ReadFile(filepath.Join(d.place.Home, ".mine/token")); err != nil || string(token) != "3\n" {
		t.Errorf("kept is %q, %v", token, err)
	}
	d.family.Gone(t, soon)
}

// TestSignIn_Forms: it comes back to us however we were started.
func TestSignIn_Forms(t *testing.T) {
	built := bridgetest.Build(t)
	for _, words := range [][]string{
		{"acp", "--agent", "mine", "--sallyport-sign-in", "--", "in"},
		{"acp", "--sallyport-sign-in", "--agent", "mine", "--", "in"},
		{"acp", "--log", "error", "--", "mine", "acp", "--sallyport-sign-in", "--", "in"},
		{"acp", "--agent", "mine", "--sallyport-sign-in", "--program", "mine", "--", "acp", "in"},
	} {
		t.Run(strings.Join(words, " "), func(t *testing.T) {
			d := newDesk(t, built, `echo "words $*"`)
			d.run(words...)
			if status := d.ends(); status != 0 {
				t.Errorf("status: got %d", status)
			}
			d.shows("words acp in")
			d.shows("is done")
		})
	}
}

// TestSignIn_Fenced: its own files and a terminal of its own is all that it has.
func TestSignIn_Fenced(t *testing.T) {
	d := newDesk(t, bridgetest.Build(t), `exec 2>&1
		echo x > ~/.mine/own && echo "own kept"
		echo x > here; echo x > ~/outside; echo x > ../beside
		for fd in 0 1 2; do echo "fd $(stat -L -c '%t:%T' /proc/self/fd/$fd) end"; done
		set -- $(sed 's/.*) //' /proc/self/stat); echo "controlled by $5 end"
		command -v perl >/dev/null && perl -e 'for (split //, "evil\n") { ioctl(STDIN, 0x5412, $_) }'
		exit 0`)
	d.run("acp", "--agent", "mine", "--sallyport-sign-in", "--")
	if status := d.ends(); status != 0 {
		t.Errorf("status: got %d", status)
	}
	d.shows("own kept")
	if strings.Contains(d.screen, "outside of every fence") {
		t.Skip("the kernel holds nothing here")
	}
	for _, name := range []string{"ws/project/here", "home/outside", "ws/beside"} {
		if _, err := os.Stat(filepath.Join(d.place.Dir, name)); err == nil {
			t.Errorf("it wrote %s", name)
		}
	}
	var mine unix.Stat_t
	if err := unix.Fstat(int(d.terminal.Fd()), &mine); err != nil {
		t.Fatal(err)
	}
	device := fmt.Sprintf("%x:%x", unix.Major(uint64(mine.Rdev)), unix.Minor(uint64(mine.Rdev)))
	if !strings.Contains(d.screen, "fd ") || strings.Contains(d.screen, "fd "+device+" end") {
		t.Errorf("it has the person's terminal, %s:\n%s", device, d.screen)
	}
	if !strings.Contains(d.screen, "controlled by ") || strings.Contains(d.screen, fmt.Sprintf("controlled by %d end", mine.Rdev)) {
		t.Errorf("the person's terminal controls it:\n%s", d.screen)
	}
	waiting := []unix.PollFd{{Fd: int32(d.terminal.Fd()), Events: unix.POLLIN}}
	if n, err := unix.Poll(waiting, 0); n != 0 || err != nil {
		t.Errorf("something was typed for the person: %d, %v", n, err)
	}
}

// TestSignIn_CtrlC is the program's.
func TestSignIn_CtrlC(t *testing.T) {
	d := newDesk(t, bridgetest.Build(t), `trap 'echo interrupted; exit 7' INT; echo ready; while :; do sleep 0.1; done`)
	d.run("acp", "--agent", "mine", "--sallyport-sign-in", "--")
	d.shows("ready")
	d.types("\x03")
	if status := d.ends(); status != 7 {
		t.Errorf("status: got %d", status)
	}
	d.shows("interrupted")
}

// TestSignIn_Ended: whatever ends us ends all of it, also what ignores that its
// terminal was closed; and but for SIGKILL the terminal is as it was.
func TestSignIn_Ended(t *testing.T) {
	built := bridgetest.Build(t)
	for name, end := range map[string]func(d *desk){
		"terminal closed": func(d *desk) { _ = d.master.Close() },
		"SIGTERM":         func(d *desk) { _ = d.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":          func(d *desk) { _ = d.cmd.Process.Signal(syscall.SIGHUP) },
		"SIGKILL":         func(d *desk) { _ = d.cmd.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, built, `trap '' HUP; printf '\033[?1049h\033[?25l'; sleep 4244 & sleep 4243`)
			before := d.modes()
			d.run("acp", "--agent", "mine", "--sallyport-sign-in", "--")
			d.family.Find(t, "sleep 4243", patience)
			d.shows("\x1b[?25l")
			end(d)
			if status := d.ends(); status == 0 {
				t.Error("the status says that all went well")
			}
			d.family.Gone(t, soon)
			if name == "SIGTERM" || name == "SIGHUP" {
				if d.modes() != before {
					t.Error("the terminal is not as it was")
				}
				d.shows("\x1b[?25h")
				d.shows("\x1b[?1049l")
				d.shows("the sign-in of Mine was ended: ")
			}
		})
	}
}

// TestSignIn_HungUp: a program that would keep what it has is told that its
// terminal is closed.
func TestSignIn_HungUp(t *testing.T) {
	d := newDesk(t, bridgetest.Build(t), `trap 'echo kept > ~/.mine/token; exit 0' HUP; echo ready; while :; do sleep 0.1; done`)
	d.run("acp", "--agent", "mine", "--sallyport-sign-in", "--")
	d.shows("ready")
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	if status := d.ends(); status != 1 {
		t.Errorf("status: got %d", status)
	}
	if token, err := os.ReadFile(filepath.Join(d.place.Home, ".mine/token")); err != nil || string(token) != "kept\n" {
		t.Errorf("kept is %q, %v", token, err)
	}
}
