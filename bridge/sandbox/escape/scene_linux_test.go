package escape

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/go-json-experiment/json"
)

// patience is how long one scene may take on a busy machine.
const patience = 60 * time.Second

// scene is one row being played.
type scene struct {
	t       *testing.T
	row     row
	user    user
	backend string
	dir     string // of the fixture: h, run, tmp

	env    []string
	before map[string]string // the fixture, by path
	bridge *exec.Cmd
	result result
	out    int // pid of the process outside

	left     string            // processes that did not end in time
	listener *net.UnixListener // of the row's socket
}

func (s *scene) home(elem ...string) string {
	return filepath.Join(append([]string{s.dir, "h"}, elem...)...)
}
func (s *scene) projects(elem ...string) string {
	return s.home(append([]string{"projects"}, elem...)...)
}
func (s *scene) pub(elem ...string) string { return s.projects(append([]string{"pub"}, elem...)...) }

// folder is the session's.
func (s *scene) folder() string {
	if s.row.folder != "" {
		return s.projects(s.row.folder)
	}
	return s.pub()
}

// environ is what the scene's bridge is started with, and what its agents get
// unless Sallyport takes it away.
//
//	RUN      a folder for sockets           OUT     a process outside, in projects/secret
//	X        runs what intrude does         ABS     an abstract socket
//	BRIDGE   the bridge's process           NOWHERE part of names that are nobody's
func (s *scene) environ() []string {
	return []string{
		"HOME=" + s.home(), "PATH=" + path, "TMPDIR=" + filepath.Join(s.dir, "tmp"), "LANG=C.UTF-8", "SHELL=/bin/sh",
		"GORACE=atexit_sleep_ms=0", "GIT_CONFIG_NOSYSTEM=1",
		"SSH_AUTH_SOCK=/x", "DBUS_SESSION_BUS_ADDRESS=x", "DISPLAY=:9", "WAYLAND_DISPLAY=x", "DOCKER_HOST=x", "TMUX=x", "NVIM=x", "VSCODE_IPC_HOOK_CLI=x",
	}
}

// newScene sets the stage.
func newScene(t *testing.T, r row, backend string, u user) *scene {
	t.Helper()
	s := &scene{t: t, row: r, user: u, backend: backend}
	s.dir = copyFixture(t, u, strings.ReplaceAll(strings.ToLower(r.id), " ", "")+backend[:1]+u.name[:1])
	s.env = s.environ()
	if r.prepare != nil {
		r.prepare(s)
	}
	s.before = s.look()
	return s
}

// as runs a program outside, as the scene's user; it has to succeed.
func (s *scene) as(name string, args ...string) {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = s.home(), s.env, s.user.become()
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s %q: %v: %s", name, args, err, out)
	}
}

// do runs a script outside, as the scene's user, in the session's folder.
func (s *scene) do(script string) {
	s.t.Helper()
	s.as("sh", "-ec", "cd "+s.folder()+"\n"+script)
}

// outsider starts a process of the same user in projects/secret.
func (s *scene) outsider() int {
	s.t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.Dir, cmd.Env, cmd.SysProcAttr = s.projects("secret"), []string{"OUTENV=1"}, s.user.become()
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill() // may be gone
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// listen accepts on a socket, in a process of nobody's: the connections are
// counted, and said.
func (s *scene) listen(address string) *net.UnixListener {
	s.t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = l.Close() })
	if address[0] == '/' {
		if err := os.Lchown(address, s.user.id, s.user.group()); err != nil {
			s.t.Fatal(err)
		}
	}
	return l
}

// connected says whether somebody has connected to a listener.
func connected(l *net.UnixListener) bool {
	_ = l.SetDeadline(time.Now().Add(50 * time.Millisecond)) // what came is in the queue by now
	c, err := l.AcceptUnix()
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// play runs the row's command in the fence.
func (s *scene) play() {
	s.t.Helper()
	j := &job{Backend: s.backend, Folder: s.folder(), Home: s.home(), Run: filepath.Join(s.dir, "run")}
	j.Env = map[string]string{
		"RUN": j.Run, "OUT": strconv.Itoa(s.out), "X": ground.self, "ABS": s.abstract(), "NOWHERE": s.nowhere(), "GIT_CONFIG_NOSYSTEM": "1",
		"GORACE": "atexit_sleep_ms=0",
	}
	j.Command = []string{"/bin/sh", "-c", s.row.sh}
	if !s.row.raw {
		j.Command[2] = "echo :began; (" + s.row.sh + "\n) 2>&1; echo :ended $?"
	}
	if s.row.tells {
		j.Linger = true
		j.Command[2] += "; read end"
	}
	if s.row.tune != nil {
		s.row.tune(s, j)
	}
	s.run(j)
	if !s.row.raw && s.result.Refused == "" && s.backend != none {
		if !strings.HasPrefix(s.result.Stdout, ":began\n") {
			s.t.Fatalf("the command did not begin: %s", s.result)
		}
	}
}

// drill has a bridge start the row's command many times.
func (s *scene) drill(kind string) error {
	j := &job{Backend: s.backend, Folder: s.folder(), Home: s.home(), Run: filepath.Join(s.dir, "run"), Drill: kind}
	j.Command = []string{"/bin/sh", "-c", s.row.sh}
	return s.attempt(j)
}

// nowhere is a name, for files outside the fixture, that no one else has.
func (s *scene) nowhere() string {
	return "sallyport-" + filepath.Base(ground.dir) + "-" + filepath.Base(s.dir)
}

// abstract is the scene's abstract socket.
func (s *scene) abstract() string { return "@" + s.dir }

// ask asks the row's questions through fs/*.
func (s *scene) ask() {
	s.t.Helper()
	s.run(&job{Folder: s.folder(), Home: s.home(), Run: filepath.Join(s.dir, "run"), Ask: s.row.fs, Nowhere: s.nowhere()})
}

// run gives a job to a bridge of its own.
func (s *scene) run(j *job) {
	s.t.Helper()
	if err := s.attempt(j); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) attempt(j *job) error {
	input, err := json.Marshal(j)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	s.bridge = exec.CommandContext(ctx, ground.self, "bridge")
	s.bridge.Env, s.bridge.Dir, s.bridge.SysProcAttr = s.env, "/", s.user.become()
	s.bridge.SysProcAttr.Setpgid = true
	if s.user.id == 0 && s.backend == none && ground.mounts {
		s.bridge.SysProcAttr.Unshareflags = unix.CLONE_NEWNS // nothing keeps it from mounting
	}
	var out, errs bytes.Buffer
	s.bridge.Stdin, s.bridge.Stdout, s.bridge.Stderr = bytes.NewReader(input), &out, &errs
	s.bridge.WaitDelay = time.Second
	if err := s.bridge.Start(); err != nil {
		return err
	}
	gone := make(chan error, 1)
	go func() { gone <- s.bridge.Wait() }()
	if s.row.meanwhile != nil && len(j.Ask) == 0 {
		s.interlude(gone)
	}
	err = <-gone
	if err != nil {
		if s.row.dies {
			return nil
		}
		return fmt.Errorf("the bridge: %w\n%s%s", err, out.Bytes(), errs.Bytes())
	}
	if err := json.Unmarshal(out.Bytes(), &s.result); err != nil {
		return fmt.Errorf("the bridge's answer: %w\n%s%s", err, out.Bytes(), errs.Bytes())
	}
	return nil
}

// interlude waits for the command to be ready, and lets it go on. A bridge that
// ends before ends the waiting.
func (s *scene) interlude(gone chan error) {
	for {
		if _, err := os.Stat(filepath.Join(s.folder(), "ready")); err == nil {
			break
		}
		select {
		case err := <-gone:
			gone <- err
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	s.row.meanwhile(s)
	if err := os.WriteFile(filepath.Join(s.folder(), "go"), nil, 0o644); err != nil {
		s.t.Error(err)
	}
}

// ready is what a command with an interlude waits with.
const ready = ": > ready; until [ -e go ]; do sleep 0.02; done\n"

// look is the fixture as it is now: what is at each path below the home.
func (s *scene) look() map[string]string {
	all := map[string]string{}
	root := s.home()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if errors.Is(err, fs.ErrPermission) { // a folder that was closed to its owner
			all[rel] += " closed"
			return nil
		}
		var what string
		if err == nil {
			what, err = describe(path, d)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // it went while we looked
			return nil
		case err != nil:
			return err
		}
		all[rel] = what
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// describe tells a file from another state of it.
func describe(path string, d fs.DirEntry) (string, error) {
	info, err := d.Info()
	if err != nil {
		return "", err
	}
	text := info.Mode().String()
	switch {
	case info.Mode().IsRegular():
		data, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			return "", err
		}
		text += fmt.Sprintf(" %d %.6x", info.ModTime().UnixNano(), sha256.Sum256(data))
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		return text + " " + target, nil
	}
	names := make([]byte, 1024)
	if n, err := unix.Llistxattr(path, names); err == nil && n > 0 {
		text += fmt.Sprintf(" %q", names[:n])
	}
	return text, nil
}

// changed says what is not as before at some paths and beneath them, "" when
// nothing is.
func (s *scene) changed(paths ...string) string {
	now := s.look()
	var diff []string
	for _, p := range slices.Sorted(maps.Keys(union(s.before, now))) {
		below := slices.ContainsFunc(paths, func(top string) bool { return top == "" || p == top || strings.HasPrefix(p, top+"/") })
		if below && s.before[p] != now[p] {
			diff = append(diff, fmt.Sprintf("%s is %q, was %q", p, now[p], s.before[p]))
		}
	}
	return strings.Join(diff, "; ")
}

func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// text of a file of the fixture; a missing one says so.
func (s *scene) text(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(data)
}

// lives says whether a process that the test has started is still there.
func lives(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}
