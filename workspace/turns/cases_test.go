package turns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
	"sallyport/workspace/text"
	"sallyport/workspace/workspacetest"
)

// undo takes back and fails on conflicts.
func (b *bench) undo(u Undo) *Undone {
	b.Helper()
	got := b.tryUndo(u)
	if len(got.Conflicts) > 0 {
		b.Fatalf("undo of %q: conflicts %+v", u.Turn, got.Conflicts)
	}
	return got
}

func (b *bench) tryUndo(u Undo) *Undone {
	b.Helper()
	u.Folder = b.dir
	got, err := b.store.Undo(b.Context(), u)
	b.must(err)
	return got
}

func (b *bench) redo() *Undone {
	b.Helper()
	return b.undo(Undo{Redo: true})
}

func (b *bench) want(want map[string]string) {
	b.Helper()
	if d := cmp.Diff(want, b.tree()); d != "" {
		b.Errorf("the project (-want +got):\n%s", d)
	}
}

// roundTrip undoes the last turn, redoes and undoes it.
func (b *bench) roundTrip(before map[string]string) {
	b.Helper()
	after := b.tree()
	b.undo(Undo{})
	b.want(before)
	b.redo()
	b.want(after)
	b.undo(Undo{})
	b.want(before)
}

func TestM1_OnlyWhatTheTurnChanged(t *testing.T) {
	b := newBench(t)
	b.write("output/big.jsonl", strings.Repeat("{}\n", 1000))
	b.write("a", "1")
	b.turn(func(r *Running) {
		b.write("notes.txt", "mine")
		r.Saved(b.at("notes.txt"), text.Hash("mine"))
		b.write("a", "2")
	})
	want := b.tree()
	want["a"] = "-rw-r--r-- 1"
	b.undo(Undo{})
	b.want(want)
}

func TestM2_NewFilesAndFolders(t *testing.T) {
	b := newBench(t)
	b.must(os.Mkdir(b.at("empty"), 0o755))
	before := b.tree()
	b.turn(func(r *Running) {
		b.mediated(r, "d/e/new.txt", "n")
		b.write("x.bin", "\x00\xff")
	})
	b.roundTrip(before)
}

func TestM3_NestedRepository(t *testing.T) {
	b := newBench(t)
	b.write("vendor/x/.git/HEAD", "ref: refs/heads/main\n")
	b.write("vendor/x/.git/index", "index")
	b.write("vendor/x/f", "edited by the user")
	before := b.tree()
	b.turn(func(r *Running) { b.write("vendor/x/f", "edited by the agent") })
	b.roundTrip(before)
}

func TestM4_Submodule(t *testing.T) {
	b := newBench(t)
	b.write("sub/.git", "gitdir: ../.git/modules/sub\n")
	b.write("sub/dirty", "d")
	b.write("sub/untracked", "u")
	out := filepath.Join(b.base, "out")
	b.must(os.MkdirAll(filepath.Join(out, ".git"), 0o755))
	b.must(os.Symlink(out, b.at("link")))
	before := b.tree()
	b.turn(func(r *Running) {
		b.write("sub/dirty", "agent's")
		b.write("sub/untracked", "agent's")
	})
	b.roundTrip(before)
}

func TestM5_LineEndings(t *testing.T) {
	b := newBench(t)
	config := filepath.Join(b.base, "gitconfig")
	b.must(os.WriteFile(config, []byte("[core]\n\tautocrlf = true\n"), 0o644))
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	b.write(".gitattributes", "* text=auto eol=crlf\n")
	for name, content := range map[string]string{"lf": "v1\n", "crlf": "v1\r\n", "mixed": "v1\nv1\r\n"} {
		b.write(name, content)
	}
	before := b.tree()
	b.turn(func(r *Running) {
		for _, name := range []string{"lf", "crlf", "mixed"} {
			b.write(name, "v2\n")
		}
	})
	b.roundTrip(before)
}

func TestM6_WithoutAnIdentity(t *testing.T) {
	b := newBench(t)
	t.Setenv("HOME", filepath.Join(b.base, "nobody"))
	b.write("untracked", "u")
	before := b.tree()
	b.turn(func(r *Running) { b.write("untracked", "2") })
	b.roundTrip(before)

	// A turn that has no checkpoint says so from the start, and is never taken back.
	wide, err := b.store.Begin(t.Context(), Start{Turn: "t-wide", Folder: string(filepath.Separator)})
	b.must(err)
	if wide.Uncovered() == "" {
		t.Error("a turn on everything is covered")
	}
	got, err := wide.End(t.Context(), receipt.End{StopReason: "end_turn"}, nil, nil)
	b.must(err)
	if got.Cover.None == "" {
		t.Error("the receipt does not say that there was no checkpoint")
	}
	_, err = b.store.Undo(t.Context(), Undo{Folder: string(filepath.Separator), Turn: "t-wide"})
	if gone := (*GoneError)(nil); !errors.As(err, &gone) || gone.Why != wide.Uncovered() {
		t.Errorf("undo of a turn without a checkpoint: %v, want why", err)
	}
}

func TestM7_NoGit(t *testing.T) {
	for _, where := range []string{"empty", "without .git", "in a larger repository"} {
		t.Run(where, func(t *testing.T) {
			b := newBench(t)
			t.Setenv("PATH", b.base)
			switch where {
			case "without .git":
				b.write("a", "1")
			case "in a larger repository":
				b.must(os.MkdirAll(filepath.Join(b.base, ".git"), 0o755))
				b.write("a", "1")
			}
			before := b.tree()
			b.turn(func(r *Running) { b.write("a", "2") })
			b.roundTrip(before)
		})
	}
}

func TestM8_NoDeletionOnDoubt(t *testing.T) {
	b := newBench(t)
	b.write(".gitignore", "archive/\n")
	b.write("archive/f", "old")
	b.write("a", "1")
	b.turn(func(r *Running) {
		b.write(".gitignore", "[\n*\n")
		b.write("archive/new", "n")
		b.write("a", "2")
	})
	b.undo(Undo{})
	got := b.tree()
	if got["archive/f"] == "" || got["a"] != "-rw-r--r-- 1" || got[".gitignore"] != "-rw-r--r-- archive/\n" {
		t.Errorf("got %q", got)
	}
	if _, err := b.store.Begin(t.Context(), Start{Turn: "t-bad", Folder: b.dir, Options: checkpoint.Options{LeaveOut: []string{"["}}}); err != nil {
		t.Error(err)
	}
}

func TestM9_LinkToFolder(t *testing.T) {
	b := newBench(t)
	out := filepath.Join(b.base, "out")
	b.must(os.MkdirAll(out, 0o755))
	b.must(os.WriteFile(filepath.Join(out, "k"), []byte("theirs"), 0o644))
	b.must(os.Symlink(out, b.at("l")))
	before := b.tree()
	b.turn(func(r *Running) {
		b.remove("l")
		b.write("l/k", "agent's")
	})
	b.roundTrip(before)
	if data, err := os.ReadFile(filepath.Join(out, "k")); err != nil || string(data) != "theirs" {
		t.Errorf("behind the link: %q, %v", data, err)
	}
}

func TestM10_LargeFiles(t *testing.T) {
	b := newBench(t)
	large := strings.Repeat("x", 2<<20)
	b.write("model.bin", large)
	b.write("db.bin", large)
	b.write("a", "1")
	r, err := b.store.Begin(t.Context(), Start{Turn: "t-large", Folder: b.dir, Options: checkpoint.Options{MaxFile: 1 << 20}})
	b.must(err)
	if got := r.LeftOut(); len(got) != 2 || got[0].Path != "db.bin" {
		t.Errorf("before the turn: left out %v", got)
	}
	b.write("db.bin", large+"y")
	b.write("a", "2")
	if got, want := b.end(r, Declared{}), "a modified silent, db.bin unknown silent"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	want := b.tree()
	want["a"] = "-rw-r--r-- 1"
	for _, force := range []bool{false, true} {
		got := b.tryUndo(Undo{Turn: "t-large", Force: force})
		if len(got.Conflicts) != 1 || got.Conflicts[0].Path != "db.bin" || got.Conflicts[0].Forceable {
			t.Errorf("conflicts %+v, want db.bin alone", got.Conflicts)
		}
		b.want(want)
		if force {
			break
		}
		b.redo()
	}
	rec, err := b.store.Receipts().Find(b.dir, "t-large")
	b.must(err)
	if rec.Cover.Skipped.Total != 2 {
		t.Errorf("the receipt says that %d were left out, want 2", rec.Cover.Skipped.Total)
	}
}

func TestM11_RemoveAndMove(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "a")
	b.write("b.txt", "b")
	before := b.tree()
	b.turn(func(r *Running) {
		b.remove("a.txt")
		b.move("b.txt", "c.txt")
	})
	b.roundTrip(before)
}

func TestM12_EditedSince(t *testing.T) {
	t.Run("saved", func(t *testing.T) {
		b := newBench(t)
		b.write("a.txt", "1")
		b.turn(func(r *Running) { b.write("a.txt", "2") })
		b.write("a.txt", "user's")
		edited := b.tree()
		got := b.tryUndo(Undo{})
		if len(got.Conflicts) != 1 || !got.Conflicts[0].Forceable || got.Turn != "" {
			t.Errorf("got %+v, want a conflict alone", got)
		}
		b.want(edited)
		b.undo(Undo{Force: true})
		b.want(map[string]string{"a.txt": "-rw-r--r-- 1"})
		b.redo()
		b.want(edited)
	})
	t.Run("unsaved", func(t *testing.T) {
		b := newBench(t)
		b.write("a.txt", "1\n")
		e := workspacetest.New()
		b.turn(func(r *Running) { b.write("a.txt", "2\n") })
		b.must(e.Load(b.at("a.txt")))
		b.must(e.Type(b.at("a.txt"), "2", "2, and more"))
		got := b.tryUndo(Undo{Editor: e})
		if len(got.Conflicts) != 1 || !got.Conflicts[0].Forceable || e.Content(b.at("a.txt")) != "2, and more\n" {
			t.Errorf("got %+v and %q, want a conflict alone", got, e.Content(b.at("a.txt")))
		}
		b.undo(Undo{Editor: e, Force: true})
		b.want(map[string]string{"a.txt": "-rw-r--r-- 1\n"})
		if got := e.Content(b.at("a.txt")); got != "1\n" {
			t.Errorf("the document has %q", got)
		}
		b.undo(Undo{Editor: e, Redo: true})
		if got := e.Content(b.at("a.txt")); got != "2, and more\n" {
			t.Errorf("after the redo, the document has %q", got)
		}
		b.want(map[string]string{"a.txt": "-rw-r--r-- 2\n"})
	})
}

// dirty are the documents of an editor that have unsaved text.
func dirty(e *workspacetest.Editor) []Buffer {
	var out []Buffer
	for _, d := range e.Dirty() {
		out = append(out, Buffer{Path: d.Path, Text: d.Text})
	}
	return out
}

func TestM13_OpenDocuments(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		b.write(name, "one\ntwo\n")
	}
	e := workspacetest.New()
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		b.must(e.Load(b.at(name)))
	}
	b.must(e.Type(b.at("c.txt"), "one", "mine")) // unsaved from before
	before := b.tree()
	r := b.begin(dirty(e)...)
	edit := func(name, old, new string) {
		was := e.Content(b.at(name))
		b.must(e.Type(b.at(name), old, new))
		r.Access(receipt.Access{Kind: "write", Path: b.at(name), Source: "buffer", Before: text.Hash(was), After: text.Hash(e.Content(b.at(name)))})
	}
	edit("a.txt", "two", "2")
	edit("c.txt", "two", "2")
	b.write("b.txt", "one\n2\n")
	want := "b.txt modified silent, a.txt modified mediated buffer, c.txt modified mediated buffer"
	if got := b.end(r, Declared{}, dirty(e)...); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	b.must(e.Set(b.at("b.txt"), "one\n2\n")) // as the editor loads it
	for range 2 {
		got := b.undo(Undo{Editor: e})
		if len(got.Done) != 3 {
			t.Errorf("done %+v", got.Done)
		}
		b.want(before)
		for name, want := range map[string]string{"a.txt": "one\ntwo\n", "b.txt": "one\ntwo\n", "c.txt": "mine\ntwo\n"} {
			d, _ := e.Get(b.at(name))
			if d.Text != want || d.Dirty != (name == "c.txt") {
				t.Errorf("%s: got %q, dirty %v", name, d.Text, d.Dirty)
			}
		}
		b.undo(Undo{Editor: e, Redo: true})
		for name, want := range map[string]string{"a.txt": "one\n2\n", "b.txt": "one\n2\n", "c.txt": "mine\n2\n"} {
			if got := e.Content(b.at(name)); got != want {
				t.Errorf("after the redo, %s: got %q, want %q", name, got, want)
			}
		}
	}
}

// A turn that its agent needs two processes for is one.
func TestM14_RestartedAgent(t *testing.T) {
	b := newBench(t)
	b.write("A", "1")
	b.write("B", "1")
	before := b.tree()
	b.turn(func(r *Running) {
		b.write("A", "2")
		r.Alarm("the agent died and was started again")
		b.write("B", "2")
	})
	b.roundTrip(before)
}

func TestM15_GitVariables(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	b := newBench(t)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", b.dir, "-c", "user.name=u", "-c", "user.email=u@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	git("init", "-q", "-b", "main")
	b.write("f", "base\n")
	git("add", ".")
	git("commit", "-qm", "base")
	git("checkout", "-qb", "side")
	b.write("f", "side\n")
	git("commit", "-qam", "side")
	git("checkout", "-q", "main")
	b.write("f", "main\n")
	git("commit", "-qam", "main")
	git("merge", "side")
	b.write("staged", "s")
	git("add", "staged")
	before, status := b.tree(), git("status", "--porcelain")
	if before[".git/MERGE_HEAD"] == "" {
		t.Fatalf("no merge is in progress: %s", status)
	}
	t.Setenv("GIT_DIR", filepath.Join(b.base, "elsewhere"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(b.base, "index"))
	t.Setenv("GIT_WORK_TREE", b.base)
	b.reopen()
	b.turn(func(r *Running) {
		b.write("f", "agent's\n")
		b.remove("staged")
	})
	b.undo(Undo{})
	for _, name := range []string{"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"} {
		b.must(os.Unsetenv(name))
	}
	b.want(before)
	if got := git("status", "--porcelain"); got != status {
		t.Errorf("git status: got %q, want %q", got, status)
	}
}

// A5: what the agent writes past us is on the record, and the unsaved text stays.
func TestA5_DirectWrites(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\ntwo\n")
	b.write("b.txt", "b")
	e := workspacetest.New()
	b.must(e.Load(b.at("a.txt")))
	b.must(e.Type(b.at("a.txt"), "one", "mine"))
	before := b.tree()
	r := b.begin(dirty(e)...)
	b.write("a.txt", "one\n2\n")
	b.write("b.txt", "changed")
	if got, want := b.end(r, Declared{}, dirty(e)...), "a.txt modified silent, b.txt modified silent"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	rec, err := b.store.Receipts().Find(b.dir, r.begun.Turn)
	b.must(err)
	if got, want := shown(rec.Did.Changes.List), "a.txt modified silent, b.txt modified silent"; got != want {
		t.Errorf("the receipt has %s, want %s", got, want)
	}
	for _, merged := range []bool{false, true} {
		t.Run(fmt.Sprintf("merged %v", merged), func(t *testing.T) {
			want := "mine\ntwo\n"
			if merged {
				b.must(e.Type(b.at("a.txt"), "two", "2")) // as the change of the file is brought in
				want = "mine\n2\n"
			}
			after := e.Content(b.at("a.txt"))
			if after != want {
				t.Fatalf("got %q", after)
			}
			b.undo(Undo{Editor: e})
			b.want(before)
			if d, _ := e.Get(b.at("a.txt")); d.Text != "mine\ntwo\n" || !d.Dirty {
				t.Errorf("the document has %q, dirty %v", d.Text, d.Dirty)
			}
			b.undo(Undo{Editor: e, Redo: true})
			if got := e.Content(b.at("a.txt")); got != after {
				t.Errorf("after the redo, the document has %q, want %q", got, after)
			}
		})
	}
}
