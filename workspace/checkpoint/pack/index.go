package pack

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// How a body is stored. From codecDelta on it is the ID of another object and a delta against that; how much above says how many
// deltas are in a row.
const (
	codecRaw   = 0
	codecFlate = 1
	codecList  = 2 // the hashes of the chunks
	codecDelta = 16
)

// record says where an object is.
type record struct {
	id ID
	place
}

// An index is a row of batches, one of each Commit: the length of what follows and its CRC-32, 4 bytes each; the offset in the
// pack of the first body; and for each body its ID, its codec, how many bytes before it are unused, how many it has, and how many
// the object has. Numbers are varints.

const batchHead = 8

// encodeBatch sorts the records by their places.
func encodeBatch(list []record) []byte {
	slices.SortFunc(list, func(a, b record) int { return cmp.Compare(a.off, b.off) })
	out := make([]byte, batchHead)
	end := list[0].off
	out = binary.AppendUvarint(out, uint64(end))
	for _, r := range list {
		out = append(out, r.id[:]...)
		out = append(out, r.codec)
		out = binary.AppendUvarint(out, uint64(r.off-end))
		out = binary.AppendUvarint(out, uint64(r.stored))
		out = binary.AppendUvarint(out, uint64(r.size))
		end = r.off + r.stored
	}
	binary.LittleEndian.PutUint32(out, uint32(len(out)-batchHead))
	binary.LittleEndian.PutUint32(out[4:], crc32.ChecksumIEEE(out[batchHead:]))
	return out
}

// decodeBatch reads the first batch of an index, and says how long it is, 0 if it is not whole.
func decodeBatch(data []byte, pack *file) ([]record, int) {
	if len(data) < batchHead {
		return nil, 0
	}
	length := uint64(binary.LittleEndian.Uint32(data))
	if length > uint64(len(data)-batchHead) {
		return nil, 0
	}
	body := data[batchHead : batchHead+length]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(data[4:]) {
		return nil, 0
	}
	var out []record
	end, n := binary.Uvarint(body)
	for body = body[max(n, 0):]; n > 0 && len(body) > len(ID{}); {
		r := record{ID(body), place{pack: pack, codec: body[len(ID{})]}}
		body = body[len(ID{})+1:]
		var numbers [3]uint64
		for i := range numbers {
			if numbers[i], n = binary.Uvarint(body); n <= 0 || numbers[i] > 1<<62 {
				return nil, 0
			}
			body = body[n:]
		}
		r.off, r.stored, r.size = int64(end+numbers[0]), int64(numbers[1]), int64(numbers[2])
		if r.off < 0 || r.stored > maxStored {
			return nil, 0
		}
		end += numbers[0] + numbers[1]
		out = append(out, r)
	}
	if n <= 0 || len(body) > 0 {
		return nil, 0
	}
	return out, batchHead + int(length)
}

// maxStored is the most bytes of a body: a list of as many chunks as there are bytes in one.
const maxStored = ChunkSize * int64(len(Hash{}))
