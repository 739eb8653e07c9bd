package turns

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
)

// Config says where turns are kept. Only State must be set.
type Config struct {
	// State is our state folder: it gets the folders checkpoints, receipts and turns.
	State string
	// Checkpoint is what checkpoints hold where Start and Undo do not say.
	Checkpoint checkpoint.Options
	// Retention is what Prune keeps.
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
	config Config
}

var errNotYet = errors.New("turns are not kept yet")

// Open opens the turns of a state folder, and ends those whose process is gone.
func Open(ctx context.Context, c Config) (*Store, error) { return &Store{config: c}, nil }

// Close waits for what the store does in the background. Turns that run are to be ended before.
func (s *Store) Close() error { return nil }

// Receipts is the log of receipts.
func (s *Store) Receipts() *receipt.Log { return &receipt.Log{Dir: s.config.State + "/receipts"} }

// Prune removes what is older or more than Config.Retention allows.
func (s *Store) Prune(ctx context.Context) (Pruned, error) { return Pruned{}, errNotYet }

// Pruned says what a prune did.
type Pruned struct {
	Turns []string `json:"turns"` // that can no longer be taken back
	Bytes int64    `json:"bytes"` // that all checkpoints take now
}
