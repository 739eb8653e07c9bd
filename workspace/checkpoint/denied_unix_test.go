//go:build unix

package checkpoint

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

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
	if data, _ := os.ReadFile(p.at("open")); string(data) != "o" || len(r.Conflicts) != 0 {
		t.Errorf("got %q, conflicts %+v", data, r.Conflicts)
	}
	if info, err := os.Lstat(p.at("d")); err != nil || info.Mode().Perm() != 0 {
		t.Errorf("the folder that the turn opened: %v, %v", info.Mode(), err)
	}
	if i := slices.IndexFunc(r.Done, func(s Step) bool { return s.Path == "d" }); i < 0 || !slices.Equal(r.Done[i].Lost, []string{lostInside}) {
		t.Errorf("done: %+v", r.Done)
	}
	p.restoreSome(after, before, RestoreOptions{}) // open again
	if _, err := os.Stat(p.at("d/g")); err != nil {
		t.Errorf("a file in a folder that was not known: %v", err)
	}
	p.chmod("secret", 0o644)
	p.testClosing()
	p.testUnreadable()
	p.testReadOnlyState()
}

// testReadOnlyState has a state folder, or a part of it, in which nothing can be written: no checkpoint, and an error that says so.
func (p *project) testReadOnlyState() {
	was, folders := p.files(), []string{".", "checkpoints", "packs", "index", "restoring"}
	for _, only := range append([][]string{folders}, folders[1:3]) {
		p.must(p.store.Close())
		for _, name := range only {
			p.must(os.Chmod(filepath.Join(p.store.dir, name), 0o500))
		}
		p.store = open(p, p.store.dir)
		p.write("open", "again")
		if _, err := p.store.Take(p.Context(), []string{p.dir}, p.now); !errors.Is(err, os.ErrPermission) {
			p.Errorf("%q cannot be written: got %v", only, err)
		}
		for _, name := range only {
			p.must(os.Chmod(filepath.Join(p.store.dir, name), 0o700))
		}
	}
	if _, err := Open(p.Context(), Config{Dir: p.at("open")}); err == nil {
		p.Error("a state folder that is a file")
	}
	p.take()
	p.write("open", strings.TrimPrefix(was["open"], "-rw-r--r-- "))
}

// testClosing takes back turns that forbid what an undo has to do.
func (p *project) testClosing() {
	p.write("closed/f", "before")
	p.write("closed/gone", "g")
	p.write("shut/f", "before")
	was := p.files()
	before := p.take()
	p.write("closed/f", "after")
	p.write("closed/new", "n")
	p.remove("closed/gone")
	p.chmod("closed", 0o555)
	after := p.take()
	p.restore(before, after)
	p.want(was)
	before = p.take()
	p.chmod("shut", 0)
	after = p.take()
	if got := reasonsOf(after.Skipped); got != "shut: permission denied" {
		p.Errorf("left out: %s", got)
	}
	p.restore(before, after)
	p.want(was)
}

// testUnreadable takes back a turn that made files nobody can read: what it left in them is not stored, so only by force.
func (p *project) testUnreadable() {
	p.write("f", "before")
	was := p.files()
	before := p.take()
	p.write("f", "after")
	p.write("made", "by the turn")
	p.chmod("f", 0)
	p.chmod("made", 0)
	after := p.take()
	r := p.restoreSome(before, after, RestoreOptions{})
	if len(r.Conflicts) != 2 || len(r.Done) != 0 || !r.Conflicts[0].Forceable || r.Conflicts[0].Why != "what the turn made of it is not stored: permission denied" {
		p.Errorf("conflicts %+v, done %+v", r.Conflicts, r.Done)
	}
	r = p.restoreSome(before, after, RestoreOptions{Force: true})
	p.want(was)
	if len(r.Conflicts) > 0 || r.Kept == nil {
		p.Fatalf("forced: conflicts %+v, kept %v", r.Conflicts, r.Kept)
	}
	for path, want := range map[string]string{"f": "after", "made": "by the turn"} {
		if got := p.content(p.state(r.Kept, path).Hash); got != want {
			p.Errorf("kept of %s: %q", path, got)
		}
	}
}
