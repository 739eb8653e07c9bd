package checkpoint

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestM1_OnlyWhatTheTurnChanged(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "before")
	p.write("output/big.jsonl", "{}\n")
	before := p.take()
	p.write("a.txt", "after")
	after := p.take()
	p.write("notes.txt", "the user's")
	kept, err := os.Stat(p.at("output/big.jsonl"))
	p.must(err)
	p.restore(before, after)
	p.want(map[string]string{"a.txt": "-rw-r--r-- before", "notes.txt": "-rw-r--r-- the user's", "output": "drwxr-xr-x", "output/big.jsonl": "-rw-r--r-- {}\n"})
	if now, err := os.Stat(p.at("output/big.jsonl")); err != nil || now.ModTime() != kept.ModTime() || !os.SameFile(now, kept) {
		t.Errorf("the untouched file is another one: %v, %v", now, err)
	}
}

func TestM1_FileOfTheUserInAFolderOfTheTurn(t *testing.T) {
	p := newProject(t)
	before := p.take()
	p.write("d/agent", "a")
	after := p.take()
	p.write("d/user", "u")
	r := p.restoreSome(before, after, RestoreOptions{Force: true})
	p.want(map[string]string{"d": "drwxr-xr-x", "d/user": "-rw-r--r-- u"})
	if len(r.Conflicts) != 1 || r.Conflicts[0].Path != "d" || r.Conflicts[0].Why != "has other files in it" {
		t.Errorf("got conflicts %+v", r.Conflicts)
	}
}

func TestM2_NewFilesAndFolders(t *testing.T) {
	p := newProject(t)
	p.mkdir("was/empty")
	before := p.take()
	p.write("d/e/new.txt", "new")
	p.write("x.bin", "\x00")
	p.write("was/empty/f", "f")
	p.restore(before, p.take())
	p.want(map[string]string{"was": "drwxr-xr-x", "was/empty": "drwxr-xr-x"})
}

func TestM3_NestedRepository(t *testing.T) {
	p := newProject(t)
	for _, name := range []string{"vendor/x/.git/HEAD", "vendor/x/.git/index", "vendor/y/.GIT/HEAD", "vendor/x/f"} {
		p.write(name, "before")
	}
	git, err := os.Stat(p.at("vendor/x/.git"))
	p.must(err)
	before := p.take()
	p.write("vendor/x/f", "after")
	p.write("vendor/x/.git/index", "git's own")
	after := p.take()
	if got := p.changes(before, after); !slices.Equal(got, []string{"modified vendor/x/f"}) {
		t.Errorf("got changes %q", got)
	}
	p.restore(before, after)
	if got := p.files(); got["vendor/x/f"] != "-rw-r--r-- before" || got["vendor/x/.git/index"] != "-rw-r--r-- git's own" {
		t.Errorf("got %q", got)
	}
	if now, err := os.Stat(p.at("vendor/x/.git")); err != nil || !os.SameFile(now, git) || now.ModTime() != git.ModTime() {
		t.Errorf("the nested .git was touched: %v, %v", now, err)
	}
}

func TestM3_RepositoryThatTheTurnMade(t *testing.T) {
	p := newProject(t)
	before := p.take()
	p.write("clone/.git/HEAD", "ref")
	p.write("clone/f", "f")
	r := p.restoreSome(before, p.take(), RestoreOptions{})
	p.want(map[string]string{"clone": "drwxr-xr-x", "clone/.git": "drwxr-xr-x", "clone/.git/HEAD": "-rw-r--r-- ref"})
	if len(r.Conflicts) != 1 || r.Conflicts[0].Path != "clone" {
		t.Errorf("got conflicts %+v", r.Conflicts)
	}
}

func TestM4_Submodule(t *testing.T) {
	p := newProject(t)
	p.write("sub/.git", "gitdir: ../.git/modules/sub\n")
	p.write("sub/dirty", "before")
	p.write("sub/untracked", "before")
	p.link(p.dir, "sub/loop")
	was := p.files()
	before := p.take()
	p.write("sub/dirty", "after")
	p.write("sub/untracked", "after")
	after := p.take()
	if got := p.changes(before, after); !slices.Equal(got, []string{"modified sub/dirty", "modified sub/untracked"}) {
		t.Errorf("got changes %q", got)
	}
	p.restore(before, after)
	p.want(was)
}

func TestM5_LineEndings(t *testing.T) {
	p := newProject(t)
	config := filepath.Join(t.TempDir(), "gitconfig")
	p.must(os.WriteFile(config, []byte("[core]\n\tautocrlf = true\n"), 0o600))
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	p.write(".gitattributes", "* text=auto eol=crlf\n")
	p.write("lf", "v1\n")
	p.write("crlf", "v1\r\n")
	p.write("mixed", "v1\r\nv1\n")
	was := p.files()
	before := p.take()
	for _, name := range []string{"lf", "crlf", "mixed"} {
		p.write(name, "v2\n")
	}
	p.restore(before, p.take())
	p.want(was)
}

func TestM6_M7_WithoutGit(t *testing.T) {
	t.Setenv("PATH", "")
	t.Setenv("HOME", filepath.Join(t.TempDir(), "none"))
	p := newProject(t)
	empty := p.take()
	p.write("untracked", "u")
	after := p.take()
	p.restore(empty, after)
	p.want(map[string]string{})
	p.restore(after, empty)
	p.want(map[string]string{"untracked": "-rw-r--r-- u"})
}

func TestM7_DeepInARepository(t *testing.T) {
	p := newProject(t)
	p.write(".git/HEAD", "ref")
	p.write("outside", "o")
	p.write("deep/in/f", "before")
	inner := &project{TB: t, dir: p.at("deep/in"), store: p.store}
	before := inner.take()
	inner.write("f", "after")
	p.write("outside", "changed")
	inner.restore(before, inner.take())
	got := p.files()
	if got["deep/in/f"] != "-rw-r--r-- before" || got["outside"] != "-rw-r--r-- changed" {
		t.Errorf("got %q", got)
	}
}

func TestM8_DoubtAboutWhatIsIgnored(t *testing.T) {
	p := newProject(t)
	p.write("archive/old", "kept")
	p.now.LeaveOut = []string{"[archive"}
	if c, err := p.store.Take(t.Context(), []string{p.dir}, p.now); err == nil || !strings.Contains(err.Error(), `"[archive"`) {
		t.Errorf("got %v, %v, want an error with the glob", c, err)
	}
	p.now.LeaveOut = []string{"archive"}
	before := p.take()
	if got := reasonsOf(before.Skipped); got != "archive: ignored" {
		t.Errorf("got left out %s", got)
	}
	p.write("archive/new", "by the turn, ignored")
	p.write("f", "f")
	p.restore(before, p.take())
	p.want(map[string]string{"archive": "drwxr-xr-x", "archive/old": "-rw-r--r-- kept", "archive/new": "-rw-r--r-- by the turn, ignored"})

	p.now.LeaveOut = nil // now it is held: what was there before is not known
	all := p.take()
	if got := p.changes(before, all); !slices.Contains(got, "unknown archive") {
		t.Errorf("got changes %q", got)
	}
	r := p.restoreSome(before, all, RestoreOptions{Force: true})
	if got := p.files(); got["archive/old"] == "" || got["archive/new"] == "" {
		t.Errorf("got %q after %+v", got, r)
	}
}

func TestM9_LinkReplacedByAFolder(t *testing.T) {
	p := newProject(t)
	out := filepath.Join(filepath.Dir(p.dir), "out")
	p.must(os.Mkdir(out, 0o755))
	p.must(os.WriteFile(filepath.Join(out, "k"), []byte("outside"), 0o644))
	p.link(out, "l")
	was := p.files()
	before := p.take()
	p.remove("l")
	p.write("l/k", "inside")
	is := p.files()
	after := p.take()
	for i, want := range []map[string]string{was, is, was} {
		if i%2 == 0 {
			p.restore(before, after)
		} else {
			p.restore(after, before)
		}
		p.want(want)
		if data, err := os.ReadFile(filepath.Join(out, "k")); err != nil || string(data) != "outside" {
			t.Fatalf("outside: got %q, %v", data, err)
		}
	}
}

func TestM10_LargeFiles(t *testing.T) {
	p := newProject(t)
	p.now.MaxFile = 3 << 20
	large := func(n int, c byte) string { return strings.Repeat(string(rune(c)), n) }
	p.write("model.bin", large(4<<20, 'm'))
	p.write("db.bin", large(4<<20, 'd'))
	p.write("grows", large(2<<20, 'g')) // stored in chunks
	before := p.take()
	if got := reasonsOf(before.Skipped); got != "db.bin: too large, model.bin: too large" {
		t.Errorf("left out before: %s", got)
	}
	p.write("db.bin", large(4<<20, 'e'))
	p.write("grows", large(5<<20, 'g'))
	p.write("new.bin", large(4<<20, 'n'))
	after := p.take()
	want := []string{"modified db.bin", "modified grows", "added new.bin"}
	if got := p.changes(before, after); !slices.Equal(got, want) {
		t.Errorf("got changes %q, want %q", got, want)
	}
	is := p.files()
	r := p.restoreSome(before, after, RestoreOptions{})
	p.want(is)
	var got []string
	for _, c := range r.Conflicts {
		got = append(got, c.Path+": "+c.Why)
	}
	if d := cmp.Diff([]string{
		"db.bin: was left out before the turn: too large",
		"grows: what the turn made of it is not stored: too large",
		"new.bin: what the turn made of it is not stored: too large",
	}, got); d != "" {
		t.Errorf("conflicts (-want +got):\n%s", d)
	}

	r = p.restoreSome(before, after, RestoreOptions{Force: true})
	now := p.files()
	if now["model.bin"] != is["model.bin"] || now["db.bin"] != is["db.bin"] || now["new.bin"] != "" || !strings.HasPrefix(now["grows"], "-rw-r--r-- 2097152 bytes") {
		t.Errorf("forced: got %q", now)
	}
	if r = p.restoreSome(r.Kept, before, RestoreOptions{}); len(r.Conflicts) > 0 {
		t.Errorf("back again: %+v", r.Conflicts)
	}
	p.want(is)
}

func TestM11_RemovedAndMoved(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "a")
	p.write("b.txt", "b")
	was := p.files()
	before := p.take()
	p.remove("a.txt")
	p.must(os.Rename(p.at("b.txt"), p.at("c.txt")))
	p.restore(before, p.take())
	p.want(was)
}

func TestM12_EditedAfterTheTurn(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "before")
	p.write("b.txt", "before")
	p.write("gone.txt", "before")
	before := p.take()
	for _, name := range []string{"a.txt", "b.txt", "gone.txt"} {
		p.write(name, "turn")
	}
	after := p.take()
	p.write("a.txt", "user")
	p.remove("gone.txt")
	p.mkdir("later")
	r := p.restoreSome(before, after, RestoreOptions{})
	p.want(map[string]string{"a.txt": "-rw-r--r-- user", "b.txt": "-rw-r--r-- before", "later": "drwxr-xr-x"})
	var got []string
	for _, c := range r.Conflicts {
		got = append(got, c.Path+": "+c.Why)
	}
	if !slices.Equal(got, []string{"a.txt: changed since", "gone.txt: changed since"}) || r.Kept != nil {
		t.Errorf("got conflicts %q, kept %v", got, r.Kept)
	}
	r = p.restoreSome(before, after, RestoreOptions{Force: true})
	p.want(map[string]string{"a.txt": "-rw-r--r-- before", "b.txt": "-rw-r--r-- before", "gone.txt": "-rw-r--r-- before", "later": "drwxr-xr-x"})
	kept, err := p.store.Load(r.Kept.ID)
	p.must(err)
	p.restore(kept, before)
	p.want(map[string]string{"a.txt": "-rw-r--r-- user", "b.txt": "-rw-r--r-- before", "later": "drwxr-xr-x"})
}

// The index of a git repository with staged and unstaged changes is the same after a turn and its undo.
func TestM15_StatusOfGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git to compare with")
	}
	p := newProject(t)
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(git, append([]string{"-c", "user.name=n", "-c", "user.email=e"}, args...)...)
		cmd.Dir = p.dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	run("init", "-q")
	p.write("staged", "1")
	p.write("unstaged", "1")
	run("add", ".")
	run("commit", "-qm", "first")
	p.write("staged", "2")
	run("add", "staged")
	p.write("unstaged", "2")
	own, status := describe(t, p.at(".git")), run("--no-optional-locks", "status", "--porcelain=v2")
	before := p.take()
	p.write("staged", "agent")
	p.write("unstaged", "agent")
	p.write("new", "agent")
	p.restore(before, p.take())
	if d := cmp.Diff(own, describe(t, p.at(".git"))); d != "" {
		t.Errorf(".git (-before +after):\n%s", d)
	}
	if got := run("--no-optional-locks", "status", "--porcelain=v2"); got != status {
		t.Errorf("status: got %q, want %q", got, status)
	}
}
