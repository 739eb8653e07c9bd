package bench_test

import (
	"bytes"
	numbers "encoding/binary" // binary is a function here
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// walker lists a tree and looks at each name, which is the least that whoever wants to know what changed has to do. It has as
// many workers as a checkpoint, and opens folders in the one above, which is quicker than by a path.
type walker struct {
	mu      sync.Mutex
	ready   sync.Cond
	folders []inFolder
	active  int
	seen    int
}

// inFolder is a name in an open folder.
type inFolder struct {
	above *openFolder
	name  string
}

type openFolder struct {
	fd   int
	uses atomic.Int32
}

func (f *openFolder) close() {
	if f.uses.Add(-1) == 0 {
		_ = unix.Close(f.fd)
	}
}

func bareWalk(t testing.TB, root string) int {
	start := &openFolder{fd: unix.AT_FDCWD}
	start.uses.Store(2) // it is not to be closed
	w := &walker{folders: []inFolder{{start, root}}}
	w.ready.L = &w.mu
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			buf := make([]byte, 64<<10)
			for {
				in, ok := w.next()
				if !ok {
					return
				}
				folders, seen, err := look(in, buf)
				if err != nil {
					t.Errorf("%s: %v", in.name, err)
				}
				w.done(folders, seen)
			}
		})
	}
	wg.Wait()
	return w.seen
}

func (w *walker) next() (inFolder, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.folders) == 0 {
		if w.active == 0 {
			return inFolder{}, false
		}
		w.ready.Wait()
	}
	last := len(w.folders) - 1
	in := w.folders[last]
	w.folders = w.folders[:last]
	w.active++
	return in, true
}

func (w *walker) done(folders []inFolder, seen int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.folders = append(w.folders, folders...)
	w.seen += seen
	w.active--
	if len(folders) > 1 || w.active == 0 {
		w.ready.Broadcast()
	} else {
		w.ready.Signal()
	}
}

func look(in inFolder, buf []byte) (folders []inFolder, seen int, err error) {
	const nameAt = 19 // as getdents64 has it
	defer in.above.close()
	fd, err := unix.Openat(in.above.fd, in.name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, err
	}
	this := &openFolder{fd: fd}
	this.uses.Store(1)
	defer this.close()
	for {
		n, err := unix.Getdents(fd, buf)
		if err != nil || n <= 0 {
			return folders, seen, err
		}
		for rest := buf[:n]; len(rest) > 0; {
			length := int(numbers.NativeEndian.Uint16(rest[16:]))
			name := string(rest[nameAt : nameAt+bytes.IndexByte(rest[nameAt:length], 0)])
			rest = rest[length:]
			if name == "." || name == ".." {
				continue
			}
			var st unix.Stat_t
			if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				return nil, 0, err
			}
			seen++
			if st.Mode&unix.S_IFMT == unix.S_IFDIR {
				this.uses.Add(1)
				folders = append(folders, inFolder{this, name})
			}
		}
	}
}
