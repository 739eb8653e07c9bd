package pack

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
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

// batch are the records of one Commit.
type batch struct {
	records []record
	synced  bool   // the bodies were on the disk before the batch was written
	crc     uint32 // of the bodies, if they were not
}

// An index is a row of batches: the length of what follows and its CRC-32, 4 bytes each; whether the bodies were synced; their CRC-32,
// 4 bytes; the offset in the pack of the first body; and for each body its ID, its codec, how many bytes before it are unused, how
// many it has, and how many the object has. Numbers are varints.

const (
	batchHead = 8
	batchFlag = 5
)

// sum computes the CRC-32 of all bodies, in the order of their places.
func (b *batch) sum(pack io.ReaderAt) error {
	b.sort()
	first, last := b.records[0], b.records[len(b.records)-1]
	if last.off+last.stored-first.off > 2*maxUnsynced {
		return ErrDamaged
	}
	all := make([]byte, last.off+last.stored-first.off)
	if _, err := pack.ReadAt(all, first.off); err != nil {
		return fmt.Errorf("reading pack: %w", err)
	}
	b.crc = 0
	for _, r := range b.records {
		b.crc = crc32.Update(b.crc, crc32.IEEETable, all[r.off-first.off:][:r.stored])
	}
	return nil
}

func (b *batch) sort() {
	slices.SortFunc(b.records, func(a, b record) int { return cmp.Compare(a.off, b.off) })
}

func (b *batch) encode() []byte {
	b.sort()
	out := make([]byte, batchHead+batchFlag)
	if b.synced {
		out[batchHead] = 1
	}
	binary.LittleEndian.PutUint32(out[batchHead+1:], b.crc)
	end := b.records[0].off
	out = binary.AppendUvarint(out, uint64(end))
	for _, r := range b.records {
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
func decodeBatch(data []byte, pack *file) (b batch, n int) {
	if len(data) < batchHead {
		return b, 0
	}
	length := uint64(binary.LittleEndian.Uint32(data))
	if length > uint64(len(data)-batchHead) || length < batchFlag {
		return b, 0
	}
	body := data[batchHead : batchHead+length]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(data[4:]) {
		return b, 0
	}
	b.synced, b.crc = body[0] == 1, binary.LittleEndian.Uint32(body[1:])
	if b.records = decodeRecords(body[batchFlag:], pack); len(b.records) == 0 {
		return b, 0
	}
	return b, batchHead + int(length)
}

// decodeRecords is nil when they are malformed.
func decodeRecords(body []byte, pack *file) (out []record) {
	end, n := binary.Uvarint(body)
	if n <= 0 || end > 1<<62 {
		return nil
	}
	for body = body[n:]; len(body) > len(ID{}); {
		r := record{ID(body), place{pack: pack, codec: body[len(ID{})]}}
		body = body[len(ID{})+1:]
		var numbers [3]uint64
		for i := range numbers {
			if numbers[i], n = binary.Uvarint(body); n <= 0 || numbers[i] > 1<<60 {
				return nil
			}
			body = body[n:]
		}
		r.off, r.stored, r.size = int64(end+numbers[0]), int64(numbers[1]), int64(numbers[2])
		if r.stored > maxStored || r.off > 1<<62 {
			return nil
		}
		end += numbers[0] + numbers[1]
		out = append(out, r)
	}
	if len(body) > 0 {
		return nil
	}
	return out
}

// maxStored is the most bytes of a body: a list of as many chunks as there are bytes in one.
const maxStored = ChunkSize * int64(len(Hash{}))
