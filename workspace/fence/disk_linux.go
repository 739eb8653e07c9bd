package fence

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags open a file to be judged: a fifo must not block, a link swapped in must not be followed.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOFOLLOW | syscall.O_NOCTTY

// isLinkError reports the error of openFlags for a link.
func isLinkError(err error) bool { return errors.Is(err, syscall.ELOOP) }

// birth is the birth time of node in nanoseconds; 0 when unknown, also when something else stands at path now.
func birth(node fs.FileInfo, path string) int64 {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME|unix.STATX_INO, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	was, ok := node.Sys().(*syscall.Stat_t)
	if !ok || st.Ino != was.Ino || unix.Mkdev(st.Dev_major, st.Dev_minor) != was.Dev {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}

// handlePath is where the kernel says that an open file is.
func handlePath(f *os.File) (string, error) {
	var path string
	err := withFd(f, func(fd uintptr) error {
		var err error
		path, err = os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd)))
		return err
	})
	return path, err
}

// isProcess reports that an open file belongs to the process file system, in which this program's own environment and
// memory stand.
func isProcess(f *os.File) bool {
	var st unix.Statfs_t
	err := withFd(f, func(fd uintptr) error { return unix.Fstatfs(int(fd), &st) })
	return err == nil && st.Type == unix.PROC_SUPER_MAGIC
}

func withFd(f *os.File, do func(fd uintptr) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = do(fd) }); err != nil {
		return err
	}
	return inner
}

// mount is one line of mountinfo.
type mount struct{ dev, root, at string }

// mounts lists the mounts of this process, and the one on which path lies; its at is empty when that is not known.
func mounts(path string) (all []mount, home mount) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, mount{}
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text()) // 36 35 98:0 /root /mount/point options…
		if len(fields) < 5 {
			continue
		}
		m := mount{fields[2], unescapeMount(fields[3]), unescapeMount(fields[4])}
		all = append(all, m)
		if beneath(path, m.at) && len(m.at) >= len(home.at) {
			home = m
		}
	}
	return all, home
}

// on is where path lies on the file system of the mount m.
func (m mount) on(path string) string {
	return strings.TrimSuffix(m.root, "/") + "/" + strings.TrimPrefix(path[len(strings.TrimSuffix(m.at, "/")):], "/")
}

// mountsInside lists the other mounts, anywhere, of folders that lie inside path: through them a part of it could be
// reached without passing path itself. (A mount of path, or of what contains it, is recognised by identity.)
func mountsInside(path string) []string {
	all, home := mounts(path)
	if home.at == "" {
		return nil
	}
	inside := home.on(path)
	var out []string
	for _, m := range all {
		if m.dev == home.dev && m.root != inside && beneath(m.root, inside) && !beneath(m.at, path) {
			out = append(out, m.at)
		}
	}
	return out
}

// otherNames lists the other paths under which mounts show path itself: a bind mount of it, or of what contains it.
func otherNames(path string) []string {
	all, home := mounts(path)
	if home.at == "" {
		return nil
	}
	inside := home.on(path)
	here, err := os.Stat(path)
	if err != nil {
		return nil
	}
	var out []string
	for _, m := range all {
		if m.dev != home.dev || !beneath(inside, m.root) {
			continue
		}
		other := strings.TrimSuffix(m.at, "/") + "/" + strings.TrimPrefix(inside[len(strings.TrimSuffix(m.root, "/")):], "/")
		if there, err := os.Stat(other); err == nil && other != path && os.SameFile(here, there) {
			out = append(out, strings.TrimSuffix(other, "/"))
		}
	}
	return out
}

// beneath reports whether path is folder or lies in it.
func beneath(path, folder string) bool {
	folder = strings.TrimSuffix(folder, "/")
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// unescapeMount undoes mountinfo's octal escapes.
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
