package bridge

import (
	"context"
	"errors"
	"time"

	"sallyport/workspace"
)

// catchUpTime is how long the end of a turn waits for the editor to take in
// what the agent wrote on the disk.
const catchUpTime = 5 * time.Second

// catchUp brings what the agent wrote with its own tools into the documents
// that are open with unsaved text, and lists those that were changed. The user
// is told where both sides changed the same.
func (s *session) catchUp(t *turn, paths []string) (caught []string) {
	ctx, cancel := context.WithTimeout(s.b.life.ctx, catchUpTime)
	defer cancel()
	for _, path := range paths {
		r, err := s.ground.files.Refresh(ctx, path)
		var conflict *workspace.ConflictError
		switch {
		case r.Became == workspace.Merged:
			caught = append(caught, path)
		case errors.As(err, &conflict):
			s.caused(Notice{
				Kind: NoticeConflict, Level: Warning, Turn: t.id, Paths: []string{path},
				Text: s.harness.Name + " wrote " + s.relative(path) + " on the disk where it has unsaved text of yours: " + conflict.Err.Error(),
				Hint: "saving your text takes the agent's change out of the file: compare them first",
			})
		case err != nil:
			s.b.Log.Debug("catching up with the disk", "session", s.id, "err", err)
		}
	}
	return caught
}
