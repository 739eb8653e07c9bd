package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"sallyport/workspace/checkpoint/pack"
)

// StateOf is what a checkpoint has at a path of one of its roots: LeftOut, with the reason, for all that is in a folder that is
// left out. A root that the checkpoint has not is fs.ErrNotExist.
func (s *Store) StateOf(ctx context.Context, c *Checkpoint, root, path string) (State, error) {
	unlock, err := s.shared(ctx)
	if err != nil {
		return State{}, err
	}
	defer unlock()
	for _, r := range c.Roots {
		if r.Path == root {
			return s.stateIn(State{Kind: Folder, Hash: r.Tree}, strings.Split(path, "/"), c.Partial)
		}
	}
	return State{}, fmt.Errorf("looking into checkpoint %s: folder %s: %w", c.ID, root, fs.ErrNotExist)
}

// stateIn goes down from a folder. Names that a partial checkpoint has not are left out of it.
func (s *Store) stateIn(in State, names []string, partial bool) (State, error) {
	var missing State
	if partial {
		missing = State{Kind: LeftOut, Reason: container}
	}
	for _, name := range names {
		switch in.Kind {
		case Folder:
		case LeftOut:
			return in, nil
		default:
			return State{}, nil // nothing is beneath it
		}
		if in.partly() {
			missing = State{Kind: LeftOut, Reason: in.Reason}
		}
		items, err := s.tree(in.Hash)
		if err != nil {
			return State{}, err
		}
		it, ok := find(items, name)
		if in = it.State; !ok {
			in = missing
		}
	}
	if in.partly() {
		return in.asLeftOut(), nil
	}
	return in, nil
}

// Content is a file's content, a link's target or a text. Errors: fs.ErrNotExist when the store has it not; a read answers
// pack.ErrDamaged when it is not what it was. A Prune waits until it is closed.
func (s *Store) Content(ctx context.Context, h Hash) (io.ReadCloser, error) {
	unlock, err := s.shared(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.objects.Reader(h)
	if err != nil {
		unlock()
		if errors.Is(err, pack.ErrMissing) {
			err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
		}
		return nil, fmt.Errorf("reading content: %w", err)
	}
	return &content{r, sync.OnceFunc(unlock)}, nil
}

type content struct {
	io.Reader
	unlock func()
}

// Close may be called again.
func (c *content) Close() error {
	c.unlock()
	return nil
}
