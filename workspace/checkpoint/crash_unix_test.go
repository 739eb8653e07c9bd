//go:build unix

package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// crashVariable tells the test binary that it is the process to be killed: act, step, folder.
const crashVariable = "SALLYPORT_CHECKPOINT_CRASH"

// TestMain runs the acts of crash tests, which end by SIGKILL at a step.
func TestMain(m *testing.M) {
	if spec := os.Getenv(crashVariable); spec != "" {
		fields := strings.SplitN(spec, ":", 3)
		at, err := strconv.Atoi(fields[1])
		if err == nil {
			err = crash(fields[0], int64(at), fields[2])
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// crash does one act in a folder that holds p and state, and kills itself at a step of it.
func crash(act string, at int64, base string) error {
	var count atomic.Int64
	step := func(string) {
		if count.Add(1) == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	ctx := context.Background()
	s, err := Open(ctx, Config{Dir: filepath.Join(base, "state"), Step: step})
	if err != nil {
		return err
	}
	dir := filepath.Join(base, "p")
	switch act {
	case "take":
		_, err = s.Take(ctx, []string{dir}, Options{})
	case "undo":
		var ids []string
		if ids, err = s.List(); err != nil {
			return err
		}
		var list [2]*Checkpoint
		for i := range list {
			if list[i], err = s.Load(ids[i]); err != nil {
				return err
			}
		}
		var plan *Plan
		if plan, err = s.Plan(ctx, list[0], list[1], RestoreOptions{}); err == nil {
			_, err = s.Restore(ctx, plan)
		}
	case "prune":
		var ids []string
		if ids, err = s.List(); err != nil {
			return err
		}
		_, err = s.Prune(ctx, PruneOptions{MaxBytes: 1, Needed: ids[:1]})
	case "full":
		err = full(ctx, s, dir)
	default:
		err = errors.New("no such act")
	}
	return errors.Join(err, s.Close())
}

// full takes a checkpoint when the disk takes no more, and another when it does again.
func full(ctx context.Context, s *Store, dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return err
	}
	little := was
	little.Cur = 64 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &little); err != nil {
		return err
	}
	if c, err := s.Take(ctx, []string{dir}, Options{}); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("with a full disk: %v, %w", c, err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return err
	}
	_, err := s.Take(ctx, []string{dir}, Options{})
	return err
}

func TestFullDisk(t *testing.T) {
	p := newProject(t)
	p.write("a", "a")
	p.take()
	random := rand.New(rand.NewPCG(1, 1))
	body := make([]byte, 300<<10)
	for i := range body {
		body[i] = byte(random.Uint32())
	}
	p.write("large", string(body))
	p.must(p.store.Close())
	exe, err := os.Executable()
	p.must(err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=full:0:%s", crashVariable, filepath.Dir(p.dir)))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.store = open(t, p.store.dir)
	ids := p.ids()
	if len(ids) != 2 {
		t.Errorf("got checkpoints %q, want that before and that after", ids)
	}
	for _, id := range ids {
		p.whole(id)
	}
}

// walkCrashes runs an act once for each of its steps, each time in a fresh project, and then check.
func walkCrashes(t *testing.T, act string, make func(p *project), check func(p *project, step int)) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for step := 1; ; step++ {
		p := newProject(t)
		make(p)
		p.must(p.store.Close())
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s:%d:%s", crashVariable, act, step, filepath.Dir(p.dir)))
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		killed := errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
		if err != nil && !killed {
			t.Fatalf("%s at step %d: %v: %s", act, step, err, out)
		}
		p.store = open(t, p.store.dir)
		check(p, step)
		p.must(p.store.Close())
		if t.Failed() {
			t.Fatalf("%s was killed at step %d", act, step)
		}
		if !killed {
			if step < 8 {
				t.Errorf("%s has only %d steps", act, step-1)
			}
			return
		}
	}
}

func (p *project) ids() []string {
	p.Helper()
	ids, err := p.store.List()
	p.must(err)
	return ids
}

// whole reads everything that a checkpoint holds.
func (p *project) whole(id string) {
	p.Helper()
	c, err := p.store.Load(id)
	p.must(err)
	for _, r := range c.Roots {
		p.must(p.store.visit(context.Background(), r.Tree, "", func(path string, it item) {
			if it.Kind == File || it.Kind == Link {
				if _, err := p.store.content(it.Hash); err != nil {
					p.Errorf("checkpoint %s, %s: %v", id, path, err)
				}
			}
		}))
	}
}

func TestM3_CrashDuringTake(t *testing.T) {
	walkCrashes(t, "take", func(p *project) {
		p.write("vendor/x/.git/HEAD", "ref")
		p.write("vendor/x/f", "f")
		p.write("a", "one")
		p.take()
		p.write("a", "two")
		p.write("b", strings.Repeat("b", 1<<20+5))
	}, func(p *project, _ int) {
		was := p.files()
		ids := p.ids()
		if len(ids) != 1 && len(ids) != 2 {
			p.Errorf("got checkpoints %q, want the old one, or it and the new one", ids)
		}
		for _, id := range ids {
			p.whole(id)
		}
		first, err := p.store.Load(ids[0])
		p.must(err)
		p.restore(first, p.take())
		if got := p.files(); got["a"] != "-rw-r--r-- one" || got["b"] != "" || got["vendor/x/.git/HEAD"] != was["vendor/x/.git/HEAD"] {
			p.Errorf("after the undo: %q", got)
		}
	})
}

func TestCrashDuringRestore(t *testing.T) {
	var was, is map[string]string
	walkCrashes(t, "undo", func(p *project) {
		p.write("edited", "one")
		p.write("d/removed", "r")
		p.write("becomes-folder", "file")
		p.link("edited", "becomes-file")
		p.write("mode", "m")
		was = p.files()
		p.take()
		p.write("edited", "two")
		p.remove("d")
		p.remove("becomes-folder")
		p.write("becomes-folder/in", "in")
		p.remove("becomes-file")
		p.write("becomes-file", "f")
		p.chmod("mode", 0o755)
		p.write("new/folder/f", "f")
		is = p.files()
		p.take()
	}, func(p *project, step int) {
		got := p.files()
		for name, text := range got {
			private := text == "drwx------" && (was[name] != "" || is[name] != "") // a folder gets its mode last
			if text != was[name] && text != is[name] && !private {
				p.Errorf("%s: got %q, want %q or %q", name, text, was[name], is[name])
			}
		}
		for name, text := range was {
			if is[name] == text && got[name] != text {
				p.Errorf("%s: got %q, and it did not change in the turn", name, got[name])
			}
		}
		ids := p.ids()
		before, err := p.store.Load(ids[0])
		p.must(err)
		after, err := p.store.Load(ids[1])
		p.must(err)
		r := p.restoreSome(before, after, RestoreOptions{Force: true})
		if len(r.Conflicts) > 0 {
			p.Errorf("conflicts %+v", r.Conflicts)
		}
		p.want(was)
	})
}

func TestCrashDuringPrune(t *testing.T) {
	walkCrashes(t, "prune", func(p *project) {
		p.write("kept", "kept")
		p.write("both", "both")
		p.take()
		p.write("kept", "two")
		p.write("large", strings.Repeat("l", 100))
		p.take()
		p.write("kept", "three")
		p.take()
	}, func(p *project, _ int) {
		ids := p.ids()
		if len(ids) == 0 || len(ids) > 3 {
			p.Errorf("got checkpoints %q", ids)
		}
		for _, id := range ids {
			p.whole(id)
		}
		first, err := p.store.Load(ids[0])
		p.must(err)
		p.restore(first, p.take())
		if d := cmp.Diff(map[string]string{"kept": "-rw-r--r-- kept", "both": "-rw-r--r-- both"}, p.files()); d != "" {
			p.Errorf("after the undo (-want +got):\n%s", d)
		}
	})
}

func TestOddFiles(t *testing.T) {
	p := newProject(t)
	p.write("plain", "p")
	p.must(syscall.Mkfifo(p.at("fifo"), 0o644))
	p.must(os.WriteFile(p.at("bad\xff\xfename"), []byte("b"), 0o644))
	p.must(os.WriteFile(p.at("sparse"), nil, 0o644))
	p.must(os.Truncate(p.at("sparse"), 10<<30))
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	p.must(err)
	defer syscall.Close(fd)
	t.Chdir(p.dir) // names of sockets are short
	p.must(syscall.Bind(fd, &syscall.SockaddrUnix{Name: "socket"}))
	before := p.take()
	if got := reasonsOf(before.Skipped); got != "fifo: special file, socket: special file, sparse: too large" {
		t.Errorf("left out: %s", got)
	}
	loaded, err := p.store.LeftOut(t.Context(), before)
	p.must(err)
	if d := cmp.Diff(before.Skipped, loaded); d != "" {
		t.Errorf("left out of what is stored (-taken +stored):\n%s", d)
	}
	p.remove("bad\xff\xfename")
	p.remove("fifo")
	p.must(syscall.Mkfifo(p.at("plain2"), 0o644))
	r := p.restoreSome(before, p.take(), RestoreOptions{Force: true})
	if data, err := os.ReadFile(p.at("bad\xff\xfename")); err != nil || string(data) != "b" {
		t.Errorf("got %q, %v", data, err)
	}
	if _, err := os.Lstat(p.at("plain2")); err != nil || len(r.Conflicts) != 2 {
		t.Errorf("the turn's fifo: %v, conflicts %+v", err, r.Conflicts)
	}
}

func TestChangesWhileRead(t *testing.T) {
	p := newProject(t)
	p.write("log", strings.Repeat("x", 1<<20))
	stop := make(chan struct{})
	done := make(chan struct{})
	f, err := os.OpenFile(p.at("log"), os.O_WRONLY|os.O_APPEND, 0)
	p.must(err)
	go func() {
		defer close(done)
		defer f.Close()
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = f.WriteString("x")
			}
		}
	}()
	for range 5 {
		c := p.take()
		if got := reasonsOf(c.Skipped); got != "" && got != "log: changed while being read" {
			t.Errorf("left out: %s", got)
		}
		p.whole(c.ID)
	}
	close(stop)
	<-done
	if c := p.take(); len(c.Skipped) > 0 {
		t.Errorf("when it is quiet: %v", c.Skipped)
	}
}

// While a walk runs, folders become links to a folder elsewhere. Nothing of that comes in.
func TestTreeReplacedByALink(t *testing.T) {
	p := newProject(t)
	out := filepath.Join(filepath.Dir(p.dir), "out")
	p.must(os.MkdirAll(filepath.Join(out, "sub"), 0o755))
	p.must(os.WriteFile(filepath.Join(out, "sub", "secret"), []byte("s"), 0o600))
	p.write("d/sub/f", "f")
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.Rename(p.at("d"), filepath.Join(out, "d"))
				_ = os.Symlink(out, p.at("d"))
				_ = os.Remove(p.at("d"))
				_ = os.Rename(filepath.Join(out, "d"), p.at("d"))
			}
		}
	}()
	for range 200 {
		c := p.take()
		for _, r := range c.Roots {
			p.must(p.store.visit(t.Context(), r.Tree, "", func(path string, _ item) {
				if strings.Contains(path, "secret") {
					t.Errorf("%s came in", path)
				}
			}))
		}
	}
	close(stop)
	<-done
	p.remove("d")
	p.link(out, "d")
	if _, err := p.store.Take(t.Context(), []string{p.at("d")}, Options{}); !errors.Is(err, errNoFolder) {
		t.Errorf("a root that is a link: got %v", err)
	}
}

func TestRestoreThroughALink(t *testing.T) {
	p := newProject(t)
	p.write("d/f", "before")
	p.write("elsewhere/f", "other")
	before := p.take()
	p.write("d/f", "after")
	after := p.take()
	p.remove("d")
	p.link("elsewhere", "d")
	r := p.restoreSome(before, after, RestoreOptions{Force: true})
	if data, err := os.ReadFile(p.at("elsewhere/f")); err != nil || string(data) != "other" || len(r.Conflicts) != 1 {
		t.Errorf("through the link: got %q, %v, conflicts %+v", data, err, r.Conflicts)
	}
}

// deniedVariable makes the test binary one that is not root.
const deniedVariable = "SALLYPORT_CHECKPOINT_DENIED"

func TestPermissionDenied(t *testing.T) {
	if os.Getuid() == 0 && os.Getenv(deniedVariable) == "" {
		base, err := os.MkdirTemp("", "denied") //nolint:usetesting // its parents are open to others
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(base)
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(exe)
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(base, "test")
		if err := errors.Join(os.Chmod(base, 0o777), os.WriteFile(copied, data, 0o755)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(copied, "-test.run=^TestPermissionDenied$", "-test.v")
		cmd.Dir = base
		cmd.Env = append(os.Environ(), deniedVariable+"=1", "TMPDIR="+base, "HOME=/nonexistent")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestPermissionDenied") {
			t.Fatalf("not as root: %v: %s", err, out)
		}
		return
	}
	p := newProject(t)
	p.write("secret", "s")
	p.write("d/f", "f")
	p.write("open", "o")
	p.chmod("secret", 0)
	p.chmod("d", 0)
	defer os.Chmod(p.at("d"), 0o755)
	before := p.take()
	if got := reasonsOf(before.Skipped); got != "d: permission denied, secret: permission denied" {
		t.Errorf("left out: %s", got)
	}
	p.write("open", "changed")
	p.chmod("d", 0o755)
	p.write("d/g", "g")
	after := p.take()
	r := p.restoreSome(before, after, RestoreOptions{Force: true})
	if data, _ := os.ReadFile(p.at("open")); string(data) != "o" || len(r.Conflicts) != 1 || r.Conflicts[0].Path != "d" {
		t.Errorf("got %q, conflicts %+v", data, r.Conflicts)
	}
	if _, err := os.Stat(p.at("d/g")); err != nil {
		t.Error("a file in a folder that was not known is gone")
	}
	p.must(os.Chmod(filepath.Join(p.store.dir, "checkpoints"), 0o500))
	p.write("open", "again")
	if _, err := p.store.Take(t.Context(), []string{p.dir}, p.now); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a store that cannot be written: got %v", err)
	}
	p.must(os.Chmod(filepath.Join(p.store.dir, "checkpoints"), 0o700))
}

func TestFilesOfTheStoreAreOurs(t *testing.T) {
	p := newProject(t)
	p.write("f", "f")
	p.take()
	p.must(p.store.Close())
	for name, text := range describe(t, p.store.dir) {
		if !strings.HasPrefix(text, "-rw-------") && text != "drwx------" {
			t.Errorf("%s: %.10s", name, text)
		}
	}
}

func TestTimeLimit(t *testing.T) {
	p := newProject(t)
	p.write("f", "f")
	p.write("d/g", "g")
	p.now.Limit = time.Nanosecond
	before := p.take()
	if got := reasonsOf(before.Skipped); got != "d: time limit, f: time limit" {
		t.Errorf("left out: %s", got)
	}
	p.now.Limit = 0
	after := p.take()
	if len(after.Skipped) > 0 {
		t.Errorf("the next one left out %v", after.Skipped)
	}
	r := p.restoreSome(before, after, RestoreOptions{Force: true})
	p.want(map[string]string{"f": "-rw-r--r-- f", "d": "drwxr-xr-x", "d/g": "-rw-r--r-- g"})
	if len(r.Conflicts) != 2 {
		t.Errorf("got conflicts %+v", r.Conflicts)
	}
}
