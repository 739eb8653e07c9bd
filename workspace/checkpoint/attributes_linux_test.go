package checkpoint

import (
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func (p *project) stat(name string) (st unix.Stat_t) {
	p.Helper()
	p.must(unix.Lstat(p.at(name), &st))
	return st
}

func lostOf(r *Result, path string) []string {
	for _, s := range r.Done {
		if s.Path == path {
			return s.Lost
		}
	}
	return []string{"not done"}
}

func TestOwnerAndAttributesOfARestoredFile(t *testing.T) {
	p := newProject(t)
	p.write("f", "before")
	p.write("deleted", "before")
	p.must(unix.Setxattr(p.at("f"), "user.note", []byte("kept"), 0))
	root := os.Getuid() == 0
	if root {
		p.must(os.Chown(p.at("f"), 1234, 4321))
		p.must(os.Chmod(p.at("f"), 0o755|os.ModeSetuid))
	}
	before := p.take()
	mode := p.stat("f").Mode
	f, err := os.OpenFile(p.at("f"), os.O_WRONLY|os.O_TRUNC, 0)
	p.must(err)
	_, err = f.WriteString("after")
	p.must(err)
	p.must(f.Close())
	p.remove("deleted")
	r := p.restore(before, p.take())
	if st := p.stat("f"); root && (st.Uid != 1234 || st.Gid != 4321) || st.Mode != mode {
		t.Errorf("got owner %d:%d, mode %o, want mode %o", st.Uid, st.Gid, st.Mode, mode)
	}
	value := make([]byte, 10)
	if n, err := unix.Getxattr(p.at("f"), "user.note", value); err != nil || string(value[:n]) != "kept" {
		t.Errorf("the attribute: got %q, %v", value[:max(n, 0)], err)
	}
	if lost := lostOf(r, "f"); len(lost) > 0 {
		t.Errorf("lost %q", lost)
	}
}

// Two names of one file that both come back are one file again. A third one outside keeps what the turn wrote, and that is said.
func TestHardLinksAreRestored(t *testing.T) {
	p := newProject(t)
	p.write("d/a", "before")
	p.write("alone", "before")
	p.must(os.Link(p.at("d/a"), p.at("b")))
	before := p.take()
	p.write("d/a", "after")
	p.write("alone", "after")
	p.must(os.Link(p.at("alone"), p.dir+"-outside"))
	after := p.take()
	r := p.restore(before, after)
	if a, b := p.stat("d/a"), p.stat("b"); a.Ino != b.Ino || a.Nlink != 2 {
		t.Errorf("inodes %d and %d, %d names", a.Ino, b.Ino, a.Nlink)
	}
	for path, want := range map[string][]string{"d/a": nil, "b": nil, "alone": {lostLinks}} {
		if got := lostOf(r, path); !slices.Equal(got, want) {
			t.Errorf("%s lost %q, want %q", path, got, want)
		}
	}
	p.restore(after, before)
	if data, err := os.ReadFile(p.dir + "-outside"); err != nil || string(data) != "after" {
		t.Errorf("outside: got %q, %v", data, err)
	}
	if a, b := p.stat("d/a"), p.stat("b"); a.Ino != b.Ino {
		t.Error("not one file after the redo")
	}
}
