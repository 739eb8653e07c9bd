package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// find gives the open document of a path: by name, else by the identity of the file. The
// disk is asked only when the name is not known, and without the lock.
func (d *Documents) find(path string) *entry {
	key := path
	if absolute(d.flavour, path) {
		key = clean(d.flavour, path)
	}
	d.mu.Lock()
	e := d.open[key]
	var files []*entry
	if e == nil {
		for _, other := range d.open {
			if other.path != "" {
				files = append(files, other)
			}
		}
	}
	d.mu.Unlock()
	if e != nil || len(files) == 0 || !absolute(d.flavour, path) {
		return e
	}
	info, err := os.Stat(key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, other := range files {
		if err == nil {
			if there, err := os.Stat(other.path); err == nil && os.SameFile(info, there) {
				return other
			}
		} else if sameName(filepath.Base(key), filepath.Base(other.path)) && sameFolder(key, other.path) {
			return other
		}
	}
	return nil
}

// sameName compares the names of two files that are not on disk yet.
func sameName(a, b string) bool { return a == b || folds && strings.EqualFold(a, b) }

// folds: most volumes of the system ignore letter case.
const folds = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// sameFolder reports whether two files that may not exist lie in one folder.
func sameFolder(a, b string) bool {
	x, errX := os.Stat(filepath.Dir(a))
	y, errY := os.Stat(filepath.Dir(b))
	return errX == nil && errY == nil && os.SameFile(x, y)
}
