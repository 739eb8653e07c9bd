package answers

import (
	"io/fs"
	"os"
	"sync"
	"time"

	"sallyport/workspace/disk"
)

// Current is the answers of one project as they are now, also when another process
// changes them: their file is looked at each time and read when it is another one.
// Safe for concurrent use.
type Current[T any] struct {
	Store   Store
	Project string
	Make    func([]Answer) (T, error) // the list is its own

	mu    sync.Mutex
	ready bool
	seen  fs.FileInfo // nil: there was no file
	ends  time.Time   // when the first of them ends; zero: none does
	made  T
	err   error
}

// Get is what Make made of the answers of now. An error is its, or says that they
// cannot be read.
func (c *Current[T]) Get() (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Lstat(c.Store.File(c.Project))
	if err != nil {
		info = nil // read tells what is wrong with it
	}
	if c.ready && c.err == nil && disk.Unchanged(c.seen, info) && (c.ends.IsZero() || time.Now().Before(c.ends)) {
		return c.made, nil
	}
	var all []Answer
	all, c.seen, c.err = c.Store.read(c.Project)
	c.ready, c.ends = true, time.Time{}
	for _, a := range all {
		if !a.Until.IsZero() && (c.ends.IsZero() || a.Until.Before(c.ends)) {
			c.ends = a.Until
		}
	}
	if c.err == nil {
		c.made, c.err = c.Make(all)
	}
	if c.err != nil {
		var none T
		return none, c.err
	}
	return c.made, nil
}
