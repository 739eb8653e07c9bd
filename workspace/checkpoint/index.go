package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"

	"sallyport/workspace/checkpoint/pack"
)

// The resident index on the disk: a magic, folders depth first, SHA-256 of all that. A folder is its name, its tree, the number of its entries,
// and these: name, kind, reason, mode, hash, key, racy, and the folder if there is one. Integers are varints. The name of the root's
// folder is the store's generation. A file that is not so is as none: everything is read again.

const indexMagic = "sallyport index 1\n"

// saveIndex writes an index for the next process. The caller has r's slot or the store's lock.
func (s *Store) saveIndex(r *resident) error {
	if r.root == nil {
		return nil
	}
	out := appendNode([]byte(indexMagic), r.root)
	sum := sha256.Sum256(out)
	if err := pack.Replace(r.file, append(out, sum[:]...), s.step); err != nil {
		return fmt.Errorf("saving index: %w", err)
	}
	r.unsaved = false
	return nil
}

func appendNode(out []byte, n *node) []byte {
	out = appendText(out, n.name)
	out = append(out, n.tree[:]...)
	out = binary.AppendUvarint(out, uint64(len(n.entries)))
	for i := range n.entries {
		e := &n.entries[i]
		out = appendText(out, e.name)
		out = append(out, byte(e.Kind), byte(e.Reason))
		out = binary.AppendUvarint(out, uint64(e.Mode))
		out = append(out, e.Hash[:]...)
		for _, v := range []int64{e.key.size, e.key.mtime, e.key.ctime, int64(e.key.ino)} {
			out = binary.AppendVarint(out, v)
		}
		out = append(out, flag(e.racy), flag(e.node != nil))
		if e.node != nil {
			out = appendNode(out, e.node)
		}
	}
	return out
}

func appendText(out []byte, s string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// loadIndex is nil when there is none, or it is not whole.
func (s *Store) loadIndex(name string) *node {
	data, err := os.ReadFile(name)
	if err != nil || len(data) < len(indexMagic)+sha256.Size || string(data[:len(indexMagic)]) != indexMagic {
		return nil
	}
	body := data[:len(data)-sha256.Size]
	if sha256.Sum256(body) != [sha256.Size]byte(data[len(body):]) {
		return nil
	}
	d := &decoder{rest: body[len(indexMagic):]}
	n := d.node(0)
	if d.bad || len(d.rest) > 0 {
		return nil
	}
	return n
}

// decoder reads an index; bad is set when it is malformed, and then all reads are zero.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) take(n uint64) []byte {
	if d.bad || n > uint64(len(d.rest)) {
		d.bad = true
		return make([]byte, min(n, sha256.Size))
	}
	out := d.rest[:n]
	d.rest = d.rest[n:]
	return out
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) text() string { return string(d.take(d.uvarint())) }

func (d *decoder) node(depth int) *node {
	const deepest = 1 << 16
	n := &node{name: d.text(), tree: Hash(d.take(sha256.Size))}
	count := d.uvarint()
	if d.bad || depth > deepest || count > uint64(len(d.rest)) {
		d.bad = true
		return n
	}
	n.entries = make([]entry, 0, count)
	for range count {
		e := entry{item: item{name: d.text()}}
		b := d.take(2)
		e.Kind, e.Reason = Kind(b[0]), Reason(b[1])
		e.Mode = uint32(d.uvarint())
		e.Hash = Hash(d.take(sha256.Size))
		e.key = key{size: d.varint(), mtime: d.varint(), ctime: d.varint(), ino: uint64(d.varint())}
		b = d.take(2)
		e.racy = b[0] == 1
		if b[1] == 1 {
			e.node = d.node(depth + 1)
		}
		if d.bad {
			return n
		}
		n.entries = append(n.entries, e)
	}
	return n
}
