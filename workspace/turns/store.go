package turns

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
)

// Config says where turns are kept. Only State must be set.
type Config struct {
	// State is our state folder: it gets the folders checkpoints, receipts and turns.
	State string
	// Checkpoint is what checkpoints hold where Start does not say.
	Checkpoint checkpoint.Options
	// Retention is what Prune keeps; its Needed is not used.
	Retention checkpoint.PruneOptions
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Step, if not nil, hears of each step that changes the disk: crash tests end the process in it.
	Step func(string)
	// Log hears of what went wrong and stopped nothing; default none.
	Log *slog.Logger
}

// Store keeps the turns of all projects. Its methods may be called concurrently, and several processes may have the same state
// folder open.
type Store struct {
	config   Config
	receipts *receipt.Log
	opening  chan struct{}     // one slot: who looks at held, or opens it, is in it
	held     *checkpoint.Store // nil until it could be opened

	background sync.WaitGroup
	stop       context.CancelFunc
}

// Open opens the turns of a state folder. In the background it ends those whose process is gone (List, Find, Undo and Begin wait
// for that) and, at most once an hour over all processes, prunes. A folder that cannot be read or written is no error: each turn then says that it
// cannot be taken back.
func Open(ctx context.Context, c Config) (*Store, error) {
	if !filepath.IsAbs(c.State) {
		return nil, fmt.Errorf("opening turns: state folder %q is not absolute", c.State)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Step == nil {
		c.Step = func(string) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("opening turns: %w", err)
	}
	s := &Store{
		config:   c,
		receipts: &receipt.Log{Dir: filepath.Join(c.State, "receipts"), Step: c.Step},
		opening:  make(chan struct{}, 1),
	}
	lifetime, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.background.Go(func() {
		s.endDead(lifetime, nil)
		s.pruneSometimes(lifetime)
	})
	return s, nil
}

// Close waits for what the store does in the background. Turns that run are to be ended before.
func (s *Store) Close() error {
	s.stop()
	s.background.Wait()
	s.opening <- struct{}{}
	defer func() { <-s.opening }()
	if s.held == nil {
		return nil
	}
	err := s.held.Close()
	s.held = nil
	return err
}

// Receipts is the log of receipts.
func (s *Store) Receipts() *receipt.Log { return s.receipts }

// checkpoints opens the store of checkpoints once it can be.
func (s *Store) checkpoints(ctx context.Context) (*checkpoint.Store, error) {
	select {
	case s.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.opening }()
	if s.held != nil {
		return s.held, nil
	}
	if err := os.MkdirAll(s.config.State, 0o700); err != nil {
		return nil, fmt.Errorf("making state folder: %w", err)
	}
	held, err := checkpoint.Open(ctx, checkpoint.Config{Dir: filepath.Join(s.config.State, "checkpoints"), Step: s.config.Step})
	if err != nil {
		return nil, err
	}
	s.held = held
	return held, nil
}

// load reads checkpoints by their ids. One that is not there is fs.ErrNotExist.
func (s *Store) load(ctx context.Context, ids ...string) (*checkpoint.Store, []*checkpoint.Checkpoint, error) {
	held, err := s.checkpoints(ctx)
	if err != nil {
		return nil, nil, err
	}
	var out []*checkpoint.Checkpoint
	for _, id := range ids {
		c, err := held.Load(id)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, c)
	}
	return held, out, nil
}

// warn logs what stops nothing. The end of a context is nobody's fault.
func (s *Store) warn(what string, err error, args ...any) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	s.config.Log.Warn(what, append(args, "error", err)...)
}
