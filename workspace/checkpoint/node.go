package checkpoint

import (
	"slices"
	"strings"
	"sync/atomic"
)

// node is a folder in the resident index. One walk at a time changes it.
type node struct {
	parent  *node
	slot    int // where parent.entries has it
	name    string
	entries []entry // in the order of the system's list
	tree    Hash
	rules   rules  // of its .gitignore
	mode    uint32 // as seen by the walk that runs

	// Of the walk that runs:
	pending atomic.Int32 // folders beneath that are not done, and the node itself
	dirty   atomic.Bool  // the tree has to be made again
	fault   Reason       // why the folder could not be walked, or 0
	only    []string     // if not nil, the folder is left out but for these names, see State.partly
}

// entry is a name in a folder, its state when it was last read, and what tells whether that still holds.
type entry struct {
	item
	key     key
	racy    bool    // it may have changed after it was read, with the same key
	ignored verdict // of the rules in force at the last walk
	node    *node   // of folders; kept when the time limit left the folder out
}

// path is slashed and relative to the root, "" for the root itself.
func (n *node) path() string {
	var names []string
	for ; n.parent != nil; n = n.parent {
		names = append(names, n.name)
	}
	slices.Reverse(names)
	return strings.Join(names, "/")
}

func (n *node) join(name string) string {
	if p := n.path(); p != "" {
		return p + "/" + name
	}
	return name
}

// items are what a tree of the folder has.
func (n *node) items() []item {
	items := make([]item, 0, len(n.entries))
	for i := range n.entries {
		if n.entries[i].Kind != Absent || n.only != nil {
			items = append(items, n.entries[i].item)
		}
	}
	return items
}
