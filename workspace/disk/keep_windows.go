package disk

import (
	"io/fs"
	"os"

	"sallyport/workspace/fence"
)

// mayWrite leaves the answer to the write itself.
func mayWrite(*fence.Target) error { return nil }

// KeepOwner does nothing: a new file inherits from its folder.
func KeepOwner(*os.File, fs.FileInfo) error { return nil }

// KeepAttributes does nothing: there are none that a text file needs.
func KeepAttributes(_, _ *os.File) error { return nil }

// links is unknown from a FileInfo, so nothing is written in place.
func links(fs.FileInfo) uint64 { return 0 }

// lockTemp does nothing: an open file cannot be removed.
func lockTemp(*os.File) bool { return true }

// removeStray removes a temporary file that nobody has open.
func removeStray(root *os.Root, name string) bool { return root.Remove(name) == nil }

// rename puts the temporary file in its place. It is closed first: an open file cannot be renamed.
func rename(temp *os.File, dir *os.Root, from, to string) error {
	if err := temp.Close(); err != nil {
		return err
	}
	return dir.Rename(from, to)
}
