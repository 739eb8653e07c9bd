//go:build linux || darwin

package checkpoint

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"sallyport/workspace/disk"
)

// keepOf gives a new file the owner and the extended attributes of the one whose place it takes, and says what could not be kept.
// Access lists are attributes. File capabilities are dropped, as the system drops them on a write.
func keepOf(dir *os.Root, name string, was fs.FileInfo, temp *os.File) (lost []string) {
	if disk.KeepOwner(temp, was) != nil {
		lost = append(lost, lostOwner)
	}
	old, err := dir.OpenFile(name, os.O_RDONLY|nonblock|unix.O_NOFOLLOW, 0)
	if err != nil {
		return append(lost, lostAttributes) // it is not known whether there are any
	}
	defer old.Close()
	if disk.KeepAttributes(temp, old) != nil {
		lost = append(lost, lostAttributes)
	}
	return lost
}

// inode is what tells the names of one file, and how many it has.
type inode struct {
	device, number uint64
}

func inodeOf(info fs.FileInfo) (id inode, names uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return inode{}, 1
	}
	return inode{uint64(st.Dev), st.Ino}, uint64(st.Nlink)
}
