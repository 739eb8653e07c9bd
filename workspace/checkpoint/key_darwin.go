package checkpoint

import (
	"io/fs"
	"syscall"
)

const openFlags = syscall.O_NONBLOCK

func keyOf(info fs.FileInfo) key {
	k := key{size: info.Size(), mtime: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		k.ctime, k.ino = st.Ctimespec.Nano(), st.Ino
	}
	return k
}
