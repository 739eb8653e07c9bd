package text

import (
	"fmt"
	"strings"
)

// Edit replaces the bytes from Start up to End of a text by New. Offsets count
// bytes of the text before any edit of its list.
type Edit struct {
	Start, End int
	New        string
}

// Apply returns old with edits applied. They must be ascending, inside old and
// not overlap, or the answer is an error; an edit may start where the one
// before it ended.
func Apply(old string, edits []Edit) (string, error) {
	if len(edits) == 0 {
		return old, nil
	}
	size, at := len(old), 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(old) {
			return "", fmt.Errorf("applying edit [%d,%d) to %d bytes after offset %d: out of order or outside", e.Start, e.End, len(old), at)
		}
		size += len(e.New) - (e.End - e.Start)
		at = e.End
	}
	var b strings.Builder
	b.Grow(size)
	at = 0
	for _, e := range edits {
		b.WriteString(old[at:e.Start])
		b.WriteString(e.New)
		at = e.End
	}
	b.WriteString(old[at:])
	return b.String(), nil
}
