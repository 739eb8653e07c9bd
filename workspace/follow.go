package workspace

import (
	"slices"
	"strings"

	"sallyport/workspace/text"
)

// Follow gives a channel that holds a word when anything was opened, changed, saved or
// closed since it was last read. The caller calls stop when it reads no more.
func (d *Documents) Follow() (news <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.followers = append(d.followers, c)
	return c, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.followers = slices.DeleteFunc(d.followers, func(other chan struct{}) bool { return other == c })
	}
}

// tellLocked tells those who follow.
func (d *Documents) tellLocked() {
	for _, c := range d.followers {
		select {
		case c <- struct{}{}:
		default: // it was told already
		}
	}
}

// Paths gives the paths of the open documents that have one, sorted. The disk is not asked.
func (d *Documents) Paths() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []string
	for _, e := range d.open {
		if e.path != "" {
			list = append(list, e.path)
		}
	}
	slices.Sort(list)
	return list
}

// taking is what an edit is about to make of a document.
type taking struct {
	result       string // hash of the text that the document is to have
	loaded, disk string
}

// TakesIn notes that a document is about to have the text result, which holds disk, the text
// of its file, in place of what it was loaded from: once it is announced, that counts as
// loaded, whatever else is asked before TookIn is called. The caller calls end when the edit
// was made or not.
func (d *Documents) TakesIn(path, loaded, disk, result string) (end func()) {
	e := d.find(path)
	if e == nil {
		return func() {}
	}
	t := &taking{text.Hash(result), loaded, disk}
	d.mu.Lock()
	defer d.mu.Unlock()
	e.taking = t
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if e.taking == t {
			e.taking = nil
		}
	}
}

// TookIn notes that a document holds the disk's text beside what is unsaved, as if it had
// been loaded from that. It does nothing where the document was saved or loaded since loaded.
func (d *Documents) TookIn(path, loaded, disk string) {
	e := d.find(path)
	if e == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e.tookIn(loaded, disk)
}

// tookIn is TookIn. Documents.mu is held.
func (e *entry) tookIn(loaded, disk string) {
	if strings.TrimPrefix(e.saved.text, mark) == loaded {
		e.saved = saved{text: disk, hash: text.Hash(disk)}
	}
}
