package turns

import (
	"context"

	"sallyport/workspace/receipt"
)

func (s *Store) endUndo(ctx context.Context, r *recorded) (*receipt.Receipt, error) { return nil, errNotYet }
func (s *Store) pruneSometimes(ctx context.Context) {}
