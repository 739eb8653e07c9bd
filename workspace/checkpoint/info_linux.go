package checkpoint

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const nonblock = unix.O_NONBLOCK

func infoKey(info fs.FileInfo) key {
	k := key{size: info.Size(), mtime: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		k.ctime, k.ino = st.Ctim.Nano(), st.Ino
	}
	return k
}

// syncAll puts on the disk what was written to the file system of an open folder.
func syncAll(dir *os.File) error {
	raw, err := dir.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = unix.Syncfs(int(fd)) }); err != nil {
		return err
	}
	return inner
}

const canSyncAll = true
