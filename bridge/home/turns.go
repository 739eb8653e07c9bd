package home

import (
	"context"
	"errors"

	"sallyport/bridge"
	"sallyport/workspace/checkpoint"
	"sallyport/workspace/turns"
)

// opened is the store of turns, once it was asked for. Home.mu guards it.
type opened struct {
	store  *turns.Store
	closed bool
}

var errClosed = errors.New("the configuration was closed")

// Turns is the store of turns, opened when it is first asked for and closed by
// Close. An error says why no turn can be recorded or taken back; asked again, it
// tries again.
func (h *Home) Turns(ctx context.Context) (*turns.Store, error) {
	user := h.User()
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.turns.closed:
		return nil, errClosed
	case h.turns.store != nil:
		return h.turns.store, nil
	}
	store, err := turns.Open(ctx, turns.Config{
		State:      h.Paths.State,
		Checkpoint: bridge.CheckpointOptions(user.Checkpoint),
		Retention:  checkpoint.PruneOptions{MaxAge: user.Retention.Age(), MaxBytes: user.Retention.Bytes()},
		Log:        h.log,
	})
	if err != nil {
		return nil, err
	}
	h.turns.store = store
	return store, nil
}
