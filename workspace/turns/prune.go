package turns

import (
	"context"
	"errors"
)

var errNotYet = errors.New("not yet")

// Prune removes what is older or more than Config.Retention allows.
func (s *Store) Prune(ctx context.Context) (Pruned, error) { return Pruned{}, errNotYet }

// Pruned says what a prune did.
type Pruned struct {
	Turns []string `json:"turns"` // that can no longer be taken back
	Bytes int64    `json:"bytes"` // that all checkpoints take now
}

func (s *Store) pruneSometimes(ctx context.Context) {}
