//go:build unix

package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sallyport/workspace/crashtest"
)

// TestMain runs the acts of crash tests, which end by SIGKILL at a step.
func TestMain(m *testing.M) { crashtest.Main(m, crash) }

// crash does one act in a folder that holds p and state.
func crash(act, base string, step func(string)) error {
	ctx := context.Background()
	s, err := Open(ctx, Config{Dir: filepath.Join(base, "state"), Step: step})
	if err != nil {
		return err
	}
	dir := filepath.Join(base, "p")
	switch act {
	case "take":
		_, err = s.Take(ctx, []string{dir}, Options{Texts: map[string][]byte{filepath.Join(dir, "a"): []byte("unsaved")}})
	case "add":
		var list []*Checkpoint
		if list, err = loadAll(s); err == nil {
			_, err = s.Add(ctx, list[0], filepath.Join(dir, "dist", "in", "f"))
		}
	case "undo", "force":
		var list []*Checkpoint
		if list, err = loadAll(s); err != nil {
			return err
		}
		var plan *Plan
		if plan, err = s.Plan(ctx, list[0], list[1], RestoreOptions{Force: act == "force"}); err == nil {
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
	case "full-undo":
		err = fullUndo(ctx, s, dir)
	default:
		err = errors.New("no such act")
	}
	return errors.Join(err, s.Close())
}

// full takes a checkpoint when the disk takes no more, and another when it does again.
func full(ctx context.Context, s *Store, dir string) error {
	again, err := limitFiles(64 << 10)
	if err != nil {
		return err
	}
	if c, err := s.Take(ctx, []string{dir}, Options{}); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("with a full disk: %v, %w", c, err)
	}
	if err := again(); err != nil {
		return err
	}
	_, err = s.Take(ctx, []string{dir}, Options{})
	return err
}

// limitFiles lets no file be longer than some bytes, until again is called: as a disk that is full.
func limitFiles(bytes uint64) (again func() error, err error) {
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return nil, err
	}
	little := was
	little.Cur = bytes
	return func() error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was) }, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &little)
}

// fullUndo takes a turn back when the disk has room for the small file only, and again when it has for both.
func fullUndo(ctx context.Context, s *Store, dir string) error {
	list, err := loadAll(s)
	if err != nil {
		return err
	}
	again, err := limitFiles(64 << 10)
	if err != nil {
		return err
	}
	for _, conflicts := range []int{1, 0} {
		plan, err := s.Plan(ctx, list[0], list[1], RestoreOptions{})
		if err != nil {
			return err
		}
		r, err := s.Restore(ctx, plan)
		if err != nil || len(r.Conflicts) != conflicts {
			return fmt.Errorf("got conflicts %+v, want %d: %w", r.Conflicts, conflicts, err)
		}
		if conflicts == 1 {
			data, err := os.ReadFile(filepath.Join(dir, "large"))
			if err != nil || string(data) != "after" || r.Conflicts[0].Path != "large" {
				return fmt.Errorf("what had no room: got %q, %w, conflicts %+v", data, err, r.Conflicts)
			}
		}
		if err := again(); err != nil {
			return err
		}
	}
	return nil
}

func loadAll(s *Store) ([]*Checkpoint, error) {
	ids, err := s.List()
	if err != nil {
		return nil, err
	}
	var list []*Checkpoint
	for _, id := range ids {
		c, err := s.Load(id)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func TestFullDisk(t *testing.T) {
	p := newProject(t)
	p.write("a", "a")
	p.take()
	random := rand.NewChaCha8([32]byte{1})
	body := make([]byte, 300<<10)
	_, _ = random.Read(body) // never fails
	p.write("large", string(body))
	p.act("full")
	ids := p.listed()
	if len(ids) != 2 {
		t.Errorf("got checkpoints %q, want that before and that after", ids)
	}
	for _, id := range ids {
		p.whole(id)
	}
}

// act runs an act to its end, in another process.
func (p *project) act(name string) {
	p.Helper()
	p.must(p.store.Close())
	crashtest.Run(p, name, filepath.Dir(p.dir), 0)
	p.store = open(p, p.store.dir)
}

func TestFullDiskDuringRestore(t *testing.T) {
	p := newProject(t)
	p.write("large", strings.Repeat("large ", 50<<10))
	p.write("small", "before")
	was := p.files()
	p.take()
	p.write("large", "after")
	p.write("small", "after")
	p.take()
	p.act("full-undo")
	p.want(was)
}

// walkCrashes runs an act once for each of its steps, each time in a fresh project, and then check.
func walkCrashes(t *testing.T, act string, make func(p *project), check func(p *project, step int)) {
	t.Helper()
	for step := 1; ; step++ {
		p := newProject(t)
		make(p)
		p.must(p.store.Close())
		killed := crashtest.Run(t, act, filepath.Dir(p.dir), step)
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
		ids := p.listed()
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
		ids := p.listed()
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
