package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sallyport/workspace/checkpoint/pack"
)

// Config says where a store is.
type Config struct {
	// Dir is a folder of our state; it is made if needed.
	Dir string
	// Step, if not nil, is called before and after what changes the disk, with a name of the step: crash tests end the process in it.
	Step func(string)
}

// Store keeps checkpoints of any number of projects in one folder. Its methods may be called concurrently, and several
// processes may have the same folder open. Close waits for nobody: call it last.
type Store struct {
	dir     string
	step    func(string)
	objects *pack.Objects

	mu       sync.Mutex
	resident map[string]*resident   // by root and options
	last     map[string]*Checkpoint // by names of folders
	newest   time.Time              // of the checkpoints, by the clocks of their days
}

// resident is the index of one root.
type resident struct {
	slot    chan struct{} // taken while it is walked
	root    *node         // nil before the first walk and after an error
	unsaved bool
	file    string
}

// Open opens a store and clears up what dead processes left.
func Open(ctx context.Context, c Config) (*Store, error) {
	s := &Store{dir: c.Dir, step: c.Step, resident: map[string]*resident{}, last: map[string]*Checkpoint{}}
	if s.step == nil {
		s.step = func(string) {}
	}
	for _, name := range []string{"", "checkpoints", "index", "restoring"} {
		if err := os.MkdirAll(filepath.Join(s.dir, name), 0o700); err != nil {
			return nil, fmt.Errorf("opening store of checkpoints: %w", err)
		}
	}
	real, err := filepath.EvalSymlinks(s.dir)
	if err != nil {
		return nil, fmt.Errorf("opening store of checkpoints: %w", err)
	}
	s.dir = real
	once, stop := context.WithCancel(ctx)
	stop() // one try: what cannot be cleared up now is cleared up later
	if unlock, err := s.lock(once, true); err == nil {
		s.clearUp()
		unlock()
	}
	unlock, err := s.lock(ctx, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if s.objects, err = pack.Open(filepath.Join(s.dir, "packs"), s.step); err != nil {
		return nil, fmt.Errorf("opening store of checkpoints: %w", err)
	}
	return s, s.findNewest()
}

// Close saves the resident indexes and closes the store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	err := s.objects.Commit(nil) // what an index names is on the disk
	for _, r := range s.resident {
		if r.unsaved && err == nil {
			errs = append(errs, s.saveIndex(r))
		}
	}
	clear(s.resident)
	return errors.Join(append(errs, s.objects.Close())...)
}

func (s *Store) lock(ctx context.Context, alone bool) (func(), error) {
	return pack.Lock(ctx, filepath.Join(s.dir, "lock"), alone)
}

// shared takes the lock for reading or adding, and learns of sweeps.
func (s *Store) shared(ctx context.Context) (func(), error) {
	unlock, err := s.lock(ctx, false)
	if err != nil {
		return nil, err
	}
	if _, err := s.objects.Refresh(); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// putTree stores a folder's tree; was is what it was before, or zero.
func (s *Store) putTree(items []item, was Hash, compress bool) (Hash, int64, error) {
	body := encodeTree(items)
	if len(body) <= pack.ChunkSize {
		return s.objects.PutLike(body, was, compress)
	}
	h, _, took, err := s.objects.PutStream(bytes.NewReader(body), was, compress)
	return h, took, err
}

func (s *Store) tree(h Hash) ([]item, error) {
	body, err := s.content(h)
	if err != nil {
		return nil, fmt.Errorf("reading tree: %w", err)
	}
	items, err := decodeTree(body)
	if err != nil {
		return nil, fmt.Errorf("reading tree %s: %w", h, err)
	}
	return items, nil
}

func (s *Store) content(h Hash) ([]byte, error) {
	var out bytes.Buffer
	err := s.objects.WriteTo(&out, h)
	return out.Bytes(), err
}
