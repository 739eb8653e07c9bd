package checkpoint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Stats say what a Take did.
type Stats struct {
	Files  int64 // seen
	Read   int64 // of these, read: they were new, or may have changed
	Stored int64 // bytes that the store took for contents and trees
}

// Take makes a checkpoint of folders, which are absolute and no links. When nothing changed since the last one of this process,
// it is that one again. A checkpoint is whole or absent, also after a crash.
//
// Errors are of the folders (missing, links, ErrTooWide, fs.ErrNotExist), of the options, of the store (disk full, read-only), and ctx's. What
// is wrong with a single file or folder beneath is no error but listed in Skipped.
func (s *Store) Take(ctx context.Context, folders []string, o Options) (*Checkpoint, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	list, err := roots(folders, &o)
	if err != nil {
		return nil, err
	}
	unlock, err := s.shared(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var deadline time.Time
	if limited := time.Duration(1<<63 - 1); o.Limit != limited {
		deadline = time.Now().Add(o.Limit)
	}
	c := &Checkpoint{maxFile: o.MaxFile}
	if err := s.putTexts(c, o.Texts); err != nil {
		return nil, fmt.Errorf("storing texts: %w", err)
	}
	for _, root := range list {
		if err := s.walkRoot(ctx, c, root, &o, deadline); err != nil {
			return nil, fmt.Errorf("reading %s: %w", root, err)
		}
	}
	slices.SortFunc(c.Skipped, func(a, b Skipped) int {
		return strings.Compare(a.Root+"\x00"+a.Path, b.Root+"\x00"+b.Path)
	})
	return c, s.save(c)
}

// putTexts stores what stands beside the tree.
func (s *Store) putTexts(c *Checkpoint, texts map[string][]byte) error {
	for path, text := range texts {
		h, _, took, err := s.objects.PutStream(bytes.NewReader(text), Hash{}, true)
		if err != nil {
			return err
		}
		if c.Texts == nil {
			c.Texts = map[string]Hash{}
		}
		c.Texts[path] = h
		c.Stats.Stored += took
	}
	return nil
}

func (s *Store) walkRoot(ctx context.Context, c *Checkpoint, root string, o *Options, deadline time.Time) error {
	r := s.residentOf(root, o)
	select {
	case r.slot <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-r.slot }()
	if r.root == nil {
		r.root = s.loadIndex(r.file)
	}
	n := r.root
	r.root = nil // half old, half new until the walk is over
	w := &walk{store: s, ctx: ctx, options: o, root: root, own: s.within(root), deadline: deadline, base: s.baseOf(o.Base, root)}
	w.counts.warm = n != nil
	if n == nil {
		n = &node{}
	}
	s.forgetSwept(n)
	if err := w.run(n); err != nil {
		return err
	}
	r.root = n
	c.Roots = append(c.Roots, Root{Path: root, Tree: n.tree})
	c.Skipped = append(c.Skipped, w.skipped...)
	c.Stats.Files += w.counts.files.Load()
	c.Stats.Read += w.counts.read.Load()
	c.Stats.Stored += w.counts.stored.Load()
	r.unsaved = r.unsaved || w.counts.read.Load() > 0 || !w.counts.warm
	const worth = 500 // files: reading these again costs more than writing the index
	if w.counts.read.Load() < worth {
		return nil
	}
	if err := s.objects.Commit(nil); err != nil { // what an index names is on the disk
		return err
	}
	return s.saveIndex(r)
}

// residentOf finds the index of a root. Other options have another one: they decide what is left out.
func (s *Store) residentOf(root string, o *Options) *resident {
	text := root + "\x00" + fmt.Sprint(o.MaxFile, o.Ignored) + "\x00" + strings.Join(o.LeaveOut, "\x00")
	sum := sha256.Sum256([]byte(text))
	name := hex.EncodeToString(sum[:16])
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.resident[name]
	if r == nil {
		r = &resident{slot: make(chan struct{}, 1), file: filepath.Join(s.dir, "index", name)}
		s.resident[name] = r
	}
	return r
}

// within is the store's folder as it is called from root, "" when it is not beneath.
func (s *Store) within(root string) string {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return ""
	}
	rel, ok := beneath(s.dir, real)
	if !ok {
		return ""
	}
	return filepath.ToSlash(rel)
}

// forgetSwept makes the walk read again what the store no longer holds, if there was a sweep since the index was made.
func (s *Store) forgetSwept(n *node) {
	if generation := s.objects.Generation(); n.name != generation { // the root has no name of its own
		n.name = generation
		s.forgetMissing(n)
	}
}

func (s *Store) forgetMissing(n *node) {
	if !s.objects.Has(n.tree) {
		n.tree = Hash{}
	}
	for i := range n.entries {
		e := &n.entries[i]
		switch {
		case e.node != nil:
			s.forgetMissing(e.node)
		case (e.Kind == File || e.Kind == Link) && !s.objects.Has(e.Hash):
			e.key = key{}
		}
	}
}
