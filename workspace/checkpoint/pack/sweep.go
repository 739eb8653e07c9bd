package pack

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// small is the size below which packs are put together.
const small = 4 << 20

// Sweep removes objects that are not live: all, if the packs would take more than most bytes otherwise, or those of packs in which
// they are the greater part. The caller holds the lock alone. A crash leaves all live objects in place.
func (o *Objects) Sweep(live func(ID) bool, most int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	generation := rand.Text()
	if err := Replace(filepath.Join(o.dir, "generation"), []byte(generation), o.step); err != nil {
		return err
	}
	_ = o.forgetLocked()
	o.generation = generation
	if err := o.loadLocked(); err != nil {
		return err
	}
	kept := map[*file]int64{}
	for id, p := range o.at {
		if live(id) {
			kept[p.pack] += p.stored
		}
	}
	gone, err := o.chooseLocked(kept, most)
	if err != nil {
		return err
	}
	if err := o.moveLocked(gone, live); err != nil {
		return err
	}
	if err := o.removeLocked(gone); err != nil {
		return err
	}
	_ = o.forgetLocked()
	return o.loadLocked()
}

// chooseLocked says which packs go; kept are the live bytes of each.
func (o *Objects) chooseLocked(kept map[*file]int64, most int64) (map[*file]bool, error) {
	gone := map[*file]bool{}
	var bytes int64
	for _, f := range o.packs {
		info, err := f.body.Stat()
		if err != nil {
			return nil, err
		}
		gone[f] = kept[f] < info.Size()/2 || kept[f] < info.Size() && info.Size() < small || kept[f] == 0
		if gone[f] {
			bytes += kept[f]
		} else {
			bytes += info.Size()
		}
	}
	for _, f := range o.packs {
		if info, err := f.body.Stat(); err == nil && bytes > most && kept[f] < info.Size() {
			gone[f] = true
		}
	}
	o.mergeSmall(gone)
	return gone, nil
}

// mergeSmall adds small packs to what goes when there are many.
func (o *Objects) mergeSmall(gone map[*file]bool) {
	const many = 16
	var list []*file
	for _, f := range o.packs {
		if info, err := f.body.Stat(); err == nil && info.Size() < small {
			list = append(list, f)
		}
	}
	if len(list) >= many {
		for _, f := range list {
			gone[f] = true
		}
	}
}

// moveLocked writes the live objects of packs that go into a new one.
func (o *Objects) moveLocked(gone map[*file]bool, live func(ID) bool) error {
	var moves []record
	for id, p := range o.at {
		if gone[p.pack] && live(id) {
			moves = append(moves, record{id, p})
		}
	}
	o.mu.Unlock() // write and Commit lock for themselves; the sweep is alone
	defer o.mu.Lock()
	for _, r := range moves {
		stored, err := r.read()
		if err != nil {
			return fmt.Errorf("moving %x: %w", r.id, err)
		}
		codec := r.codec
		if codec == codecRaw {
			if packed := deflate(stored); len(packed) < len(stored) {
				stored, codec = packed, codecFlate
			}
		}
		if err := o.write(r.id, stored, r.size, codec); err != nil {
			return err
		}
	}
	return o.Commit(nil)
}

// removeLocked removes packs, and bodies that have no index any more.
func (o *Objects) removeLocked(gone map[*file]bool) error {
	for f := range gone {
		if !gone[f] {
			continue
		}
		_ = f.body.Close()
		delete(o.packs, f.name)
		o.step("index goes")
		if err := os.Remove(filepath.Join(o.dir, f.name+".idx")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // open in another process on Windows: the next sweep
		}
		o.step("pack goes")
		_ = os.Remove(filepath.Join(o.dir, f.name+".pack"))
	}
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, isPack := strings.CutSuffix(e.Name(), ".pack")
		if isPack {
			if _, err := os.Stat(filepath.Join(o.dir, name+".idx")); errors.Is(err, fs.ErrNotExist) {
				_ = os.Remove(filepath.Join(o.dir, e.Name()))
			}
		}
		if strings.HasSuffix(e.Name(), ".tmp") {
			_ = os.Remove(filepath.Join(o.dir, e.Name()))
		}
	}
	return syncFolder(o.dir)
}

// Bytes is what the packs take on the disk.
func (o *Objects) Bytes() (int64, error) {
	entries, err := os.ReadDir(o.dir)
	if err != nil {
		return 0, err
	}
	var n int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n, nil
}
