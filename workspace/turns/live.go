package turns

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sallyport/workspace/checkpoint/pack"
	"sallyport/workspace/receipt"
)

// alone takes the lock under which journals are made and looked at, over all processes. It is held for moments only.
func (s *Store) alone(ctx context.Context) (func(), error) {
	if err := os.MkdirAll(s.dir(), 0o700); err != nil {
		return nil, fmt.Errorf("making folder of turns: %w", err)
	}
	return pack.Lock(ctx, filepath.Join(s.dir(), "lock"), true)
}

// pinned keeps every checkpoint that there is, and each that comes, until unpin is called: until it stands in a journal or a trace,
// of which a prune knows.
func (s *Store) pinned(ctx context.Context) (unpin func(), err error) { return s.pins(ctx, false) }

func (s *Store) pins(ctx context.Context, alone bool) (func(), error) {
	if err := os.MkdirAll(s.dir(), 0o700); err != nil {
		return nil, fmt.Errorf("making folder of turns: %w", err)
	}
	return pack.Lock(ctx, filepath.Join(s.dir(), "pins"), alone)
}

// tryLock takes the lock of a record if nobody has it.
func tryLock(base string) (func(), error) {
	once, stop := context.WithCancel(context.Background())
	stop()
	return pack.Lock(once, base+lockName, true)
}

// pause between two looks at something that another process does.
const pause = 20 * time.Millisecond

func wait(ctx context.Context) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// journals lists the journals of all projects, without suffix.
func (s *Store) journals() ([]string, error) {
	dirs, err := s.projectDirs()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("listing journals: %w", err)
		}
		for _, e := range entries {
			if id, ok := strings.CutSuffix(e.Name(), journalName); ok && validID(id) {
				out = append(out, filepath.Join(dir, id))
			}
		}
	}
	return out, nil
}

// live is a record that runs.
type live struct {
	*begun
	base   string
	ending bool // its process is gone, and another ends it
}

// running lists what runs on some folders, on any for nil. The caller is alone.
func (s *Store) running(roots []string) ([]live, error) {
	bases, err := s.journals()
	if err != nil {
		return nil, err
	}
	var out []live
	for _, base := range bases {
		b, err := readBegun(base)
		if err != nil || roots != nil && !overlaps(roots, b.project().roots) {
			continue // being made, or just gone
		}
		if unlock, err := tryLock(base); err == nil {
			unlock() // its process is gone
			continue
		}
		_, err = os.Lstat(base + endingName)
		out = append(out, live{b, base, err == nil})
	}
	return out, nil
}

// enter makes the journal of a record. A turn waits for an undo of these folders; an undo waits for nobody but who ends the
// record of a dead process: what else runs is a *BusyError.
func (s *Store) enter(ctx context.Context, first *begun) (*journal, error) {
	p := first.project()
	dir := s.dirOf(p.folder)
	for {
		j, err := s.tryEnter(ctx, first, p, filepath.Join(dir, first.Turn))
		var busy *BusyError
		if !errors.As(err, &busy) || !busy.passes {
			return j, err
		}
		if err := wait(ctx); err != nil {
			return nil, fmt.Errorf("waiting for %s %s: %w", busy.Kind, busy.Turn, err)
		}
	}
}

func (s *Store) tryEnter(ctx context.Context, first *begun, p project, base string) (*journal, error) {
	unlock, err := s.alone(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	others, err := s.running(p.roots)
	if err != nil {
		return nil, err
	}
	first.With = nil
	for _, o := range others {
		turns := first.Kind == receipt.Turn && o.Kind == receipt.Turn
		if !turns || o.ending {
			return nil, &BusyError{Turn: o.Turn, Kind: o.Kind, Folder: o.project().folder, passes: first.Kind == receipt.Turn || o.ending}
		}
		first.With = append(first.With, o.Turn)
	}
	if err := os.MkdirAll(filepath.Dir(base), 0o700); err != nil {
		return nil, fmt.Errorf("making folder of turns: %w", err)
	}
	j, err := openJournal(base, first, s.config.Step, func() (func(), error) { return tryLock(base) })
	if err != nil {
		return nil, err
	}
	for _, o := range others {
		if err := addLine(o.base+withName, first.Turn); err != nil {
			s.warn("a turn was not told of another", err, "turn", o.Turn)
		}
	}
	return j, nil
}

func addLine(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text + "\n")
	return errors.Join(err, f.Close())
}

// shared says whether other turns ran on the same folders since this one began.
func shared(base string, b *begun) bool {
	if len(b.With) > 0 {
		return true
	}
	f, err := os.Open(base + withName)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	return bufio.NewScanner(f).Scan()
}
