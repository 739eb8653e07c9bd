package fence

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"os"
	"path/filepath"
)

// What git tracks can be read from its objects, whatever stands before the file. A file with an unreadable name whose content
// is the tracked one is therefore not hidden from an agent's tools: that would keep nothing, and break its git (which could
// neither stash nor commit all) and the tests that need a certificate. It stays closed to writes.

// tracked are the files of a git index by path, with what names their content.
type tracked struct {
	root  string
	files map[string][]byte
	hash  func() hash.Hash
}

const (
	maxIndex   = 64 << 20
	maxTracked = 1 << 20 // of a file that is compared
)

// readTracked reads the index of the repository whose working tree is root. Without one nothing is tracked.
func readTracked(root string) *tracked {
	t := &tracked{root: root, hash: sha1.New}
	dir := filepath.Join(root, ".git")
	if target, ok := readPointer(dir, "gitdir:"); ok {
		dir = absolute(root, target)
	}
	file := filepath.Join(dir, "index")
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIndex {
		return t
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return t
	}
	size := sha1.Size
	if format := gitConfig(filepath.Join(dir, "config"))["extensions.objectformat"]; len(format) == 1 && format[0] == "sha256" {
		t.hash, size = sha256.New, sha256.Size
	}
	t.files = parseIndex(raw, size)
	return t
}

// parseIndex reads the entries of an index (git's index-format, versions 2 to 4). What is malformed has no entries.
func parseIndex(raw []byte, size int) map[string][]byte {
	const head, fixed = 12, 40
	if len(raw) < head || string(raw[:4]) != "DIRC" {
		return nil
	}
	version, count := binary.BigEndian.Uint32(raw[4:]), binary.BigEndian.Uint32(raw[8:])
	if version < 2 || version > 4 {
		return nil
	}
	all := map[string][]byte{}
	rest, previous := raw[head:], ""
	for range count {
		if len(rest) < fixed+size+2 {
			return nil
		}
		oid, at := rest[fixed:fixed+size], fixed+size+2
		if binary.BigEndian.Uint16(rest[fixed+size:])&0x4000 != 0 {
			at += 2 // extended flags
		}
		keep := 0
		if version == 4 {
			drop, n := offset(rest[min(at, len(rest)):])
			if n == 0 || drop > len(previous) {
				return nil
			}
			keep, at = len(previous)-drop, at+n
		}
		end := bytes.IndexByte(rest[min(at, len(rest)):], 0)
		if end < 0 {
			return nil
		}
		previous = previous[:keep] + string(rest[at:at+end])
		all[previous] = oid
		at += end + 1
		if version < 4 { // padded to eight bytes
			at = (at + 7) &^ 7
		}
		if at > len(rest) {
			return nil
		}
		rest = rest[at:]
	}
	return all
}

// offset reads a number as pack files have it, and how long it is; 0 when it is malformed.
func offset(raw []byte) (value, length int) {
	for i, b := range raw {
		if i > 4 {
			return 0, 0
		}
		if i > 0 {
			value++
		}
		value = value<<7 | int(b&0x7f)
		if b&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}

// shows reports whether git tracks a file with just the content that it has. An index that an agent made up shows nothing:
// it would have to know the content.
func (t *tracked) shows(path string) bool {
	rel, err := filepath.Rel(t.root, path)
	if err != nil {
		return false
	}
	oid, ok := t.files[filepath.ToSlash(rel)]
	if !ok {
		return false
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxTracked {
		return false
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	h := t.hash()
	fmt.Fprintf(h, "blob %d\x00", len(raw))
	h.Write(raw)
	return bytes.Equal(h.Sum(nil), oid)
}

// shown closes a tracked file to writes only, and reports whether it is one.
func (s *survey) shown(path string) bool {
	if s.tracked == nil || s.tracked.root != s.root {
		s.tracked = readTracked(s.root)
	}
	if !s.tracked.shows(path) {
		return false
	}
	s.limit("files with secret names that git tracks unchanged can be read by an agent's own tools, as git shows them anyway")
	s.layout.Closed = append(s.layout.Closed, path)
	return true
}
