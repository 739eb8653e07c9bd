package bridge

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"sallyport/workspace/fence"
)

// placeholders are the empty folders of reserved names that stand in the session's
// folders now: a kernel fence puts such there while an agent lives, so that its
// masks have a place, and takes them away afterwards. They are no change of a turn.
func (s *session) placeholders() (all []string) {
	for _, place := range s.places {
		entries, err := os.ReadDir(place)
		if err != nil {
			continue // the checkpoint says why
		}
		for _, e := range entries {
			path := filepath.Join(place, e.Name())
			var refused *fence.Refusal
			if e.IsDir() && empty(path) && errors.As(s.ground.policy.CheckWrite(path), &refused) && refused.Fence == fence.Reserved {
				all = append(all, path)
			}
		}
	}
	return all
}

// empty reports whether a folder has nothing in it.
func empty(folder string) bool {
	f, err := os.Open(folder)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}
