package fence

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes files below a fresh folder, whose links are followed, and returns it. A content that begins with "-> " makes a
// link; a name that ends in a slash a folder; "$" in a link stands for the folder itself.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			if target, ok := strings.CutPrefix(content, "-> "); ok {
				err = os.Symlink(strings.ReplaceAll(target, "$", root), path)
			} else {
				err = os.WriteFile(path, []byte(content), 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func policy(t testing.TB, folder string, r Rules) *Policy {
	t.Helper()
	p, err := New(folder, r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// verdictOf is the fence that refused, "" for allowed, "error" for another error.
func verdictOf(err error) Kind {
	var r *Refusal
	switch {
	case err == nil:
		return ""
	case errors.As(err, &r):
		return r.Fence
	default:
		return "error"
	}
}

// try checks one access in every way that the policy offers it, and fails when these disagree.
func try(t testing.TB, p *Policy, a Access, path string) Kind {
	t.Helper()
	if a == Read {
		checked := verdictOf(p.CheckRead(path))
		f, err := p.OpenRead(path)
		if err == nil {
			f.Close()
		}
		if opened := verdictOf(err); opened != checked && !errors.Is(err, fs.ErrNotExist) && !isSpecial(err) {
			t.Errorf("read of %q: CheckRead says %q, OpenRead %q (%v)", path, checked, opened, err)
		}
		return checked
	}
	checked := verdictOf(p.CheckWrite(path))
	target, err := p.Writable(path)
	if err == nil {
		target.Dir.Close()
	}
	if opened := verdictOf(err); opened != checked && !isSpecial(err) {
		t.Errorf("write to %q: CheckWrite says %q, Writable %q (%v)", path, checked, opened, err)
	}
	return checked
}

func isSpecial(err error) bool {
	var s *SpecialError
	return errors.As(err, &s)
}

func TestF1_ComparisonIsByComponent(t *testing.T) {
	root := tree(t, map[string]string{"p/src/": "", "p-evil/": ""})
	p := policy(t, root+"/p", Rules{})
	for path, want := range map[string]Kind{
		"/p-evil/x":               Region,
		"/p/../p-evil/x":          Region,
		"/p/./src/../../p-evil/x": Region,
		"/p/x":                    "",
		"/p/a/../x":               "",
	} {
		if got := try(t, p, Write, root+path); got != want {
			t.Errorf("write to %s: refused by %q, want %q", path, got, want)
		}
	}
}

func TestNewRefusesWhatIsNoFolder(t *testing.T) {
	root := tree(t, map[string]string{"f": ""})
	if _, err := New(root+"/none", Rules{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
	if _, err := New(root+"/f", Rules{}); !isSpecial(err) {
		t.Errorf("a file: %v", err)
	}
	for _, r := range []Rules{{Region: []string{"a[*"}}, {Reserved: []string{"[*"}}, {Unreadable: []string{"../x"}}} {
		if _, err := New(root, r); err == nil {
			t.Errorf("%+v is accepted", r)
		}
	}
}

func TestFileWhereAFolderWouldBe(t *testing.T) {
	root := tree(t, map[string]string{"f": "text"})
	p := policy(t, root, Rules{})
	if _, err := p.OpenRead(root + "/f/g"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read: %v", err)
	}
	if _, err := p.Writable(root + "/f/g/h"); err == nil || errors.Is(err, errMoved) {
		t.Errorf("write: %v", err)
	}
}

// A home that is no folder must not keep a session from starting.
func TestOddHome(t *testing.T) {
	root := tree(t, map[string]string{"f": "text"})
	for _, home := range []string{"", "/dev/null", root + "/f", "relative"} {
		t.Setenv("HOME", home)
		if _, err := New(root, Rules{}); err != nil {
			t.Errorf("home %q: %v", home, err)
		}
	}
}
