package bench_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// built builds the binary as it is released, once.
var built = sync.OnceValues(func() (path string, err error) { return build("sallyport", "sallyport/cmd/sallyport") })

// build builds a program into the folder of this run.
func build(name, what string) (path string, err error) {
	path = filepath.Join(runDir(), name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, what)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", what, err, out)
	}
	return path, nil
}

// binary is the path of sallyport.
func binary(tb testing.TB) string {
	tb.Helper()
	path, err := built()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// serve is a running `sallyport serve` and its user.
type serve struct {
	tb     testing.TB
	cmd    *exec.Cmd
	folder string    // its project
	began  time.Time // just before it was started
}

// startServe starts the binary between two files, for an agent that is this
// binary in its role, or the command that is given.
func startServe(tb testing.TB, in, out *os.File, agent ...string) *serve {
	tb.Helper()
	return startAs(tb, "serve", in, out, agent...)
}

// startAs is startServe for any of our subcommands that serve.
func startAs(tb testing.TB, command string, in, out *os.File, agent ...string) *serve {
	tb.Helper()
	return startWith(tb, nil, command, in, out, agent...)
}

// startWith is startAs with deciders in these folders.
func startWith(tb testing.TB, deciders []string, command string, in, out *os.File, agent ...string) *serve {
	tb.Helper()
	if !measurable {
		tb.Skip("only Linux shows what another process takes")
	}
	home := tb.TempDir()
	s := &serve{tb: tb, folder: filepath.Join(home, "project")}
	if len(agent) == 0 {
		agent = []string{os.Args[0], roleWord, "agent"}
	}
	var rules []map[string]string
	for _, folder := range deciders {
		rules = append(rules, map[string]string{"folder": folder})
	}
	settings, err := json.Marshal(map[string]any{
		"agent": "bench", "unsaved": "leave", "logLevel": "warn",
		"agents": map[string]any{"bench": map[string]any{"command": agent[0], "args": agent[1:]}},
		// What the fence costs is measured where it is made; here the agent is looked at from outside.
		"sandbox":     "off",
		"permissions": map[string]any{"deciders": rules, "allow": []string{"Bash(allowed by a rule)"}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	for _, dir := range []string{s.folder, filepath.Join(home, "sallyport")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "sallyport", "config.json"), settings, 0o600); err != nil {
		tb.Fatal(err)
	}
	s.cmd = exec.Command(binary(tb), command)
	s.cmd.Dir = s.folder
	s.cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home+"/state", "XDG_DATA_HOME="+home+"/data")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = in, out, os.Stderr
	s.began = time.Now()
	if err := s.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.stop)
	return s
}

// stop waits for the end, which the end of its input brings.
func (s *serve) stop() {
	if s.cmd.ProcessState != nil {
		return
	}
	timer := time.AfterFunc(20*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	_ = s.cmd.Wait() // 1: without a shutdown
}

func (s *serve) pid() int { return s.cmd.Process.Pid }

// guards is the processor time of its children, which are the guards of agents.
func (s *serve) guards() (sum time.Duration) {
	for _, child := range childrenOf(s.pid()) {
		t, err := cpuOf(child)
		if err == nil {
			sum += t
		}
	}
	return sum
}

// local is serve with an editor in this process.
type local struct {
	*serve
	*editor
	hang func() // closes the editor's ends
}

// attach starts serve with an editor here, which has said nothing yet.
func attach(tb testing.TB, agent ...string) *local {
	tb.Helper()
	return attachWith(tb, nil, agent...)
}

// attachWith is attach with deciders in these folders.
func attachWith(tb testing.TB, deciders []string, agent ...string) *local {
	tb.Helper()
	toServe, fromEditor := mustPipe(tb)
	toEditor, fromServe := mustPipe(tb)
	s := startWith(tb, deciders, "serve", toServe, fromServe, agent...)
	closeAll(toServe, fromServe)
	l := &local{serve: s, editor: newEditor(toEditor, fromEditor)}
	l.hang = sync.OnceFunc(func() { closeAll(fromEditor, toEditor) })
	tb.Cleanup(func() { l.hang(); s.stop() })
	return l
}

// must ends the test or benchmark at an error.
func (l *local) must(err error) {
	l.tb.Helper()
	if err != nil {
		l.tb.Fatal(err)
	}
}

// memory is the resident memory of serve, now and at its peak.
func (s *serve) memory() (now, peak float64) {
	s.tb.Helper()
	n, p, err := memoryOf(s.pid())
	if err != nil {
		s.tb.Fatal(err)
	}
	return float64(n), float64(p)
}

// driven is serve between an agent and an editor in a process of its own.
type driven struct {
	*serve
	editor *remote
}

// drive starts one, with an open session.
func drive(tb testing.TB, agent ...string) *driven {
	tb.Helper()
	toServe, fromEditor := mustPipe(tb)
	toEditor, fromServe := mustPipe(tb)
	s := startServe(tb, toServe, fromServe, agent...)
	ed := startRemote(tb, toEditor, fromEditor, "lsp", s.folder)
	closeAll(toServe, fromEditor, toEditor, fromServe)
	tb.Cleanup(func() { s.stop() }) // after the editor, whose end is that of serve
	tb.Cleanup(ed.stop)
	ed.event()
	return &driven{serve: s, editor: ed}
}

// spent is what one turn took.
type spent struct {
	cpu, guard, wall time.Duration
}

// apart is how long a turn is kept from the one before: only then can late
// updates be told apart, and a prompt that comes sooner waits.
const apart = 350 * time.Millisecond

// flood runs one turn in which the agent sends updates, and measures it.
func (d *driven) flood(f flow) spent {
	d.tb.Helper()
	f, err := f.ackPipe(d.tb.TempDir())
	if err != nil {
		d.tb.Fatal(err)
	}
	time.Sleep(apart)
	cpu, guard, start := mustCPU(d.tb, d.pid()), d.guards(), time.Now()
	d.editor.order("%d %s flood %v", f.window/2, f.acks, f)
	updates, err := strconv.Atoi(d.editor.event())
	if err != nil {
		d.tb.Fatal(err)
	}
	took := spent{mustCPU(d.tb, d.pid()) - cpu, d.guards() - guard, time.Since(start)}
	if want := f.count + f.extra(); updates != want {
		d.tb.Fatalf("%d updates came of %d", updates, want)
	}
	return took
}

// remote is an editor in a process of its own.
type remote struct {
	tb     testing.TB
	cmd    *exec.Cmd
	orders *os.File
	events *bufio.Scanner
}

func startRemote(tb testing.TB, in, out *os.File, args ...any) *remote {
	tb.Helper()
	r := &remote{tb: tb, cmd: role("editor", args...)}
	orders, ordersW := mustPipe(tb)
	eventsR, events := mustPipe(tb)
	r.cmd.Stdin = in
	if out != nil {
		r.cmd.Stdout = out
	}
	r.cmd.ExtraFiles = []*os.File{orders, events}
	r.orders, r.events = ordersW, bufio.NewScanner(eventsR)
	if err := r.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	closeAll(orders, events)
	return r
}

func (r *remote) order(format string, args ...any) {
	r.tb.Helper()
	if _, err := fmt.Fprintf(r.orders, format+"\n", args...); err != nil {
		r.tb.Fatal(err)
	}
}

func (r *remote) event() string {
	r.tb.Helper()
	if !r.events.Scan() {
		_ = r.cmd.Wait()
		r.tb.Fatalf("the editor ended: %v", r.cmd.ProcessState)
	}
	return r.events.Text()
}

func (r *remote) stop() {
	_ = r.orders.Close()
	_ = r.cmd.Wait()
}

func mustPipe(tb testing.TB) (r, w *os.File) {
	tb.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	return r, w
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func mustCPU(tb testing.TB, pid int) time.Duration {
	tb.Helper()
	t, err := cpuOf(pid)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func median[T ~int64](d []T) float64 {
	d = slices.Sorted(slices.Values(d))
	return float64(d[len(d)/2])
}

// ratio is the median of the ratios of the rounds: both of one round met the
// machine in the same mood.
func ratio(ours, floor []time.Duration) float64 {
	all := make([]float64, len(ours))
	for i := range ours {
		all[i] = float64(ours[i]) / float64(floor[i])
	}
	slices.Sort(all)
	return all[len(all)/2]
}
