package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"sallyport/workspace/checkpoint/pack"
)

// Hash is the SHA-256 of a content, of a link's target, or of a folder's tree.
type Hash = pack.Hash

// Kind is what stands at a path.
type Kind byte

const (
	Absent  Kind = 0   // nothing
	File    Kind = 'f' // a regular file
	Folder  Kind = 'd'
	Link    Kind = 'l' // a symbolic link; it is never followed
	LeftOut Kind = 'o' // something that the checkpoint does not hold; Reason says why
)

// String is the kind's name for people.
func (k Kind) String() string {
	switch k {
	case Absent:
		return "absent"
	case File:
		return "file"
	case Folder:
		return "folder"
	case Link:
		return "link"
	case LeftOut:
		return "left out"
	default:
		return fmt.Sprintf("kind %d", byte(k))
	}
}

// State is what stood at a path at one moment. Two states are the same when they are equal.
type State struct {
	Kind   Kind
	Mode   uint32 // permission bits of a file or folder, also one that cannot be read, with setuid, setgid and sticky as in POSIX
	Reason Reason // of what is left out, or of a folder of which all is left out but what its tree has
	// Hash is that of a file's content, a link's target, or a folder's tree. Of a file that is left out it is a digest of
	// size, times and inode, so that a change can be seen; it is zero where nothing is known.
	Hash Hash
}

// partly says whether a folder is left out but for some paths in it, which its tree has: those that Store.Add took up, and
// those that git tracks in an ignored folder.
func (s State) partly() bool { return s.Kind == Folder && s.Reason != 0 && s.Reason != container }

// closed says whether a folder is left out because nobody may list it; its mode is known all the same.
func (s State) closed() bool {
	return s.Kind == LeftOut && s.Reason == Denied && s.Hash == emptyTree
}

var emptyTree = pack.Sum(nil)

// item is a named state in a tree.
type item struct {
	name string
	State
}

// find looks a name up in the items of a tree.
func find(items []item, name string) (item, bool) {
	i, ok := slices.BinarySearchFunc(items, name, func(it item, name string) int { return strings.Compare(it.name, name) })
	if !ok {
		return item{}, false
	}
	return items[i], true
}

// A tree is the object that stands for a folder: items sorted by name, each as kind, reason, mode (varint), hash, length of
// the name (varint), name.

func encodeTree(items []item) []byte {
	sort.Slice(items, func(i, j int) bool { return items[i].name < items[j].name })
	var out []byte
	for _, it := range items {
		out = append(out, byte(it.Kind), byte(it.Reason))
		out = binary.AppendUvarint(out, uint64(it.Mode))
		out = append(out, it.Hash[:]...)
		out = binary.AppendUvarint(out, uint64(len(it.name)))
		out = append(out, it.name...)
	}
	return out
}

var errTree = errors.New("tree is malformed")

func decodeTree(data []byte) ([]item, error) {
	var items []item
	for len(data) > 0 {
		if len(data) < 2 {
			return nil, errTree
		}
		it := item{State: State{Kind: Kind(data[0]), Reason: Reason(data[1])}}
		mode, n := binary.Uvarint(data[2:])
		if n <= 0 || len(data) < 2+n+len(it.Hash) {
			return nil, errTree
		}
		it.Mode = uint32(mode)
		data = data[2+n:]
		it.Hash = Hash(data[:len(it.Hash)])
		data = data[len(it.Hash):]
		length, n := binary.Uvarint(data)
		if n <= 0 || length > uint64(len(data)-n) {
			return nil, errTree
		}
		it.name = string(data[n : n+int(length)])
		data = data[n+int(length):]
		if it.name == "" || len(items) > 0 && items[len(items)-1].name >= it.name {
			return nil, errTree
		}
		items = append(items, it)
	}
	return items, nil
}
