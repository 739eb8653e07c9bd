package checkpoint

import (
	"errors"
	"io"
	"time"

	"sallyport/workspace/checkpoint/pack"
)

// reader reads files for one worker.
type reader struct {
	walk  *walk
	names names  // buffer of lists
	body  []byte // buffer of files
}

func newReader(w *walk) *reader {
	return &reader{walk: w, names: make(names, 0, 64<<10)}
}

const tries = 3 // at a file that changes while it is read

// file reads a file into the store and says why it did not, or 0. What is stored is what the file was at one moment: size,
// times and inode are the same before and after.
func (r *reader) file(e *entry, in *folder, st stat) Reason {
	w := r.walk
	for range tries {
		switch {
		case st.key.size > w.options.MaxFile:
			return e.leaveOut(TooLarge, st.key)
		case w.over():
			return e.leaveOut(TimeLimit, st.key)
		case w.counts.stored.Load() > w.options.MaxBytes-st.key.size:
			return e.leaveOut(OverBudget, st.key)
		}
		file, found, err := in.openFile(e.name)
		if err != nil {
			return r.unread(e, st, err)
		}
		began := time.Now()
		h, took, err := r.store(file, found.key.size)
		after, serr := file.stat()
		file.close()
		w.counts.stored.Add(took)
		if err != nil {
			return r.unread(e, st, err)
		}
		if serr == nil && after.key == found.key && after.mode == found.mode && !h.IsZero() {
			w.counts.read.Add(1)
			e.State, e.key, e.racy = State{Kind: File, Mode: found.mode, Hash: h}, found.key, found.key.racy(began)
			return 0
		}
		st = after
	}
	return e.leaveOut(Changing, key{})
}

// unread tells errors of the file, which leave it out, from those of the store, which end the walk.
func (r *reader) unread(e *entry, st stat, err error) Reason {
	var failed storeError
	switch {
	case errors.As(err, &failed):
		r.walk.fail(failed.error)
		return e.leaveOut(Unreadable, key{})
	case errors.Is(err, errOver):
		return e.leaveOut(TimeLimit, st.key)
	default:
		return e.leaveOut(reasonOf(err), st.key)
	}
}

// storeError is an error that is not the file's.
type storeError struct{ error }

var errOver = errors.New("time is over")

// store stores an open file's content. The zero Hash says that it had another size.
func (r *reader) store(file contents, size int64) (Hash, int64, error) {
	if size >= pack.ChunkSize {
		from := &watched{file: file, over: r.walk.over, left: size + 1}
		h, n, took, err := r.walk.store.objects.PutStream(from, Hash{}, r.walk.compress())
		switch {
		case from.err != nil:
			return Hash{}, took, from.err
		case err != nil:
			return Hash{}, took, storeError{err}
		case n != size:
			return Hash{}, took, nil
		}
		return h, took, nil
	}
	if r.body == nil {
		r.body = make([]byte, pack.ChunkSize)
	}
	n, err := io.ReadAtLeast(file, r.body[:size+1], max(1, int(size))) // there was room for more
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Hash{}, 0, err
	}
	if int64(n) != size {
		return Hash{}, 0, nil
	}
	h, took, err := r.walk.store.objects.Put(r.body[:n], r.walk.compress())
	if err != nil {
		return Hash{}, took, storeError{err}
	}
	return h, took, nil
}

// watched is a file of which no more is read than there was, and nothing after the time is over.
type watched struct {
	file contents
	over func() bool
	left int64
	err  error
}

func (f *watched) Read(p []byte) (int, error) {
	if f.over() {
		f.err = errOver
		return 0, f.err
	}
	if f.left <= 0 {
		return 0, io.EOF
	}
	n, err := f.file.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// link reads where a link points to, and says why it did not, or 0.
func (r *reader) link(e *entry, in *folder, st stat) Reason {
	began := time.Now()
	target, err := in.readlink(e.name)
	if err != nil {
		return e.leaveOut(reasonOf(err), key{})
	}
	h, took, err := r.walk.store.objects.Put([]byte(target), false)
	if err != nil {
		r.walk.fail(err)
		return e.leaveOut(Unreadable, key{})
	}
	r.walk.counts.stored.Add(took)
	e.State, e.key, e.racy = State{Kind: Link, Hash: h}, st.key, st.key.racy(began)
	return 0
}
