package disk

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Temporary files are named .sallyport-XXXXXXXXXXXXXXXX.tmp (16 hexadecimal digits): a reserved name, so no agent writes
// one. Its writer holds a lock on it, which the system takes away when the writer dies.
const (
	tempPrefix = ".sallyport-"
	tempSuffix = ".tmp"
)

// createTemp makes and locks a temporary file in dir.
func createTemp(dir *os.Root, mode fs.FileMode) (*os.File, string, error) {
	for {
		var id [8]byte
		rand.Read(id[:])
		name := tempPrefix + hex.EncodeToString(id[:]) + tempSuffix
		f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm())
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		if lockTemp(f) {
			return f, name, nil
		}
		f.Close() // a sweep was quicker, and removes it
	}
}

func isTemp(name string) bool {
	id, ok := strings.CutPrefix(name, tempPrefix)
	id, ok2 := strings.CutSuffix(id, tempSuffix)
	return ok && ok2 && len(id) == 16 && strings.Trim(id, "0123456789abcdef") == ""
}

// SweepTemp removes the temporary files that killed writers left in dir and beneath it, and returns how many. Those
// of living writers stay. It follows no links and leaves git directories out; what it cannot look into it passes by.
// To be called when a session starts, in the background: it reads every folder.
func SweepTemp(ctx context.Context, dir string) (int, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, fmt.Errorf("sweeping %s: %w", dir, err)
	}
	defer root.Close()
	removed := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case err != nil && entry != nil && entry.IsDir() && name != ".":
			return fs.SkipDir
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.Type().IsRegular() && isTemp(path.Base(name)) && removeStray(root, name):
			removed++
		}
		return nil
	})
	if err != nil {
		return removed, fmt.Errorf("sweeping %s: %w", dir, err)
	}
	return removed, nil
}
