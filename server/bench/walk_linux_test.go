package bench_test

import (
	"bytes"
	numbers "encoding/binary" // binary is a function here
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// walker lists a tree and looks at each name, which is the least that whoever wants to know what changed has to do. It has as
// many workers as a checkpoint, each with one folder at a time.
type walker struct {
	mu      sync.Mutex
	ready   sync.Cond
	folders []string
	active  int
	seen    int
}

func bareWalk(t testing.TB, root string) int {
	w := &walker{folders: []string{root}}
	w.ready.L = &w.mu
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			buf := make([]byte, 64<<10)
			for {
				dir, ok := w.next()
				if !ok {
					return
				}
				folders, seen, err := look(dir, buf)
				if err != nil {
					t.Errorf("%s: %v", dir, err)
				}
				w.done(folders, seen)
			}
		})
	}
	wg.Wait()
	return w.seen
}

func (w *walker) next() (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.folders) == 0 {
		if w.active == 0 {
			return "", false
		}
		w.ready.Wait()
	}
	last := len(w.folders) - 1
	dir := w.folders[last]
	w.folders = w.folders[:last]
	w.active++
	return dir, true
}

func (w *walker) done(folders []string, seen int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.folders = append(w.folders, folders...)
	w.seen += seen
	w.active--
	w.ready.Broadcast()
}

func look(dir string, buf []byte) (folders []string, seen int, err error) {
	const nameAt = 19 // as getdents64 has it
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, err
	}
	defer unix.Close(fd)
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
				folders = append(folders, dir+"/"+name)
			}
		}
	}
}
