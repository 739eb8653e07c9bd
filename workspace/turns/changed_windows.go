package turns

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// changedAfter says whether something at a path was changed after a moment; of what is gone, its folder. A program that sets the
// time of a file back is believed.
func changedAfter(name string, moment time.Time) bool {
	for {
		info, err := os.Lstat(name)
		if err == nil {
			return info.ModTime().After(moment)
		}
		up := filepath.Dir(name)
		if up == name || !errors.Is(err, fs.ErrNotExist) {
			return true // not known
		}
		name = up
	}
}
