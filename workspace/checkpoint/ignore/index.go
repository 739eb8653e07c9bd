package ignore

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Index is what git tracks in a work tree: git ignores none of it. The zero value tracks nothing. It may be read concurrently.
type Index struct {
	paths []string // sorted
}

// Has says whether a file is tracked. Paths are slashed and relative to the work tree.
func (x *Index) Has(path string) bool {
	_, ok := slices.BinarySearch(x.paths, path)
	return ok
}

// In are the names in a folder that are tracked, or have something tracked beneath them, sorted.
func (x *Index) In(folder string) []string {
	var names []string
	prefix := folder + "/"
	for rest := x.paths[sort.SearchStrings(x.paths, prefix):]; len(rest) > 0 && strings.HasPrefix(rest[0], prefix); {
		name, _, deeper := strings.Cut(rest[0][len(prefix):], "/")
		if n := len(names); n == 0 || names[n-1] != name {
			names = append(names, name)
		}
		if rest = rest[1:]; deeper {
			rest = rest[sort.SearchStrings(rest, prefix+name+"0"):] // "0" comes after "/"
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}

// Add tracks also what another index tracks.
func (x *Index) Add(other *Index) {
	x.paths = append(x.paths, other.paths...)
	slices.Sort(x.paths)
	x.paths = slices.Compact(x.paths)
}

var errIndex = errors.New("the index of git is malformed")

// ParseIndex reads an index file of git, of versions 2 to 4. When it is split, shared is the name of the file beside it that has the
// rest.
func ParseIndex(data []byte) (x *Index, shared string, err error) {
	for _, hash := range []int{20, 32} { // which of them is a setting of git
		if x, shared, err = parseIndex(data, hash); err == nil {
			return x, shared, nil
		}
	}
	return nil, "", err
}

const (
	indexHead  = 12
	entryFixed = 40 // times, device, inode, mode, owner, size
)

func parseIndex(data []byte, hash int) (*Index, string, error) {
	if len(data) < indexHead+hash || string(data[:4]) != "DIRC" {
		return nil, "", errIndex
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, "", fmt.Errorf("%w: version %d", errIndex, version)
	}
	r := indexReader{rest: data[indexHead : len(data)-hash], hash: hash, version: version}
	x := &Index{}
	for range count {
		if err := r.entry(); err != nil {
			return nil, "", err
		}
		if name := strings.TrimSuffix(r.name, "/"); name != "" { // of a split index some have none
			x.paths = append(x.paths, name)
		}
	}
	slices.Sort(x.paths)
	x.paths = slices.Compact(x.paths)
	shared, err := r.link()
	return x, shared, err
}

type indexReader struct {
	rest    []byte
	hash    int
	version uint32
	name    string // of the last entry
}

func (r *indexReader) entry() error {
	head := entryFixed + r.hash + 2
	if len(r.rest) < head {
		return errIndex
	}
	if binary.BigEndian.Uint16(r.rest[head-2:])&0x4000 != 0 && r.version > 2 {
		head += 2
	}
	if len(r.rest) < head {
		return errIndex
	}
	if r.version == 4 {
		return r.compressed(head)
	}
	end := slices.Index(r.rest[head:], 0)
	length := (head + end + 8) &^ 7 // with one to eight NULs
	if end < 0 || length > len(r.rest) {
		return errIndex
	}
	r.name, r.rest = string(r.rest[head:head+end]), r.rest[length:]
	return nil
}

// compressed reads a name that is given as how many bytes to take off the last one, and what comes then.
func (r *indexReader) compressed(head int) error {
	rest, off := r.rest[head:], uint64(0)
	for i := 0; ; i++ {
		if i >= len(rest) || i > 8 {
			return errIndex
		}
		off = off<<7 | uint64(rest[i]&0x7f)
		if rest[i]&0x80 == 0 {
			rest = rest[i+1:]
			break
		}
		off++
	}
	end := slices.Index(rest, 0)
	if end < 0 || off > uint64(len(r.name)) {
		return errIndex
	}
	r.name, r.rest = r.name[:uint64(len(r.name))-off]+string(rest[:end]), rest[end+1:]
	return nil
}

// link looks through the extensions for that of a split index.
func (r *indexReader) link() (string, error) {
	for len(r.rest) > 0 {
		if len(r.rest) < 8 {
			return "", errIndex
		}
		name, length := string(r.rest[:4]), uint64(binary.BigEndian.Uint32(r.rest[4:]))
		if length > uint64(len(r.rest)-8) {
			return "", errIndex
		}
		body := r.rest[8 : 8+length]
		if r.rest = r.rest[8+length:]; name == "link" && len(body) >= r.hash {
			if id := body[:r.hash]; slices.ContainsFunc(id, func(b byte) bool { return b != 0 }) {
				return "sharedindex." + hex.EncodeToString(id), nil
			}
		}
	}
	return "", nil
}
