package checkpoint

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"sallyport/workspace/checkpoint/pack"
)

// Checkpoint is the state of a project's folders.
type Checkpoint struct {
	ID    string    // of the store
	Time  time.Time // when it was taken
	Roots []Root
	Texts map[string]Hash // of Options.Texts, by absolute path; see Store.Content
	// Partial says that it holds single paths only, among them that one was absent: what a forced undo overwrote.
	Partial bool

	Skipped []Skipped // what it does not hold, by root and path; filled by Take
	Stats   Stats     // filled by Take

	maxFile int64 // of the options of Take; 0 after Load
}

// Root is one folder of a checkpoint.
type Root struct {
	Path string
	Tree Hash
}

// manifest is what is on the disk of a checkpoint.
type manifest struct {
	Version int       `json:"version"`
	Time    time.Time `json:"time"`
	Partial bool      `json:"partial,omitempty"`
	Roots   []named   `json:"roots"`
	Texts   []named   `json:"texts,omitempty"` // by path
}

// named is a folder's tree, or a text.
type named struct {
	Path []byte `json:"path"` // base64: paths are bytes
	Hash Hash   `json:"hash"`
}

const version = 2

func (s *Store) manifestFile(id string) string { return filepath.Join(s.dir, "checkpoints", id) }

// save puts what was stored on the disk and then the manifest in its place, the last step of a checkpoint. A checkpoint like the
// last of the same folders is that one again.
func (s *Store) save(c *Checkpoint) error {
	now := time.Now()
	if c.Time.IsZero() {
		c.Time = now
	}
	at := s.after(now)
	if last := s.lastLike(c, at); last != "" {
		c.ID = last
		return s.objects.Commit(nil)
	}
	m := manifest{Version: version, Time: c.Time, Partial: c.Partial}
	for _, r := range c.Roots {
		m.Roots = append(m.Roots, named{[]byte(r.Path), r.Tree})
	}
	for _, path := range slices.Sorted(maps.Keys(c.Texts)) {
		m.Texts = append(m.Texts, named{[]byte(path), c.Texts[path]})
	}
	data, err := json.Marshal(&m)
	if err != nil {
		return fmt.Errorf("writing checkpoint: %w", err)
	}
	c.ID = fmt.Sprintf("%016x-%s", at.UnixNano(), strings.ToLower(rand.Text()[:8]))
	s.step("before the manifest")
	file, err := pack.Begin(s.manifestFile(c.ID), data, s.step)
	if err != nil {
		return fmt.Errorf("writing checkpoint: %w", err)
	}
	if err := s.objects.Commit(file.Sync); err != nil {
		file.Drop()
		return fmt.Errorf("writing checkpoint: %w", err)
	}
	if err := file.Place(); err != nil {
		return fmt.Errorf("writing checkpoint: %w", err)
	}
	if at.After(now) {
		_ = os.Chtimes(s.manifestFile(c.ID), at, at) // only the order of a prune
	}
	s.remember(c)
	return nil
}

// after is the time by which a checkpoint is ordered: now, or when the clock went back, just after the newest one.
func (s *Store) after(now time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !now.After(s.newest) {
		now = s.newest.Add(time.Nanosecond)
	}
	s.newest = now
	return now
}

// findNewest is called once.
func (s *Store) findNewest() error {
	ids, err := s.List()
	if err != nil {
		return err
	}
	for _, id := range ids {
		var nanoseconds int64
		if _, err := fmt.Sscanf(id, "%016x-", &nanoseconds); err == nil && time.Unix(0, nanoseconds).After(s.newest) {
			s.newest = time.Unix(0, nanoseconds)
		}
		if info, err := os.Stat(s.manifestFile(id)); err == nil && info.ModTime().After(s.newest) {
			s.newest = info.ModTime()
		}
	}
	return nil
}

// lastLike is the id of the last checkpoint of these folders by this process, if it is still there and nothing is different.
// Its file is touched, so that it is as young as its last use.
func (s *Store) lastLike(c *Checkpoint, at time.Time) string {
	s.mu.Lock()
	last := s.last[folderNames(c)]
	s.mu.Unlock()
	if c.Partial || last == nil || !slices.Equal(last.Roots, c.Roots) || !maps.Equal(last.Texts, c.Texts) {
		return ""
	}
	if os.Chtimes(s.manifestFile(last.ID), at, at) != nil {
		return ""
	}
	return last.ID
}

func (s *Store) remember(c *Checkpoint) {
	if c.Partial {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[folderNames(c)] = &Checkpoint{ID: c.ID, Roots: slices.Clone(c.Roots), Texts: maps.Clone(c.Texts)}
}

func folderNames(c *Checkpoint) string {
	var names []string
	for _, r := range c.Roots {
		names = append(names, r.Path)
	}
	return strings.Join(names, "\x00")
}

// Load reads a checkpoint. An id that is not there is fs.ErrNotExist. Skipped is empty: see LeftOut.
func (s *Store) Load(id string) (*Checkpoint, error) {
	if id == "" || filepath.Base(id) != id || strings.HasPrefix(id, ".") {
		return nil, fmt.Errorf("reading checkpoint %q: %w", id, fs.ErrNotExist)
	}
	data, err := os.ReadFile(s.manifestFile(id))
	if err != nil {
		return nil, fmt.Errorf("reading checkpoint: %w", err)
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("reading checkpoint %s: %w", id, err)
	}
	if m.Version != version {
		return nil, fmt.Errorf("reading checkpoint %s: version %d is not known", id, m.Version)
	}
	c := &Checkpoint{ID: id, Time: m.Time, Partial: m.Partial}
	for _, r := range m.Roots {
		c.Roots = append(c.Roots, Root{string(r.Path), r.Hash})
	}
	for _, t := range m.Texts {
		if c.Texts == nil {
			c.Texts = map[string]Hash{}
		}
		c.Texts[string(t.Path)] = t.Hash
	}
	return c, nil
}

// List are the ids of all checkpoints, oldest first.
func (s *Store) List() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "checkpoints"))
	if err != nil {
		return nil, fmt.Errorf("listing checkpoints: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") { // a temporary file
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// LeftOut lists what a checkpoint does not hold, by root and path.
func (s *Store) LeftOut(ctx context.Context, c *Checkpoint) ([]Skipped, error) {
	unlock, err := s.shared(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var out []Skipped
	for _, r := range c.Roots {
		err := s.visit(ctx, r.Tree, "", func(path string, it item) {
			if it.Kind == LeftOut || it.partly() {
				out = append(out, Skipped{r.Path, path, it.Reason})
			}
		})
		if err != nil {
			return nil, fmt.Errorf("reading checkpoint %s: %w", c.ID, err)
		}
	}
	return out, nil
}

// visit calls each with everything in a tree.
func (s *Store) visit(ctx context.Context, tree Hash, path string, each func(path string, it item)) error {
	items, err := s.tree(tree)
	if err != nil {
		return errors.Join(err, ctx.Err())
	}
	for _, it := range items {
		name := it.name
		if path != "" {
			name = path + "/" + name
		}
		each(name, it)
		if it.Kind == Folder {
			if err := s.visit(ctx, it.Hash, name, each); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}
