package turns

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
)

// line is one line of a journal. One of its fields is set, or one of note's.
type line struct {
	Begun   *begun   `json:"begun,omitzero"`   // the first line
	Covered *covered `json:"covered,omitzero"` // the checkpoint before the turn; the last such line counts
	Undoing *trace   `json:"undoing,omitzero"` // what an undo is about to do
	Had     []string `json:"had,omitzero"`     // checkpoints that there were before an undo stored what it overwrites
	Ended   *ended   `json:"ended,omitzero"`   // all is done but the receipt
	note
}

// begun says which record the journal is of.
type begun struct {
	receipt.Head
	Takes   string       `json:"takes,omitzero"` // the very record that an undo takes back
	Roots   [][]byte     `json:"roots"`          // all folders, the session's first: paths are bytes
	Started time.Time    `json:"started"`
	Held    receipt.Held `json:"held"`
	Limits  limits       `json:"limits,omitzero"`
	With    []string     `json:"with,omitzero"` // turns that ran on the same folders when it began
	// Placeholders as Start has them: paths are bytes.
	Placeholders [][]byte `json:"placeholders,omitzero"`
}

func (b *begun) project() project { return projectOf(b.Roots) }

// limits are the options of the turn's checkpoints.
type limits struct {
	LeaveOut []string                 `json:"leaveOut,omitzero"`
	MaxFile  int64                    `json:"maxFile,omitzero"`
	MaxBytes int64                    `json:"maxBytes,omitzero"`
	Limit    int64                    `json:"limit,omitzero"` // ns
	Ignored  checkpoint.IgnoredPolicy `json:"ignored,omitzero"`
	Wide     bool                     `json:"wide,omitzero"`
}

func limitsOf(o checkpoint.Options) limits {
	return limits{o.LeaveOut, o.MaxFile, o.MaxBytes, int64(o.Limit), o.Ignored, o.Wide}
}

func (l limits) options() checkpoint.Options {
	return checkpoint.Options{
		LeaveOut: l.LeaveOut, MaxFile: l.MaxFile, MaxBytes: l.MaxBytes, Limit: time.Duration(l.Limit), Ignored: l.Ignored, Wide: l.Wide,
	}
}

// covered is what can be taken back.
type covered struct {
	Before string `json:"before,omitzero"`
	None   string `json:"none,omitzero"` // why there is no checkpoint
	Files  int64  `json:"files,omitzero"`
}

// ended is what only the end of a turn knows.
type ended struct {
	Time     time.Time         `json:"time"`
	End      receipt.End       `json:"end"`
	Tokens   *receipt.Tokens   `json:"tokens,omitzero"`
	Verifier []receipt.Verdict `json:"verifier,omitzero"`
}

// The files of a running record, beside each other.
const (
	journalName = ".journal"
	lockName    = ".lock"   // held as long as the process lives
	withName    = ".with"   // ids of turns that began meanwhile, one a line
	endingName  = ".ending" // another process ends it
)

const (
	maxJournal = 64 << 20  // bytes; what happens after is not written, and so lost if the process dies
	maxPlan    = 256 << 20 // bytes of the line that says what an undo is about to do
)

// journal is the journal of a record of this process.
type journal struct {
	base   string // path without suffix
	step   func(string)
	unlock func()

	mu   sync.Mutex
	file *os.File // nil when it is over
	size int64
	torn bool // the last write failed, maybe within a line
}

// openJournal makes the files of a journal. The caller is alone (see Store.enter).
func openJournal(base string, first *begun, step func(string), lock func() (func(), error)) (*journal, error) {
	unlock, err := lock()
	if err != nil {
		return nil, err
	}
	step("journal locked")
	f, err := os.OpenFile(base+journalName, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		unlock()
		return nil, fmt.Errorf("making journal: %w", err)
	}
	step("journal made")
	j := &journal{base: base, step: step, unlock: unlock, file: f}
	if err := j.write(&line{Begun: first}); err != nil {
		j.remove()
		return nil, err
	}
	return j, nil
}

// write adds a line. Lines above the bound are dropped without an error. One that fails after another is no news.
func (j *journal) write(l *line) error {
	data, err := json.Marshal(l, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("writing journal: %w", err)
	}
	return j.append(append(data, '\n'))
}

// beat is a sign of life: the time of the file is about the last moment that the process lived.
func (j *journal) beat() { _ = j.append([]byte("\n")) }

func (j *journal) append(data []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil || j.size > maxJournal || len(data) > maxPlan {
		return nil
	}
	if j.torn {
		data = append([]byte("\n"), data...)
	}
	j.step("journal line")
	n, err := j.file.Write(data)
	j.size += int64(n)
	again := j.torn
	j.torn = err != nil
	if err != nil && !again {
		return fmt.Errorf("writing journal: %w", err)
	}
	j.step("journal line written")
	return nil
}

// sync makes the lines last.
func (j *journal) sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return j.file.Sync()
}

// remove ends the journal: nothing is left to be done.
func (j *journal) remove() {
	j.close(true)
}

// leave ends it so that another process, or this one, ends the record as after a crash.
func (j *journal) leave() { j.close(false) }

func (j *journal) close(remove bool) {
	j.mu.Lock()
	file := j.file
	j.file = nil
	j.mu.Unlock()
	if file == nil {
		return
	}
	_ = file.Close()
	if remove {
		removeJournal(j.base, j.step)
	}
	j.unlock()
}

// removeJournal removes the files of a record, the journal first. The caller has its lock.
func removeJournal(base string, step func(string)) {
	step("journal goes")
	for _, suffix := range []string{journalName, withName, endingName, lockName} {
		_ = os.Remove(base + suffix)
	}
	step("journal gone")
}

// recorded is what a journal says.
type recorded struct {
	base string // path without suffix
	begun
	covered
	undoing *trace
	had     []string
	ended   *ended
	account account
	alive   time.Time // the last moment that its process is known to have lived
}

// errNoBegin says that a journal has not one whole line: its turn never began.
var errNoBegin = errors.New("the journal has no beginning")

// readJournal reads a journal, whose end may be torn. What it does not understand it passes by.
func readJournal(base string) (*recorded, error) {
	f, err := os.Open(base + journalName)
	if err != nil {
		return nil, fmt.Errorf("reading journal: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading journal: %w", err)
	}
	r := &recorded{base: base, alive: info.ModTime()}
	first := true
	err = readLines(f, func(data []byte) bool {
		var l line
		if err := json.Unmarshal(data, &l); err != nil {
			return !first // what does not begin so is none
		}
		if first && l.Begun == nil {
			return false
		}
		first = false
		r.take(&l)
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("reading journal: %w", err)
	}
	if first || r.Turn != filepath.Base(base) || !absoluteRoots(r.Roots) {
		return nil, errNoBegin
	}
	return r, nil
}

func (r *recorded) take(l *line) {
	switch {
	case l.Begun != nil:
		r.begun = *l.Begun
	case l.Covered != nil:
		r.covered = *l.Covered
	case l.Undoing != nil:
		r.undoing = l.Undoing
	case l.Had != nil:
		r.had = l.Had
	case l.Ended != nil:
		r.ended = l.Ended
	default:
		r.account.add(l.note, l.note.subject())
	}
}

// readBegun reads the first line alone.
func readBegun(base string) (*begun, error) {
	f, err := os.Open(base + journalName)
	if err != nil {
		return nil, fmt.Errorf("reading journal: %w", err)
	}
	defer f.Close()
	var l line
	err = readLines(f, func(data []byte) bool {
		if json.Unmarshal(data, &l) != nil {
			l = line{}
		}
		return false
	})
	if err != nil {
		return nil, fmt.Errorf("reading journal: %w", err)
	}
	if l.Begun == nil || l.Begun.Turn != filepath.Base(base) || !absoluteRoots(l.Begun.Roots) {
		return nil, errNoBegin
	}
	return l.Begun, nil
}

// readLines calls each with every whole line that is not empty until it says false. A line that is too long is passed by.
func readLines(r io.Reader, each func(data []byte) bool) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	skip := false
	for {
		part, err := in.ReadSlice('\n')
		skip = skip || len(long)+len(part) > maxPlan
		if !skip {
			long = append(long, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return nil // without a newline it is torn
		case err != nil:
			return err
		}
		data := bytes.TrimSpace(long)
		if !skip && len(data) > 0 && !each(data) {
			return nil
		}
		long, skip = long[:0], false
	}
}
