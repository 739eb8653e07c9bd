package pack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Commit puts on the disk what was stored so far, and meanwhile does what with says, which is another sync: as a system does several
// at once in the time of one. With may be nil. When it returns without an error, all is there also after a crash.
//
// An error of a sync may mean that the system has dropped what it was to write. So what was not yet on the disk is not there any
// more, see Generation, and the next Put begins another pack.
func (o *Objects) Commit(with func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if with == nil {
		with = func() error { return nil }
	}
	w := o.current
	if w == nil || len(w.pending) == 0 {
		return errors.Join(with(), o.syncOthersLocked())
	}
	o.step("bodies written")
	batch := batch{records: w.pending}
	if w.end-w.synced > maxUnsynced {
		if err := w.file.body.Sync(); err != nil {
			return o.abandonLocked(fmt.Errorf("syncing pack: %w", err))
		}
		o.step("bodies synced")
		batch.synced = true
	} else if err := batch.sum(w.file.body); err != nil {
		return o.abandonLocked(err)
	}
	if err := o.writeIndex(w, batch.encode()); err != nil {
		return err // the next Commit begins again at the same place
	}
	var wg sync.WaitGroup
	var errs [4]error
	wg.Go(func() { errs[0] = w.index.Sync() })
	if !batch.synced {
		wg.Go(func() { errs[1] = w.file.body.Sync() })
	}
	if !w.lasts {
		wg.Go(func() { errs[2] = syncFolder(o.dir) })
	}
	wg.Go(func() { errs[3] = o.syncOthersLocked() })
	also := with()
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return o.abandonLocked(fmt.Errorf("syncing pack: %w", err))
	}
	w.pending, w.synced, w.indexSynced, w.lasts = nil, w.end, w.indexEnd, true
	return also
}

// maxUnsynced is the most bytes of bodies that are put on the disk together with their records. Who finds such a batch at the end of
// an index after a crash has to read all of them.
const maxUnsynced = 1 << 20

func (o *Objects) writeIndex(w *writer, out []byte) error {
	half := len(out) / 2 // two writes, so that a crash test finds a torn index
	if _, err := w.index.WriteAt(out[:half], w.indexEnd); err != nil {
		return fmt.Errorf("writing index: %w", err)
	}
	o.step("half of the index written")
	if _, err := w.index.WriteAt(out[half:], w.indexEnd+int64(half)); err != nil {
		return fmt.Errorf("writing index: %w", err)
	}
	w.indexEnd += int64(len(out))
	o.step("index written")
	return nil
}

// abandonLocked gives up the pack that this process writes.
func (o *Objects) abandonLocked(err error) error {
	w := o.current
	for _, r := range w.pending {
		if o.at[r.id].pack == w.file {
			delete(o.at, r.id)
		}
	}
	o.failures++
	o.current = nil
	return errors.Join(err, w.index.Truncate(w.indexSynced), w.index.Close())
}

// syncOthersLocked puts on the disk what other processes wrote just now and have perhaps not synced yet: this one is about to
// refer to it.
func (o *Objects) syncOthersLocked() error {
	for _, f := range o.packs {
		if !f.fresh {
			continue
		}
		f.fresh = false
		err := f.body.Sync()
		index, oerr := os.Open(filepath.Join(o.dir, f.name+".idx"))
		if oerr == nil {
			err = errors.Join(err, index.Sync(), index.Close())
		}
		if err = errors.Join(err, oerr); err != nil {
			return fmt.Errorf("syncing the pack of another process: %w", err)
		}
	}
	return nil
}

// isNew says whether a file was written so short a time ago that the system may not have put it on the disk by itself.
func isNew(f *os.File) bool {
	const long = 5 * time.Minute
	info, err := f.Stat()
	return err != nil || time.Since(info.ModTime()).Abs() < long
}
