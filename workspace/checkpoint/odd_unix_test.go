//go:build unix

package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

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

// Paths may be longer than the system takes in one call.
func TestLongPaths(t *testing.T) {
	p := newProject(t)
	t.Chdir(p.dir)
	var names []string
	for i := range 60 {
		name := fmt.Sprintf("%03d%s", i, strings.Repeat("n", 200))
		p.must(os.Mkdir(name, 0o755))
		t.Chdir(name)
		names = append(names, name)
	}
	p.must(os.WriteFile("f", []byte("before"), 0o644))
	before := p.take()
	path := strings.Join(append(names, "f"), "/")
	if got := p.state(before, path); len(path) < 12_000 || got.Kind != File {
		t.Fatalf("a path of %d bytes is %s", len(path), got.Kind)
	}
	p.must(os.WriteFile("f", []byte("after"), 0o644))
	p.must(os.Symlink("f", "l"))
	p.restore(before, p.take())
	if data, err := os.ReadFile("f"); err != nil || string(data) != "before" {
		t.Errorf("got %q, %v", data, err)
	}
	if _, err := os.Lstat("l"); err == nil {
		t.Error("the link is still there")
	}
	if c := p.add(before, path); c != before {
		t.Error("it was taken up again")
	}
}

// A sparse file of 10 GB is above the budget also where files have no limit. What is large and sparse and held comes back.
func TestSparseFile(t *testing.T) {
	p := newProject(t)
	p.now.MaxFile = -1
	p.write("f", "f")
	p.must(os.WriteFile(p.at("sparse"), nil, 0o644))
	p.must(os.Truncate(p.at("sparse"), 10<<30))
	p.must(os.WriteFile(p.at("small"), nil, 0o644))
	p.must(os.Truncate(p.at("small"), 40<<20))
	before := p.take()
	if got := reasonsOf(before.Skipped); got != "sparse: over budget" {
		t.Errorf("left out: %s", got)
	}
	if before.Stats.Stored > 3<<20 {
		t.Errorf("40 MB of zeros took %d bytes", before.Stats.Stored)
	}
	was := p.fileOf("small")
	p.must(os.Truncate(p.at("small"), 20<<20))
	p.restore(before, p.take())
	if got := p.fileOf("small"); got != was {
		t.Errorf("got %s, want %s", got, was)
	}
}

func (p *project) fileOf(name string) string {
	p.Helper()
	data, err := os.ReadFile(p.at(name))
	p.must(err)
	return fmt.Sprint(len(data), " bytes, ", sum(data))
}

func TestDevice(t *testing.T) {
	p := newProject(t)
	p.write("f", "f")
	if err := syscall.Mknod(p.at("null"), syscall.S_IFCHR|0o666, 1<<8|3); err != nil {
		t.Skipf("no device can be made: %v", err)
	}
	before := p.take()
	if got := reasonsOf(before.Skipped); got != "null: special file" {
		t.Errorf("left out: %s", got)
	}
	p.remove("null")
	p.write("null", "by the turn")
	r := p.restoreSome(before, p.take(), RestoreOptions{Force: true})
	if len(r.Conflicts) != 1 || p.files()["null"] != "-rw-r--r-- by the turn" {
		t.Errorf("conflicts %+v, files %q", r.Conflicts, p.files())
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

// A turn may change so many paths that their list has 1 MiB.
func TestManyLongPaths(t *testing.T) {
	p := newProject(t)
	long := func(i int) string { return fmt.Sprintf("%03d%s", i, strings.Repeat("p", 240)) }
	dir := strings.Join([]string{long(1), long(2), long(3)}, "/")
	for i := range 1100 {
		p.write(dir+"/"+long(i), fmt.Sprint(i))
	}
	was := p.files()
	before := p.take()
	p.remove(long(1))
	after := p.take()
	if r := p.restore(before, after); len(r.Done) != 1103 {
		t.Errorf("did %d", len(r.Done))
	}
	p.want(was)
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
