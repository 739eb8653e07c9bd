package pack

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// How a body is stored.
const (
	codecRaw = iota
	codecFlate
	codecList // the hashes of the chunks
)

// record says where an object is. On the disk: hash, offset, stored length, size, codec, three zero bytes, CRC-32 of all that.
type record struct {
	hash Hash
	place
}

const recordSize = 64

func (r record) encode() []byte {
	out := make([]byte, recordSize)
	copy(out, r.hash[:])
	binary.LittleEndian.PutUint64(out[32:], uint64(r.off))
	binary.LittleEndian.PutUint64(out[40:], uint64(r.stored))
	binary.LittleEndian.PutUint64(out[48:], uint64(r.size))
	out[56] = r.codec
	binary.LittleEndian.PutUint32(out[60:], crc32.ChecksumIEEE(out[:60]))
	return out
}

func decode(data []byte, pack *file) (record, bool) {
	if binary.LittleEndian.Uint32(data[60:]) != crc32.ChecksumIEEE(data[:60]) {
		return record{}, false
	}
	r := record{Hash(data[:32]), place{
		pack:   pack,
		off:    int64(binary.LittleEndian.Uint64(data[32:])),
		stored: int64(binary.LittleEndian.Uint64(data[40:])),
		size:   int64(binary.LittleEndian.Uint64(data[48:])),
		codec:  data[56],
	}}
	return r, r.off >= 0 && r.size >= 0 && r.stored >= 0 && r.stored <= ChunkSize*Hash{}.size()
}

func (Hash) size() int64 { return sha256.Size }

func newHash() hash.Hash { return sha256.New() }

// loadLocked reads what is new in the packs of all processes.
func (o *Objects) loadLocked() error {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return fmt.Errorf("reading packs: %w", err)
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".idx")
		if !ok || o.current != nil && o.current.file.name == name {
			continue
		}
		if err := o.loadPack(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("reading index %s: %w", name, err)
		}
	}
	return nil
}

func (o *Objects) loadPack(name string) error {
	index, err := os.Open(filepath.Join(o.dir, name+".idx"))
	if err != nil {
		return err
	}
	defer index.Close()
	f := o.packs[name]
	if f == nil {
		body, err := os.Open(filepath.Join(o.dir, name+".pack"))
		if err != nil {
			return err
		}
		f = &file{name: name, body: body}
		o.packs[name] = f
	}
	data, err := io.ReadAll(io.NewSectionReader(index, f.read, 1<<40))
	if err != nil {
		return err
	}
	for ; len(data) >= recordSize; data = data[recordSize:] {
		r, ok := decode(data[:recordSize], f)
		if !ok {
			break // torn by a crash: its owner writes no more
		}
		f.read += recordSize
		if _, known := o.at[r.hash]; !known {
			o.at[r.hash] = r.place
		}
	}
	return nil
}

// find looks again at the disk if need be: others write too.
func (o *Objects) find(h Hash) (place, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p, ok := o.at[h]
	if !ok {
		if err := o.loadLocked(); err != nil {
			return place{}, err
		}
		p, ok = o.at[h]
	}
	if !ok {
		return place{}, fmt.Errorf("%w: %s", ErrMissing, h)
	}
	return p, nil
}

// Get returns an object of at most ChunkSize. Errors: ErrMissing, ErrDamaged.
func (o *Objects) Get(h Hash) ([]byte, error) {
	p, err := o.find(h)
	if err != nil {
		return nil, err
	}
	if p.codec == codecList {
		return nil, fmt.Errorf("getting %s: %d bytes are more than a chunk", h, p.size)
	}
	body, err := p.body()
	if err == nil && Sum(body) != h {
		err = ErrDamaged
	}
	if err != nil {
		return nil, fmt.Errorf("getting %s: %w", h, err)
	}
	return body, nil
}

// body reads what is stored and undoes its compression.
func (p place) body() ([]byte, error) {
	stored := make([]byte, p.stored)
	if _, err := p.pack.body.ReadAt(stored, p.off); err != nil {
		return nil, errors.Join(ErrDamaged, err)
	}
	if p.codec != codecFlate {
		return stored, nil
	}
	body, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(stored)), ChunkSize+1))
	if err != nil {
		return nil, errors.Join(ErrDamaged, err)
	}
	return body, nil
}

// WriteTo writes an object of any size. On ErrDamaged some of it may have been written.
func (o *Objects) WriteTo(w io.Writer, h Hash) error {
	r, err := o.Reader(h)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return err
}

// Reader reads an object of any size. The caller holds the lock until it has read. Errors: ErrMissing, ErrDamaged, of the
// reads too.
func (o *Objects) Reader(h Hash) (io.Reader, error) {
	p, err := o.find(h)
	if err != nil {
		return nil, err
	}
	if p.codec != codecList {
		body, err := o.Get(h)
		return bytes.NewReader(body), err
	}
	chunks, err := p.chunks()
	if err != nil {
		return nil, fmt.Errorf("getting %s: %w", h, err)
	}
	return &pieces{objects: o, whole: h, sum: newHash(), chunks: chunks}, nil
}

// pieces reads an object that is stored in chunks.
type pieces struct {
	objects *Objects
	whole   Hash
	sum     hash.Hash // of what was read
	chunks  []Hash    // that are not yet read
	rest    []byte
}

func (p *pieces) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if len(p.chunks) == 0 {
			if Hash(p.sum.Sum(nil)) != p.whole {
				return 0, fmt.Errorf("getting %s: %w", p.whole, ErrDamaged)
			}
			return 0, io.EOF
		}
		body, err := p.objects.Get(p.chunks[0])
		if err != nil {
			return 0, err
		}
		p.sum.Write(body)
		p.rest, p.chunks = body, p.chunks[1:]
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p place) chunks() ([]Hash, error) {
	list, err := p.body()
	if err != nil {
		return nil, err
	}
	var chunks []Hash
	for ; len(list) >= len(Hash{}); list = list[len(Hash{}):] {
		chunks = append(chunks, Hash(list[:len(Hash{})]))
	}
	return chunks, nil
}

// Parts are the objects that an object of any size is stored in, itself first, and the bytes that they take.
func (o *Objects) Parts(h Hash, each func(h Hash, stored int64)) error {
	p, err := o.find(h)
	if err != nil {
		return err
	}
	each(h, p.stored)
	if p.codec != codecList {
		return nil
	}
	chunks, err := p.chunks()
	if err != nil {
		return err
	}
	for _, c := range chunks {
		if p, err = o.find(c); err != nil {
			return err
		}
		each(c, p.stored)
	}
	return nil
}

// Size is how many bytes an object has when it is read.
func (o *Objects) Size(h Hash) (int64, error) {
	p, err := o.find(h)
	return p.size, err
}
