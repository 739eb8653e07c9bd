package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sallyport/workspace/checkpoint/pack"
)

// PruneOptions say what is kept. The zero value keeps 30 days and 2 GiB.
type PruneOptions struct {
	MaxAge   time.Duration // since a checkpoint was last taken; 0 is 30 days, below 0 is no limit
	MaxBytes int64         // of what the store holds; 0 is 2 GiB, below 0 is no limit
	// Needed are ids that are kept whatever their age and size: those of receipts that can still be undone.
	Needed []string
}

const (
	defaultMaxAge = 30 * 24 * time.Hour
	defaultHeld   = 2 << 30
)

// Pruned is what Prune did.
type Pruned struct {
	Removed []string // ids
	Bytes   int64    // that the store takes now
}

// Prune removes old checkpoints, the oldest first, and then what no checkpoint needs any more. Needed ones stay even above the
// limit. It waits until nobody reads or writes the store. A crash removes some of the checkpoints and nothing of the others.
func (s *Store) Prune(ctx context.Context, o PruneOptions) (Pruned, error) {
	age := time.Duration(orDefault(int64(o.MaxAge), int64(defaultMaxAge)))
	unlock, err := s.lock(ctx, true)
	if err != nil {
		return Pruned{}, err
	}
	defer unlock()
	if _, err := s.objects.Refresh(); err != nil {
		return Pruned{}, err
	}
	s.clearUp()
	p := &pruning{store: s, ctx: ctx, live: marks{}, oldest: time.Now().Add(-age), most: orDefault(o.MaxBytes, defaultHeld)}
	if err := p.choose(o.Needed); err != nil {
		return Pruned{}, fmt.Errorf("pruning checkpoints: %w", err)
	}
	for _, id := range p.goes {
		s.step("checkpoint goes")
		if err := os.Remove(s.manifestFile(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Pruned{}, fmt.Errorf("pruning checkpoints: %w", err)
		}
	}
	if err := s.objects.Sweep(func(id pack.ID) bool { _, ok := p.live[id]; return ok }, p.most); err != nil {
		return Pruned{Removed: p.goes}, fmt.Errorf("pruning checkpoints: %w", err)
	}
	s.pruneIndexes(p.oldest)
	n, err := s.objects.Bytes()
	return Pruned{p.goes, n}, err
}

// pruning marks what is needed.
type pruning struct {
	store  *Store
	ctx    context.Context
	oldest time.Time
	most   int64
	live   marks
	bytes  int64 // of what is live
	goes   []string
}

// marks are the objects that are needed. False are those that only others are made from: what they themselves refer to is not
// marked.
type marks map[pack.ID]bool

// choose marks needed checkpoints first and then the others, youngest first, as long as there is room.
func (p *pruning) choose(needed []string) error {
	ids, err := p.store.List()
	if err != nil {
		return err
	}
	type aged struct {
		id   string
		used time.Time
	}
	var rest []aged
	for _, id := range ids {
		info, err := os.Stat(p.store.manifestFile(id))
		if err != nil {
			return err
		}
		if !slices.Contains(needed, id) {
			rest = append(rest, aged{id, info.ModTime()})
			continue
		}
		if err := p.mark(id); err != nil {
			return fmt.Errorf("checkpoint %s: %w", id, err) // nothing is removed while it is unknown what is needed
		}
	}
	slices.SortStableFunc(rest, func(a, b aged) int { return b.used.Compare(a.used) })
	full := false
	for _, a := range rest {
		if full || a.used.Before(p.oldest) {
			p.goes = append(p.goes, a.id)
			continue
		}
		had, bytes := p.live, p.bytes
		p.live = marks{}
		err := p.markOver(a.id, had)
		if err != nil && p.ctx.Err() != nil {
			return err
		}
		if err != nil || p.bytes > p.most { // damaged, or too much
			full = full || err == nil
			p.live, p.bytes = had, bytes
			p.goes = append(p.goes, a.id)
			continue
		}
		for id, whole := range p.live {
			had[id] = had[id] || whole
		}
		p.live = had
	}
	return nil
}

func (p *pruning) mark(id string) error { return p.markOver(id, nil) }

// markOver marks in live what a checkpoint needs and had does not have.
func (p *pruning) markOver(id string, had marks) error {
	c, err := p.store.Load(id)
	if err != nil {
		return err
	}
	for _, r := range c.Roots {
		if err := p.tree(r.Tree, had); err != nil {
			return err
		}
	}
	for _, h := range c.Texts {
		if _, err := p.object(h, had); err != nil {
			return err
		}
	}
	return nil
}

// object marks one content or tree, and says whether it was not yet.
func (p *pruning) object(h Hash, had marks) (bool, error) {
	const record = 28 // bytes of the index, about
	if p.live[h.ID()] || had[h.ID()] {
		return false, nil
	}
	return true, p.store.objects.Parts(h, func(part pack.ID, stored int64) {
		_, live := p.live[part]
		_, old := had[part]
		if !live && !old {
			p.bytes += stored + record
		}
		p.live[part] = p.live[part] || part == h.ID()
	})
}

func (p *pruning) tree(h Hash, had marks) error {
	fresh, err := p.object(h, had)
	if err != nil || !fresh {
		return err
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	items, err := p.store.tree(h)
	if err != nil {
		return err
	}
	for _, it := range items {
		switch it.Kind {
		case Folder:
			err = p.tree(it.Hash, had)
		case File, Link:
			_, err = p.object(it.Hash, had)
		default:
			continue // nothing is stored of it
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pruneIndexes removes the indexes of projects that were not used for long.
func (s *Store) pruneIndexes(oldest time.Time) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "index"))
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().Before(oldest) {
			_ = os.Remove(filepath.Join(s.dir, "index", e.Name()))
		}
	}
}
