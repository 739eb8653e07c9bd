package process_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sallyport/bridge/process"
)

// hostVar makes this test binary a host: it starts the shell command that the
// variable holds and lives until it is killed.
const hostVar = "PROCESS_TEST_HOST"

func TestMain(m *testing.M) {
	if command := os.Getenv(hostVar); command != "" {
		os.Exit(host(command))
	}
	os.Exit(m.Run())
}

func host(command string) int {
	p, err := process.Start(context.Background(), process.Spec{Path: "/bin/bash", Args: []string{"-c", command}, Env: os.Environ()})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(p.Pid())
	if _, err := io.Copy(os.Stdout, p.Stdout); err != nil {
		return 1
	}
	<-p.Done()
	return 0
}

// mark returns a number of seconds to sleep that no other process uses, and
// makes sure at the end that nothing with it is left.
func mark(t *testing.T) string {
	t.Helper()
	seconds := fmt.Sprintf("98765.%d%d", os.Getpid(), time.Now().UnixNano()%1_000_000)
	t.Cleanup(func() {
		for _, pid := range holding(t, seconds) {
			t.Errorf("process %d is left: %s", pid, cmdline(pid))
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return seconds
}

// holding lists the processes with an argument that contains text, but for
// guards and for ourselves.
func holding(t *testing.T, text string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err == nil && pid != os.Getpid() && strings.Contains(cmdline(pid), text) {
			found = append(found, pid)
		}
	}
	return found
}

func cmdline(pid int) string {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return strings.ReplaceAll(string(b), "\x00", " ")
}

// until waits for a state, for as long as the state may take at most.
func until(t *testing.T, within time.Duration, what string, state func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for !state() {
		select {
		case <-ctx.Done():
			t.Fatalf("after %v still not: %s", within, what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func bash(t *testing.T, command string) *process.Process {
	t.Helper()
	p, err := process.Start(t.Context(), process.Spec{Path: "/bin/bash", Args: []string{"-c", command}, Env: []string{"PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(context.Background(), 0) })
	return p
}

// line reads one line of what p prints: the sign that it has come so far.
func line(t *testing.T, r io.Reader) string {
	t.Helper()
	s, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("reading a line: %v", err)
	}
	return strings.TrimSpace(s)
}

// detached starts a sleep in a session of its own, without a parent.
const detached = `(setsid setsid sleep %s </dev/null >/dev/null 2>&1 &) ; `

func TestL1_StopEndsTheTree(t *testing.T) {
	tests := []struct{ name, command string }{
		{"children", `sleep %s & sleep %s; :`},
		{"session of its own", detached + `sleep %s`},
		{"deaf to TERM", `trap '' TERM; sleep %s & sleep %s; sleep %s`},
		{"deaf to TERM and to the end of its input", `trap '' TERM HUP INT; while :; do sleep %s; done`},
		{"group of its own", `set -m; sleep %s & sleep %s`},
		{"nested", `bash -c 'bash -c "sleep %s & sleep %s" & sleep %s' & wait`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			seconds := mark(t)
			p := bash(t, "echo up; "+strings.ReplaceAll(tt.command, "%s", seconds))
			line(t, p.Stdout)
			until(t, 5*time.Second, "the tree stands", func() bool { return len(holding(t, "sleep "+seconds)) > 0 })
			start := time.Now()
			if err := p.Stop(context.Background(), 100*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			if left := holding(t, seconds); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func TestL1_EndsByItself(t *testing.T) {
	p := bash(t, `cat; exit 7`) // ends with its input
	start := time.Now()
	if err := p.Stop(t.Context(), 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if got := p.Exit().String(); got != "exit status 7" {
		t.Errorf("got %s", got)
	}
	if err := p.Stop(t.Context(), 0); err != nil {
		t.Errorf("again: %v", err)
	}
}

// L2: we are killed with no chance to do anything.
func TestL2_WeAreKilled(t *testing.T) {
	for _, tt := range []struct{ name, command string }{
		{"children", `sleep %s & sleep %s`},
		{"session of its own", detached + `sleep %s`},
		{"deaf to TERM", `trap '' TERM HUP; sleep %s & sleep %s; sleep %s`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seconds := mark(t)
			us := exec.Command(os.Args[0])
			us.Env = append(os.Environ(), hostVar+"=echo up; "+strings.ReplaceAll(tt.command, "%s", seconds))
			out, err := us.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := us.Start(); err != nil {
				t.Fatal(err)
			}
			r := bufio.NewReader(out)
			for _, want := range []string{"", "up"} {
				if got, err := r.ReadString('\n'); err != nil || want != "" && strings.TrimSpace(got) != want {
					t.Fatalf("host: got %q, %v", got, err)
				}
			}
			until(t, 5*time.Second, "the tree stands", func() bool { return len(holding(t, "sleep "+seconds)) > 0 })
			_ = us.Process.Kill()
			_ = us.Wait()
			until(t, 5*time.Second, "the tree is gone", func() bool { return len(holding(t, seconds)) == 0 })
		})
	}
}

func TestL3_ExitIsSeenThoughAPipeIsHeld(t *testing.T) {
	seconds := mark(t)
	start := time.Now()
	p := bash(t, `sleep `+seconds+` & (setsid sleep `+seconds+` &) ; echo last; exit 4`)
	select {
	case <-p.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("not done")
	}
	out, err := io.ReadAll(p.Stdout)
	if err != nil || string(out) != "last\n" {
		t.Errorf("got %q, %v", out, err)
	}
	if took := time.Since(start); took > 3*time.Second { // one second, on a machine that is not busy
		t.Errorf("took %v", took)
	}
	if got := p.Exit(); got.Code != 4 {
		t.Errorf("got %v", got)
	}
	<-p.Gone()
}

// I7: the agent is killed; what it started goes with it.
func TestI7_AgentIsKilled(t *testing.T) {
	seconds := mark(t)
	p := bash(t, `echo it broke >&2; echo up; `+strings.ReplaceAll(detached, "%s", seconds)+`sleep `+seconds+` & sleep `+seconds)
	line(t, p.Stdout)
	until(t, 5*time.Second, "the tree stands", func() bool { return len(holding(t, "sleep "+seconds)) > 1 })
	if err := syscall.Kill(p.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, 3*time.Second, "all is gone", func() bool { return len(holding(t, seconds)) == 0 })
	<-p.Done()
	if got := p.Exit(); got.Signal != "killed" || got.String() != "ended by signal: killed" {
		t.Errorf("got %v", got)
	}
	if got := p.Stderr(); got != "it broke\n" {
		t.Errorf("stderr: got %q", got)
	}
}

func TestGuardIsKilled(t *testing.T) {
	seconds := mark(t)
	p := bash(t, `echo up; sleep `+seconds+` & sleep `+seconds)
	line(t, p.Stdout)
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.Pid()), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	guard, _ := strconv.Atoi(strings.Fields(string(stat[strings.LastIndex(string(stat), ")")+1:]))[1])
	if comm, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(guard), "comm")); string(comm) != "agent-guard\n" {
		t.Fatalf("the parent of the agent is %q", comm)
	}
	_ = syscall.Kill(guard, syscall.SIGKILL)
	<-p.Done()
	if got := p.Exit(); !got.Lost {
		t.Errorf("got %v", got)
	}
	until(t, 3*time.Second, "all is gone", func() bool { return len(holding(t, seconds)) == 0 })
	if err := p.Stop(t.Context(), time.Second); err != nil {
		t.Error(err)
	}
}

// What the last reader is slow to take is not lost when the program ends.
func TestStdoutIsReadToItsEnd(t *testing.T) {
	p := bash(t, `head -c 60000 /dev/zero; exit 0`)
	<-p.Done()
	<-p.Gone()
	n, err := io.Copy(io.Discard, p.Stdout)
	if err != nil || n != 60000 {
		t.Errorf("got %d bytes, %v", n, err)
	}
}

func TestL5_StderrIsDrained(t *testing.T) {
	p := bash(t, `head -c 1000000 /dev/zero | tr '\0' 'x' >&2; for i in 1 2 3; do head -c 1000 /dev/zero | tr '\0' 'y' >&2; echo >&2; done; echo last >&2; echo answer`)
	if got := line(t, p.Stdout); got != "answer" {
		t.Errorf("got %q", got)
	}
	<-p.Done()
	got := p.Stderr()
	if !strings.HasSuffix(got, "yyy\nlast\n") || len(got) > process.DefaultStderrBytes {
		t.Errorf("got %d bytes, at the end %q", len(got), got[max(0, len(got)-20):])
	}
}

func TestStart_GivesUpWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := process.Start(ctx, process.Spec{Path: "/bin/cat"}); err == nil {
		t.Error("no error")
	}
}

// Nothing of ours is open in the agent but its three pipes, and its environment
// and command line are its own.
func TestStart_GivesNothingElse(t *testing.T) {
	leaked, err := syscall.Open("/dev/null", syscall.O_RDONLY, 0) // not closed on exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(leaked)
	p, err := process.Start(t.Context(), process.Spec{
		Path: "/bin/bash", Args: []string{"-c", `echo /proc/$$/fd/* ; env | sort; pwd; exec sleep 1000`},
		Dir: t.TempDir(), Env: []string{"A=1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(p.Stdout)
	fds, _ := r.ReadString('\n')
	if got := len(strings.Fields(fds)); got != 4 { // one is of bash, to list the folder
		t.Errorf("open files: %s", fds)
	}
	var rest []string
	for len(rest) < 5 {
		l, err := r.ReadString('\n')
		if err != nil {
			break
		}
		rest = append(rest, strings.TrimSpace(l))
		if strings.HasPrefix(l, "/") {
			break
		}
	}
	for _, l := range rest {
		name, _, _ := strings.Cut(l, "=")
		switch name {
		case "A", "PWD", "SHLVL", "_", "OLDPWD": // bash sets the others itself
		default:
			if !strings.HasPrefix(l, "/") {
				t.Errorf("environment: %s", l)
			}
		}
	}
	until(t, 5*time.Second, "bash has become sleep", func() bool { return strings.HasPrefix(cmdline(p.Pid()), "sleep") })
	// What was ignored when we were started, no program of Go can undo.
	if got, ours := ignored(t, strconv.Itoa(p.Pid())), ignored(t, "self"); got&^ours != 0 {
		t.Errorf("signals ignored: %x, and by us %x", got, ours)
	}
	if err := p.Stop(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

// ignored is the mask of the signals that a process ignores.
func ignored(t *testing.T, pid string) uint64 {
	t.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "SigIgn:")
	line, _, _ := strings.Cut(rest, "\n")
	mask, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return mask
}

func TestStop_WithoutTime(t *testing.T) {
	seconds := mark(t)
	p := bash(t, `trap '' TERM; echo up; sleep `+seconds+`; sleep `+seconds)
	line(t, p.Stdout)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	start := time.Now()
	if err := p.Stop(ctx, time.Hour); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("took %v", took)
	}
}
