//go:build unix

package turns

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/crashtest"
	"sallyport/workspace/receipt"
)

// TestMain runs the acts of crash tests, which end by SIGKILL at a step.
func TestMain(m *testing.M) { crashtest.Main(m, act) }

// act does something in a folder that holds p and state.
func act(what, base string, step func(string)) error {
	ctx := context.Background()
	c := Config{State: filepath.Join(base, "state"), Step: step}
	if what == "prune" {
		c.Retention = checkpoint.PruneOptions{MaxBytes: 1}
	}
	s, err := Open(ctx, c)
	if err != nil {
		return err
	}
	dir := filepath.Join(base, "p")
	switch what {
	case "turn":
		err = crashTurn(ctx, s, dir)
	case "undo":
		_, err = s.Undo(ctx, Undo{Folder: dir, Turn: "t-0001"})
	case "force":
		_, err = s.Undo(ctx, Undo{Folder: dir, Turn: "t-0001", Force: true})
	case "prune":
		_, err = s.Prune(ctx)
	case "full":
		err = full(ctx, s, dir)
	case "recover":
		_, err = s.List(ctx, dir, 0)
	default:
		err = errors.New("no such act")
	}
	return errors.Join(err, s.Close())
}

func crashTurn(ctx context.Context, s *Store, dir string) error {
	r, err := s.Begin(ctx, Start{Turn: "t-0001", Folder: dir})
	if err != nil {
		return err
	}
	if why := r.Uncovered(); why != "" {
		return errors.New(why)
	}
	r.Alarm("a note")
	if err := agent(dir); err != nil {
		return err
	}
	if _, err := r.Compare(ctx, Declared{}, nil); err != nil {
		return err
	}
	_, err = r.End(ctx, receipt.End{StopReason: "end_turn"}, nil, nil)
	return err
}

// full runs a turn when the disk takes no more, and another when it does again.
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
	r, err := s.Begin(ctx, Start{Turn: "t-full", Folder: dir})
	if err != nil {
		return err
	}
	if r.Uncovered() == "" {
		return errors.New("a turn without a checkpoint is covered")
	}
	if _, err = r.End(ctx, receipt.End{StopReason: "end_turn"}, nil, nil); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return err
	}
	return crashTurn(ctx, s, dir)
}

func TestFullDisk(t *testing.T) {
	b := newBench(t)
	b.project()
	random := rand.New(rand.NewPCG(1, 1))
	body := make([]byte, 300<<10)
	for i := range body {
		body[i] = byte(random.Uint32())
	}
	b.write("large", string(body))
	before := b.tree()
	b.close()
	crashtest.Run(t, "full", b.base, 0)
	b.reopen()
	rows := b.rows()
	if len(rows) != 2 || !rows[0].Undoable || rows[1].Undoable || rows[1].Why == "" {
		t.Errorf("got %+v", rows)
	}
	b.undo(Undo{})
	b.want(before)
	b.sound()
}

// agent edits, makes and removes files.
func agent(dir string) error {
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "edited"), []byte("2"), 0o644),
		os.MkdirAll(filepath.Join(dir, "new", "folder"), 0o755),
		os.WriteFile(filepath.Join(dir, "new", "folder", "f"), []byte("f"), 0o644),
		os.RemoveAll(filepath.Join(dir, "removed")),
		os.Chmod(filepath.Join(dir, "mode"), 0o755),
	)
}

func (b *bench) project() map[string]string {
	b.Helper()
	b.write("edited", "1")
	b.write("removed/r", "r")
	b.write("mode", "m")
	b.write("kept", "k")
	return b.tree()
}

// walkCrashes runs an act once for each of its steps, each time in a fresh project, and then check.
func walkCrashes(t *testing.T, what string, prepare func(b *bench), check func(b *bench)) {
	t.Helper()
	inMemory(t)
	for step := 1; ; step++ {
		b := newBench(t)
		prepare(b)
		b.close()
		killed := crashtest.Run(t, what, b.base, step)
		b.reopen()
		b.rows() // ends what was interrupted
		check(b)
		b.sound()
		b.close()
		if t.Failed() {
			t.Fatalf("%s was killed at step %d", what, step)
		}
		if !killed {
			t.Logf("%s has %d steps", what, step-1)
			if step < 8 {
				t.Errorf("%s has only %d steps", what, step-1)
			}
			return
		}
	}
}

// inMemory has temporary folders where nothing waits for a disk: a process that is killed needs none.
func inMemory(t *testing.T) {
	t.Helper()
	const shm = "/dev/shm"
	if dir, err := os.MkdirTemp(shm, "sallyport"); err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		t.Setenv("TMPDIR", dir)
	}
}

// sound looks at what is kept: no journal is left, and the log is whole.
func (b *bench) sound() {
	b.Helper()
	b.rows()
	bases, err := b.store.journals()
	b.must(err)
	if len(bases) > 0 {
		b.Errorf("journals are left: %q", bases)
	}
	report, err := b.store.Receipts().Verify(b.Context(), "")
	b.must(err)
	if !report.Sound() {
		b.Errorf("the log: %+v", report)
	}
}

func TestCrashDuringTurn(t *testing.T) {
	var before map[string]string
	walkCrashes(t, "turn", func(b *bench) { before = b.project() }, func(b *bench) {
		now := b.tree()
		rows := b.rows()
		changed := fmt.Sprint(now) != fmt.Sprint(before)
		switch {
		case len(rows) > 1:
			b.Fatalf("got %+v", rows)
		case changed && (len(rows) == 0 || !rows[0].Undoable):
			b.Fatalf("something changed, and got %+v", rows)
		case !changed:
			return
		}
		b.undo(Undo{})
		b.want(before)
		b.redo()
		b.want(now)
	})
}

// finish undoes until nothing is left to undo.
func (b *bench) finish(force bool) {
	b.Helper()
	for {
		_, err := b.store.Undo(b.Context(), Undo{Folder: b.dir, Turn: "t-0001", Force: force})
		if gone := (*GoneError)(nil); errors.As(err, &gone) && gone.Why == "it was taken back" {
			return
		}
		b.must(err)
		if row := b.rows(); row[len(row)-1].Undone {
			return
		}
		u := b.tryUndo(Undo{Turn: "t-0001", Force: force})
		if u.Turn == "" {
			return // nothing was left to do
		}
	}
}

// redoAll redoes until nothing is left.
func (b *bench) redoAll() {
	b.Helper()
	for {
		got, err := b.store.Undo(b.Context(), Undo{Folder: b.dir, Redo: true})
		if errors.Is(err, ErrNotUndone) {
			return
		}
		b.must(err)
		if len(got.Conflicts) > 0 {
			b.Fatalf("redo: %+v", got.Conflicts)
		}
	}
}

func TestCrashDuringUndo(t *testing.T) {
	for _, what := range []string{"undo", "force"} {
		t.Run(what, func(t *testing.T) {
			var before, after map[string]string
			walkCrashes(t, what, func(b *bench) {
				before = b.project()
				b.turn(func(r *Running) { b.must(agent(b.dir)) })
				if what == "force" {
					b.write("edited", "3")
					b.write("removed/r", "again")
				}
				after = b.tree()
			}, func(b *bench) {
				for name, text := range b.tree() {
					private := text == "drwx------" // a folder gets its mode last
					if text != before[name] && text != after[name] && !private {
						b.Errorf("%s: got %q, want %q or %q", name, text, before[name], after[name])
					}
				}
				b.finish(what == "force")
				b.want(before)
				b.redoAll()
				b.want(after)
			})
		})
	}
}

func TestCrashDuringPrune(t *testing.T) {
	var before map[string]string
	walkCrashes(t, "prune", func(b *bench) {
		before = b.project()
		b.turn(func(r *Running) { b.must(agent(b.dir)) })
		b.turn(func(r *Running) { b.write("kept", "2") })
		b.turn(func(r *Running) { b.write("kept", "3") })
	}, func(b *bench) {
		undone := 0
		for _, row := range b.rows() {
			if row.Undoable {
				b.undo(Undo{Turn: row.Turn})
				undone++
			}
		}
		if undone == 3 {
			b.want(before)
		}
	})
}

func TestCrashDuringRecovery(t *testing.T) {
	var before map[string]string
	walkCrashes(t, "recover", func(b *bench) {
		before = b.project()
		r := b.begin()
		b.must(agent(b.dir))
		r.die()
	}, func(b *bench) {
		if got := b.listed(); got != "t-0001 interrupted undoable" {
			b.Errorf("got %s", got)
		}
		b.undo(Undo{})
		b.want(before)
	})
}

func TestNamesThatAreNotUTF8(t *testing.T) {
	b := newBench(t)
	b.dir = filepath.Join(b.base, "p\xff")
	b.write("a\xfe", "1")
	b.write("gone\xfd/f", "1")
	before := b.tree()
	r := b.begin(Buffer{Path: b.at("open\xfc"), Text: "x"})
	b.write("a\xfe", "2")
	b.remove("gone\xfd")
	b.mediated(r, "new\xfb", "n")
	r.die()
	b.reopen()
	if got := b.listed(); got != "t-0001 interrupted undoable" {
		t.Errorf("got %s", got)
	}
	b.roundTrip(before)
	if got, err := b.store.Diff(t.Context(), b.dir, ""); err != nil || len(got) != 4 {
		t.Errorf("got %+v, %v", got, err)
	}
}
