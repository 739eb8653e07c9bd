//go:build unix

package turns

import (
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// changedAfter says whether something at a path was changed after a moment, by the time that nobody can set; of what is gone, its
// folder.
func changedAfter(name string, moment time.Time) bool {
	for {
		var info unix.Stat_t
		err := unix.Lstat(name, &info)
		if err == nil {
			return time.Unix(info.Ctim.Unix()).After(moment)
		}
		up := filepath.Dir(name)
		if up == name || err != unix.ENOENT && err != unix.ENOTDIR {
			return true // not known
		}
		name = up
	}
}
