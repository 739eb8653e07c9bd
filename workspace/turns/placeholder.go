package turns

import (
	"slices"
	"strings"

	"sallyport/workspace/checkpoint"
)

// withoutPlaceholders takes out of changes by root and path the empty folders that our fences put there or took away. One in
// which something else changed is a folder as any other.
func withoutPlaceholders(changes []checkpoint.Change, placeholders [][]byte) []checkpoint.Change {
	if len(placeholders) == 0 {
		return changes
	}
	ours := map[string]bool{}
	for _, p := range placeholders {
		ours[settle(string(p))] = true
	}
	used := map[string]bool{} // folders in which something changed
	for i := range changes {
		for at := changes[i].Path; strings.Contains(at, "/"); {
			at = at[:strings.LastIndexByte(at, '/')]
			used[key(changes[i].Root, at)] = true
		}
	}
	return slices.DeleteFunc(changes, func(c checkpoint.Change) bool {
		return isFolder(&c) && !used[key(c.Root, c.Path)] && ours[settle(absolute(c.Root, c.Path))]
	})
}

// bytesOf are paths as a journal has them.
func bytesOf(paths []string) [][]byte {
	var all [][]byte
	for _, p := range paths {
		all = append(all, []byte(p))
	}
	return all
}
