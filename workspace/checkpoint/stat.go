package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"sallyport/workspace/checkpoint/pack"
)

// key is what tells that a file has not changed since it was read, together with its mode. Times are nanoseconds since 1970.
// The ctime matters: an edit can put the mtime back.
type key struct {
	size, mtime, ctime int64
	ino                uint64
}

func (k key) digest() Hash {
	var b []byte
	b = binary.LittleEndian.AppendUint64(b, uint64(k.size))
	b = binary.LittleEndian.AppendUint64(b, uint64(k.mtime))
	b = binary.LittleEndian.AppendUint64(b, uint64(k.ctime))
	b = binary.LittleEndian.AppendUint64(b, k.ino)
	return pack.Sum(b)
}

// racy says whether the file could have changed again, after it was read at that time, without changing its key: the system's
// clock for files is coarser than ours. A file from the future is so until then.
func (k key) racy(read time.Time) bool {
	const tick, coarse = 20 * time.Millisecond, 2 * time.Second // coarse: where times are whole seconds
	last := max(k.ctime, k.mtime)
	slack := tick
	if last%int64(time.Second) == 0 {
		slack = coarse
	}
	return last+int64(slack) >= read.UnixNano()
}

var errNoFile = errors.New("not a regular file")

var errSwapped = errors.New("was replaced while it was opened")

// sameRoot opens a folder and makes sure that it is the one that was looked at, so no link.
func sameRoot(was fs.FileInfo, open func() (*os.Root, error)) (*os.Root, error) {
	if !was.IsDir() {
		return nil, fmt.Errorf("%s: %w", was.Name(), errNoFolder)
	}
	root, err := open()
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil && !os.SameFile(was, info) {
		err = fmt.Errorf("%s: %w", was.Name(), errSwapped)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

var errNoFolder = errors.New("not a folder")

// modeOf are the POSIX bits of a mode.
func modeOf(m fs.FileMode) uint32 {
	mode := uint32(m.Perm())
	for _, b := range modeBits {
		if m&b.mode != 0 {
			mode |= b.bit
		}
	}
	return mode
}

// fileMode is the inverse of modeOf.
func fileMode(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	for _, b := range modeBits {
		if mode&b.bit != 0 {
			m |= b.mode
		}
	}
	return m
}

var modeBits = [...]struct {
	mode fs.FileMode
	bit  uint32
}{{fs.ModeSetuid, 0o4000}, {fs.ModeSetgid, 0o2000}, {fs.ModeSticky, 0o1000}}
