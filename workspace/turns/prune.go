package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sallyport/workspace/checkpoint"
)

// Pruned says what a prune did.
type Pruned struct {
	Turns []string `json:"turns"` // that can no longer be taken back
	Bytes int64    `json:"bytes"` // that all checkpoints take now
}

const (
	defaultAge   = 30 * 24 * time.Hour
	defaultBytes = 2 << 30
	pruneEvery   = time.Hour
	pruneAtOnce  = 24 * time.Hour
	settling     = 30 * time.Second // after Open others want the store
)

// Prune removes what is older or more than Config.Retention allows, the oldest turns first. What runs keeps what it needs.
func (s *Store) Prune(ctx context.Context) (Pruned, error) {
	held, err := s.checkpoints(ctx)
	if err != nil {
		return Pruned{}, fmt.Errorf("pruning turns: %w", err)
	}
	g := &garbage{store: s, held: held, o: s.config.Retention}
	g.o.MaxAge = cmp.Or(g.o.MaxAge, defaultAge)
	g.o.MaxBytes = cmp.Or(g.o.MaxBytes, defaultBytes)
	unpin, err := s.pins(ctx, true)
	if err != nil {
		return Pruned{}, fmt.Errorf("pruning turns: %w", err)
	}
	defer unpin()
	out, err := g.run(ctx)
	if err != nil {
		return out, fmt.Errorf("pruning turns: %w", err)
	}
	return out, nil
}

// pruneSometimes prunes until ctx ends, if nobody else does: at once after a day, so that short processes do it too, and else when
// there is time.
func (s *Store) pruneSometimes(ctx context.Context) {
	s.pruneAfter(ctx, pruneAtOnce)
	for pause := settling; ; pause = pruneEvery {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
			s.pruneAfter(ctx, pruneEvery)
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// pruneAfter prunes if nobody did for some time.
func (s *Store) pruneAfter(ctx context.Context, age time.Duration) {
	name := filepath.Join(s.dir(), "pruned")
	if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()).Abs() < age {
		return
	}
	if _, err := os.Stat(s.dir()); err != nil {
		return // there never was a turn
	}
	if _, err := s.Prune(ctx); err != nil {
		s.warn("pruning", err)
		return
	}
	now := time.Now()
	err := os.WriteFile(name, nil, 0o600)
	s.warn("pruning", errors.Join(err, os.Chtimes(name, now, now)))
}

// garbage is one prune.
type garbage struct {
	store *Store
	held  *checkpoint.Store
	o     checkpoint.PruneOptions
	all   []aged // traces, the youngest first
}

// aged is a trace with its file.
type aged struct {
	name  string
	needs []string
	made  time.Time
}

func (g *garbage) run(ctx context.Context) (Pruned, error) {
	var out Pruned
	if err := g.list(); err != nil {
		return out, err
	}
	must, err := g.running()
	if err != nil {
		return out, err
	}
	oldest := g.store.config.Now().Add(-g.o.MaxAge)
	young := g.all
	for g.o.MaxAge > 0 && len(young) > 0 && young[len(young)-1].made.Before(oldest) {
		young = young[:len(young)-1]
	}
	for {
		there, err := g.there()
		if err != nil {
			return out, err
		}
		o := g.o
		o.Needed = present(must, there)
		for _, t := range young {
			if have := present(t.needs, there); len(have) == len(t.needs) {
				o.Needed = append(o.Needed, have...)
			}
		}
		slices.Sort(o.Needed)
		o.Needed = slices.Compact(o.Needed)
		p, err := g.held.Prune(ctx, o)
		if err != nil {
			return out, err
		}
		out.Bytes = p.Bytes
		if o.MaxBytes < 0 || p.Bytes <= o.MaxBytes || len(young) == 0 {
			break
		}
		young = young[:len(young)*3/4]
	}
	out.Turns, err = g.forget(oldest)
	return out, errors.Join(err, g.sweep(ctx))
}

// list reads all traces.
func (g *garbage) list() error {
	dirs, err := g.store.projectDirs()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(filepath.Join(dir, "traces"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			name := filepath.Join(dir, "traces", e.Name())
			info, err := e.Info()
			if err != nil || !validID(e.Name()) {
				continue
			}
			t, err := readTrace(name)
			if err != nil {
				continue // damaged, or of a later version: no reason to keep anything, and not ours to remove
			}
			g.all = append(g.all, aged{name, t.needs(), info.ModTime()})
		}
	}
	slices.SortStableFunc(g.all, func(a, b aged) int { return b.made.Compare(a.made) })
	return nil
}

// running are the checkpoints that running and interrupted records need.
func (g *garbage) running() ([]string, error) {
	bases, err := g.store.journals()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, base := range bases {
		r, err := readJournal(base)
		if errors.Is(err, errNoBegin) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, r.Before)
		traces := []*trace{r.undoing}
		for _, id := range []string{r.Turn, r.Takes} {
			if t, err := g.store.trace(r.project().folder, id); err == nil {
				traces = append(traces, t)
			}
		}
		for _, t := range traces {
			if t != nil {
				out = append(out, t.needs()...)
			}
		}
	}
	return out, nil
}

func (g *garbage) there() (map[string]bool, error) {
	ids, err := g.held.List()
	out := map[string]bool{}
	for _, id := range ids {
		out[id] = true
	}
	return out, err
}

func present(ids []string, there map[string]bool) []string {
	var out []string
	for _, id := range ids {
		if there[id] {
			out = append(out, id)
		}
	}
	return out
}

// forget removes the traces that are too old or whose checkpoints are gone.
func (g *garbage) forget(oldest time.Time) ([]string, error) {
	there, err := g.there()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, t := range g.all {
		old := g.o.MaxAge > 0 && t.made.Before(oldest)
		if !old && len(present(t.needs, there)) == len(t.needs) {
			continue
		}
		g.store.config.Step("trace goes")
		if err := os.Remove(t.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, err
		}
		out = append(out, filepath.Base(t.name))
	}
	return out, nil
}

// sweep removes files that crashes left beside journals that are gone, and half-written traces.
func (g *garbage) sweep(ctx context.Context) error {
	unlock, err := g.store.alone(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	dirs, err := g.store.projectDirs()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			id, _, _ := strings.Cut(e.Name(), ".")
			base := filepath.Join(dir, id)
			if e.IsDir() || !validID(id) {
				continue
			}
			if _, err := os.Lstat(base + journalName); !errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if unlock, err := tryLock(base); err == nil {
				removeJournal(base, func(string) {})
				unlock()
			}
		}
		g.halves(filepath.Join(dir, "traces"))
	}
	return nil
}

// halves removes temporary files that are too old to be in the making.
func (g *garbage) halves(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), ".") && time.Since(info.ModTime()) > pruneEvery {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
