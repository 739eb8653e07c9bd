package pack

import (
	"bytes"
	"compress/flate"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// ChunkSize is the most bytes that are stored in one piece.
const ChunkSize = 1 << 20

// ErrMissing says that an object is not in the store.
var ErrMissing = errors.New("object is not in the store")

// ErrDamaged says that an object's bytes are not what they were.
var ErrDamaged = errors.New("object is damaged")

// Objects are the packs of one folder. Its methods may be called concurrently; the caller holds the lock, see doc.go.
type Objects struct {
	dir  string
	step func(string)

	mu         sync.Mutex
	at         map[ID]place
	packs      map[string]*file // by name
	current    *writer          // nil before the first Put
	generation string
	failures   int // of syncs
}

// place is where an object's body is.
type place struct {
	pack         *file
	off          int64
	stored, size int64
	codec        byte
}

// file is a pack that is open for reading.
type file struct {
	name  string
	body  *os.File
	read  int64 // bytes of the index that are known
	fresh bool  // its owner may not have put the last batch on the disk yet
}

// writer is the pack that this process writes.
type writer struct {
	file                *file
	index               *os.File
	end, indexEnd       int64
	synced, indexSynced int64 // up to here it is on the disk
	early               int64 // up to here the system was asked to write
	pending             []record
	lasts               bool // its name is on the disk
}

// Open opens the packs of a folder, which it makes if needed. Step, if not nil, is called at each step that changes the disk.
// The caller holds the lock.
func Open(dir string, step func(string)) (*Objects, error) {
	if step == nil {
		step = func(string) {}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making folder of packs: %w", err)
	}
	o := &Objects{dir: dir, step: step, at: map[ID]place{}, packs: map[string]*file{}}
	generation, err := o.readGeneration()
	if err != nil {
		return nil, err
	}
	o.generation = generation
	return o, o.loadLocked()
}

// Close ends reading and writing. What was not committed is not there.
func (o *Objects) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.forgetLocked()
}

func (o *Objects) forgetLocked() error {
	var errs []error
	if o.current != nil {
		errs = append(errs, o.current.index.Close())
		o.current = nil
	}
	for _, f := range o.packs {
		errs = append(errs, f.body.Close())
	}
	clear(o.packs)
	clear(o.at)
	return errors.Join(errs...)
}

// Generation is the store's generation when it was last looked at. It is another one too when objects were lost because they could not
// be put on the disk.
func (o *Objects) Generation() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failures > 0 {
		return fmt.Sprint(o.generation, "-", o.failures)
	}
	return o.generation
}

func (o *Objects) readGeneration() (string, error) {
	data, err := os.ReadFile(filepath.Join(o.dir, "generation"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading generation: %w", err)
	}
	return string(data), nil
}

// Refresh looks whether somebody swept since, and says so; then what was there may be gone.
func (o *Objects) Refresh() (swept bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	generation, err := o.readGeneration()
	if err != nil || generation == o.generation {
		return false, err
	}
	_ = o.forgetLocked() // only reading, or a pack that was swept
	o.generation = generation
	return true, o.loadLocked()
}

// Has says whether an object is known to be here.
func (o *Objects) Has(h Hash) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.at[h.ID()]
	return ok
}

// Put stores a body of at most ChunkSize and returns its hash and the bytes that this took, 0 when it was there.
func (o *Objects) Put(body []byte, compress bool) (Hash, int64, error) {
	return o.PutLike(body, Hash{}, compress)
}

// PutLike is Put of a body that resembles an earlier one, if that is here: then it may be stored as what is different.
func (o *Objects) PutLike(body []byte, like Hash, compress bool) (Hash, int64, error) {
	h := Sum(body)
	if o.Has(h) {
		return h, 0, nil
	}
	stored, codec := body, byte(codecRaw)
	if !like.IsZero() {
		if small, as := o.deltaTo(h, body, like); small != nil && len(small) < len(body) {
			stored, codec = small, as
		}
	}
	const good = 2 // times smaller as a delta: no need to look further
	if compress && len(stored)*good > len(body) {
		if small := deflate(body); len(small) < len(stored) {
			stored, codec = small, codecFlate
		}
	}
	return h, int64(len(stored)), o.write(h.ID(), stored, int64(len(body)), codec)
}

// deltaTo is a body as a delta to another one, nil if that is of no use.
func (o *Objects) deltaTo(h Hash, body []byte, like Hash) ([]byte, byte) {
	p, err := o.find(like.ID())
	if err != nil || p.codec == codecList || p.codec >= codecDelta+deepest(h)-1 {
		return nil, 0
	}
	base, err := o.Get(like)
	if err != nil {
		return nil, 0
	}
	id := like.ID()
	return append(id[:], delta(base, body)...), max(p.codec+1, codecDelta)
}

// PutStream stores what r gives, in chunks, and returns its hash, its size and the bytes that this took. Like is as of PutLike.
func (o *Objects) PutStream(r io.Reader, like Hash, compress bool) (h Hash, size, took int64, err error) {
	whole := newHash()
	var list []byte
	was := o.chunksOf(like)
	buf := make([]byte, ChunkSize)
	for {
		n, err := io.ReadFull(r, buf)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return Hash{}, 0, took, err
		}
		if n > 0 || size == 0 {
			whole.Write(buf[:n])
			var old Hash
			if i := len(list) / len(h); i < len(was) {
				old = was[i]
			}
			chunk, more, err := o.PutLike(buf[:n], old, compress)
			if err != nil {
				return Hash{}, 0, took, err
			}
			list, size, took = append(list, chunk[:]...), size+int64(n), took+more
		}
		if err != nil {
			break
		}
	}
	whole.Sum(h[:0])
	if len(list) == len(h) || o.Has(h) {
		return h, size, took, nil
	}
	return h, size, took + int64(len(list)), o.write(h.ID(), list, size, codecList)
}

// chunksOf are the chunks of an object, itself if it is one, none if it is not here.
func (o *Objects) chunksOf(h Hash) []Hash {
	if h.IsZero() {
		return nil
	}
	p, err := o.find(h.ID())
	if err != nil || p.codec != codecList {
		return []Hash{h}
	}
	list, err := p.chunks()
	if err != nil {
		return nil
	}
	return list
}

// write appends a body to this process's pack. Bodies are written side by side; each has its own place.
func (o *Objects) write(id ID, stored []byte, size int64, codec byte) error {
	w, off, err := o.reserve(int64(len(stored)))
	if err != nil {
		return err
	}
	o.step("body")
	if _, err := w.file.body.WriteAt(stored, off); err != nil {
		return fmt.Errorf("writing pack: %w", err)
	}
	if from, n := o.add(w, record{id, place{w.file, off, int64(len(stored)), size, codec}}); n > 0 {
		writeEarly(w.file.body, from, n)
	}
	return nil
}

// add makes an object known and says which range of the pack is to be written early.
func (o *Objects) add(w *writer, r record) (from, n int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.at[r.id] = r.place
	w.pending = append(w.pending, r)
	const step = 8 << 20
	if w.end-w.early < step {
		return 0, 0
	}
	from, w.early = w.early, w.end
	return from, w.end - from
}

func (o *Objects) reserve(n int64) (*writer, int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.current == nil {
		w, err := o.newWriter()
		if err != nil {
			return nil, 0, fmt.Errorf("making pack: %w", err)
		}
		o.current = w
		o.packs[w.file.name] = w.file
	}
	off := o.current.end
	o.current.end += n
	return o.current, off, nil
}

func (o *Objects) newWriter() (*writer, error) {
	name := rand.Text()
	body, err := os.OpenFile(filepath.Join(o.dir, name+".pack"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	o.step("pack made")
	index, err := os.OpenFile(filepath.Join(o.dir, name+".idx"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		body.Close()
		return nil, err
	}
	o.step("index made")
	return &writer{file: &file{name: name, body: body}, index: index}, nil
}

// deflate compresses; speed before size. To begin is slow at the better level, so it is not for what is small; and for what is
// smaller still nothing is gained. It returns what is not smaller as it is.
func deflate(body []byte) []byte {
	const least, little = 100, 8 << 10
	if len(body) < least {
		return body
	}
	pool := &deflaters
	if len(body) < little {
		pool = &quick
	}
	var out bytes.Buffer
	w := pool.Get().(*flate.Writer)
	defer pool.Put(w)
	w.Reset(&out)
	_, _ = w.Write(body) // a buffer takes all
	_ = w.Close()
	return out.Bytes()
}

var (
	deflaters = sync.Pool{New: func() any { return newDeflater(5) }}
	quick     = sync.Pool{New: func() any { return newDeflater(flate.BestSpeed) }}
)

func newDeflater(level int) *flate.Writer {
	w, _ := flate.NewWriter(nil, level) // a level that exists
	return w
}
