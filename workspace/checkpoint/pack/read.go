package pack

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

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
	for {
		b, n := decodeBatch(data, f)
		if n == 0 {
			return nil // the end, or torn by a crash: its owner writes no more
		}
		if data = data[n:]; len(data) == 0 && !b.bodiesAreThere(f) {
			return nil // also torn: a sync that a crash ended
		}
		f.read += int64(n)
		for _, r := range b.records {
			if old, known := o.at[r.id]; !known || r.codec < old.codec && old.codec >= codecDelta {
				o.at[r.id] = r.place // of several, the nearest to a whole body: so deltas never go in a circle
			}
		}
	}
}

// bodiesAreThere makes sure of the last batch of an index, whose bodies may have been on the way to the disk together with it. Of
// all others it is known, as they were before the next one was written.
func (b *batch) bodiesAreThere(f *file) bool {
	if b.synced {
		return true
	}
	f.fresh = f.fresh || isNew(f.body)
	want := b.crc
	return b.sum(f.body) == nil && b.crc == want
}

// find looks again at the disk if need be: others write too.
func (o *Objects) find(id ID) (place, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p, ok := o.at[id]
	if !ok {
		if err := o.loadLocked(); err != nil {
			return place{}, err
		}
		p, ok = o.at[id]
	}
	if !ok {
		return place{}, fmt.Errorf("%w: %x", ErrMissing, id)
	}
	return p, nil
}

// findBelow finds what a delta is made from. That has fewer deltas in a row, so there is an end.
func (o *Objects) findBelow(id ID, codec byte) (place, error) {
	p, err := o.find(id)
	if err != nil || p.codec < codec {
		return p, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.loadLocked(); err != nil { // another process has a better one
		return place{}, err
	}
	if p = o.at[id]; p.codec >= codec {
		return place{}, fmt.Errorf("%x is made from itself: %w", id, ErrDamaged)
	}
	return p, nil
}

// Get returns an object of at most ChunkSize. Errors: ErrMissing, ErrDamaged.
func (o *Objects) Get(h Hash) ([]byte, error) {
	p, err := o.find(h.ID())
	if err != nil {
		return nil, err
	}
	if p.codec == codecList {
		return nil, fmt.Errorf("getting %s: %d bytes are more than a chunk", h, p.size)
	}
	body, err := o.body(p)
	if err == nil && Sum(body) != h {
		err = ErrDamaged
	}
	if err != nil {
		return nil, fmt.Errorf("getting %s: %w", h, err)
	}
	return body, nil
}

// body makes an object of at most ChunkSize from what is stored. It is not yet compared with the hash.
func (o *Objects) body(p place) ([]byte, error) {
	stored, err := p.read()
	switch {
	case err != nil || p.codec == codecRaw || p.codec == codecList:
		return stored, err
	case p.codec == codecFlate:
		body, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(stored)), ChunkSize+1))
		if err != nil {
			return nil, errors.Join(ErrDamaged, err)
		}
		return body, nil
	case p.codec < codecDelta || len(stored) < len(ID{}):
		return nil, ErrDamaged
	}
	from, err := o.findBelow(ID(stored), p.codec)
	if err != nil {
		return nil, err
	}
	base, err := o.body(from)
	if err != nil {
		return nil, err
	}
	body, err := patch(base, stored[len(ID{}):])
	if err != nil {
		return nil, errors.Join(ErrDamaged, err)
	}
	return body, nil
}

// read reads what is stored.
func (p place) read() ([]byte, error) {
	stored := make([]byte, p.stored)
	if _, err := p.pack.body.ReadAt(stored, p.off); err != nil {
		return nil, errors.Join(ErrDamaged, err)
	}
	return stored, nil
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
	p, err := o.find(h.ID())
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
	list, err := p.read()
	if err != nil {
		return nil, err
	}
	var chunks []Hash
	for ; len(list) >= len(Hash{}); list = list[len(Hash{}):] {
		chunks = append(chunks, Hash(list[:len(Hash{})]))
	}
	return chunks, nil
}

// Parts are the objects that one of any size is made from, itself first, and the bytes that they take.
func (o *Objects) Parts(h Hash, each func(part ID, stored int64)) error {
	p, err := o.find(h.ID())
	if err != nil {
		return err
	}
	each(h.ID(), p.stored)
	for p.codec >= codecDelta {
		var base ID
		if _, err := p.pack.body.ReadAt(base[:], p.off); err != nil {
			return errors.Join(ErrDamaged, err)
		}
		if p, err = o.findBelow(base, p.codec); err != nil {
			return err
		}
		each(base, p.stored)
	}
	if p.codec != codecList {
		return nil
	}
	chunks, err := p.chunks()
	if err != nil {
		return err
	}
	for _, c := range chunks {
		if p, err = o.find(c.ID()); err != nil {
			return err
		}
		each(c.ID(), p.stored)
	}
	return nil
}

// Size is how many bytes an object has when it is read.
func (o *Objects) Size(h Hash) (int64, error) {
	p, err := o.find(h.ID())
	return p.size, err
}
