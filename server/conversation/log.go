package conversation

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"sallyport/workspace/text"
)

// flushDelay is how long text may wait before it is in the file.
const flushDelay = 200 * time.Millisecond

// Log is the document of one session. Its methods are safe for concurrent
// use; a failing disk loses the document, never the turn: the first error is
// kept for Err and nothing more is written.
type Log struct {
	mu    sync.Mutex
	page  page
	calls map[string]*call
	file  *file
	timer *time.Timer
}

// Open makes the document at path, replacing what was there, with a heading.
// The folder must exist. limit is the file's size in bytes at which its oldest
// blocks go; 0 is 4 MiB.
func Open(path, heading string, limit int64) (*Log, error) {
	f, err := create(path, limit)
	if err != nil {
		return nil, fmt.Errorf("making conversation %s: %w", path, err)
	}
	l := &Log{file: f, calls: map[string]*call{}}
	l.page.out = l.writeLocked
	l.timer = time.AfterFunc(flushDelay, func() { _ = l.Flush() })
	l.timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.page.line("# %s", text.Visible(heading))
	return l, l.file.flush()
}

// Path is where the document is.
func (l *Log) Path() string { return l.file.path }

func (l *Log) writeLocked(block bool, s string) {
	idle := l.file.pending() == 0
	l.file.add(block, s)
	if idle {
		l.timer.Reset(flushDelay)
	}
}

// Prompt begins a turn with what the user said.
func (l *Log) Prompt(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.page.line("## Turn of %s", time.Now().Format(time.TimeOnly))
	l.page.say(user, s)
	l.page.end()
}

// Note adds a line of ours: a notice, a settled permission, the end of a turn.
// kind is one bold word; s is foreign only in part, so it stands as quoted
// text after it.
func (l *Log) Note(kind, s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.page.line("**%s** %s", kind, span(s))
}

// Diff shows a change that was asked about.
func (l *Log) Diff(path string, old *string, new string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.diffLocked(item{Path: path, Old: old, New: new})
}

// Item is one line of a list: a name that may be anything, and words of ours.
type Item struct{ Name, Note string }

// maxItems is how long a list is; the rest is counted.
const maxItems = 200

// Items writes a list under a heading of ours; nothing for an empty one.
func (l *Log) Items(heading string, items []Item) {
	if len(items) == 0 {
		return
	}
	var b strings.Builder
	for i, it := range items {
		if i == maxItems {
			fmt.Fprintf(&b, "\n- and %d more", len(items)-i)
			break
		}
		fmt.Fprintf(&b, "\n- %s: %s", span(it.Name), it.Note)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.page.line("**%s**\n%s", heading, b.String())
}

// Patch writes a difference in unified form; nothing for an empty one.
func (l *Log) Patch(unified string) {
	if unified == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.page.fence("diff", unified)
}

// EndTurn ends a turn, in one line, and writes everything out.
func (l *Log) EndTurn(how string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.calls)
	l.page.line("**Turn ended** %s", span(how))
	_ = l.file.flush()
}

// Flush writes out what waits.
func (l *Log) Flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.flush()
}

// Close writes out what waits and closes the file, which stays.
func (l *Log) Close() error {
	l.timer.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.close()
}

// file is a bounded file that grows in blocks.
type file struct {
	path   string
	limit  int64
	f      *os.File
	wait   strings.Builder
	size   int64   // of the file and what waits
	blocks []int64 // offsets at which blocks begin, at least markEvery apart
	err    error
}

// markEvery bounds the offsets that are kept for one file.
const markEvery = 4 << 10

func create(path string, limit int64) (*file, error) {
	if limit <= 0 {
		limit = 4 << 20
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return &file{path: path, limit: limit, f: f}, nil
}

func (f *file) pending() int { return f.wait.Len() }

func (f *file) add(block bool, s string) {
	if f.err != nil {
		return
	}
	if n := len(f.blocks); block && (n == 0 || f.size-f.blocks[n-1] >= markEvery) {
		f.blocks = append(f.blocks, f.size)
	}
	f.wait.WriteString(s)
	f.size += int64(len(s))
	if f.size > f.limit || f.wait.Len() > 64<<10 {
		_ = f.flush()
	}
}

func (f *file) flush() error {
	if f.err == nil && f.wait.Len() > 0 {
		_, f.err = f.f.WriteString(f.wait.String())
		f.wait.Reset()
	}
	if f.err == nil && f.size > f.limit {
		f.err = f.shorten()
	}
	return f.err
}

// shorten drops whole blocks from the start until half of the limit is left.
func (f *file) shorten() error {
	from := f.size
	keep := len(f.blocks)
	for i, at := range f.blocks {
		if f.size-at <= f.limit/2 {
			from, keep = at, i
			break
		}
	}
	tail := make([]byte, f.size-from)
	if _, err := f.f.ReadAt(tail, from); err != nil {
		return err
	}
	head := "(what was said before is no longer kept here)\n\n"
	if err := f.f.Truncate(0); err != nil {
		return err
	}
	if _, err := f.f.WriteAt([]byte(head+string(tail)), 0); err != nil {
		return err
	}
	if _, err := f.f.Seek(0, 2); err != nil {
		return err
	}
	shift := from - int64(len(head))
	f.blocks = f.blocks[keep:]
	for i := range f.blocks {
		f.blocks[i] -= shift
	}
	f.size -= shift
	return nil
}

func (f *file) close() error {
	err := f.flush()
	if cerr := f.f.Close(); err == nil {
		err = cerr
	}
	if f.err == nil {
		f.err = os.ErrClosed
	}
	return err
}
