package pack

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// A delta makes a body from another one: runs of bytes that are given, and runs that are copied. It is a sequence of: how many bytes
// are given, these, how many are copied, and from where, counted from the end of the last copy (signed). Numbers are varints. The
// last copy may be missing.

const least = 8 // bytes of a copy

// deepest is how many deltas in a row may lead to a body. It depends on the body, so that not all trees of a project are stored as
// a whole in the same turn.
func deepest(h Hash) byte {
	const few, many, one = 8, 48, 16 // one of 16 ends a row that is not short
	if h[0]%one == 0 {
		return few
	}
	return many
}

// delta describes body by what base has.
func delta(base, body []byte) []byte {
	table := newTable(base)
	var out []byte
	given, last := 0, 0 // the first byte that is not described yet; the end of the last copy
	for i := 0; i+least <= len(body); {
		from, n := table.find(body[i:], last+i-given)
		if n == 0 {
			i++
			continue
		}
		for i > given && from > 0 && base[from-1] == body[i-1] {
			i, from, n = i-1, from-1, n+1
		}
		out = binary.AppendUvarint(out, uint64(i-given))
		out = append(out, body[given:i]...)
		out = binary.AppendUvarint(out, uint64(n))
		out = binary.AppendVarint(out, int64(from-last))
		i += n
		given, last = i, from+n
	}
	if given < len(body) {
		out = binary.AppendUvarint(out, uint64(len(body)-given))
		out = append(out, body[given:]...)
	}
	return out
}

// table finds runs of bytes in a base.
type table struct {
	base  []byte
	shift int
	at    []int32 // by hash, plus one
}

func newTable(base []byte) *table {
	const large = 64 << 10
	step := 1
	if len(base) > large {
		step = 4 // of a large one, not each place is known: then a copy is a little longer at the least
	}
	size := bits.Len(uint(len(base)/step)) + 1
	t := &table{base: base, shift: 64 - size, at: make([]int32, 1<<size)}
	for i := 0; i+least <= len(base); i += step {
		t.at[t.hash(base[i:])] = int32(i + 1)
	}
	return t
}

func (t *table) hash(b []byte) uint64 {
	return binary.LittleEndian.Uint64(b) * 0x9e3779b97f4a7c15 >> t.shift
}

// find is where the base has what a text begins with, and how much of it; likely is looked at first.
func (t *table) find(text []byte, likely int) (from, n int) {
	if likely >= 0 && likely < len(t.base) {
		if n = common(t.base[likely:], text); n >= least {
			return likely, n
		}
	}
	if from = int(t.at[t.hash(text)]) - 1; from < 0 {
		return 0, 0
	}
	if n = common(t.base[from:], text); n < least {
		return 0, 0
	}
	return from, n
}

func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

var errDelta = errors.New("delta is malformed")

// patch makes the body that delta described. It is at most ChunkSize.
func patch(base, delta []byte) ([]byte, error) {
	var out []byte
	last := int64(0)
	for len(delta) > 0 {
		given, n := binary.Uvarint(delta)
		if n <= 0 || given > uint64(len(delta)-n) || given > ChunkSize-uint64(len(out)) {
			return nil, errDelta
		}
		out = append(out, delta[n:n+int(given)]...)
		if delta = delta[n+int(given):]; len(delta) == 0 {
			break
		}
		length, n := binary.Uvarint(delta)
		if n <= 0 || length > ChunkSize-uint64(len(out)) {
			return nil, errDelta
		}
		from, m := binary.Varint(delta[n:])
		if m <= 0 || from < -last || from > int64(len(base))-last || length > uint64(int64(len(base))-last-from) {
			return nil, errDelta
		}
		last += from + int64(length)
		out = append(out, base[last-int64(length):last]...)
		delta = delta[n+m:]
	}
	return out, nil
}
