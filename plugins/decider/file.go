package decider

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-json-experiment/json"
)

// maxJournal is how large a journal grows before it is set aside; the one that
// was set aside before is dropped.
const maxJournal = 2 << 20

// Journal keeps a decider's entries in a file, a line of JSON each, mode 0600.
// Several programs may write to one. The zero value keeps nothing.
type Journal struct {
	mu   sync.Mutex
	path string
	file *os.File
}

// JournalFile is where the journal of a decider is in a folder of journals. An id
// that could be another file's name is an error.
func JournalFile(folder, id string) (string, error) {
	if !validID(id) {
		return "", fmt.Errorf("%q is no id of a decider: write it like dev.example.team-rules", oneLine(id, 128))
	}
	return filepath.Join(folder, id+".jsonl"), nil
}

// OpenJournal opens or makes the journal of a decider.
func OpenJournal(folder, id string) (*Journal, error) {
	path, err := JournalFile(folder, id)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("opening the journal of %s: %w", id, err)
	}
	j := &Journal{path: path}
	if err := j.open(); err != nil {
		return nil, fmt.Errorf("opening the journal of %s: %w", id, err)
	}
	return j, nil
}

func (j *Journal) open() error {
	if info, err := os.Lstat(j.path); err == nil && info.Size() > maxJournal {
		if err := os.Rename(j.path, j.path+".1"); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(j.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	j.file = f
	return nil
}

// Write adds an entry, in one piece.
func (j *Journal) Write(e Entry) error {
	if j == nil || j.path == "" {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("writing an entry of a journal: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return fmt.Errorf("writing to the journal %s: %w", j.path, fs.ErrClosed)
	}
	if info, err := j.file.Stat(); err == nil && info.Size() > maxJournal {
		_ = j.file.Close() // nothing is held back in it
		j.file = nil
		if err := j.open(); err != nil {
			return fmt.Errorf("setting a journal aside: %w", err)
		}
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing to the journal: %w", err)
	}
	return nil
}

// Close closes the file.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return err
}

// ReadJournal calls fn with a decider's entries, oldest first, until it returns
// false. Lines that are no entries are passed over. A decider that has no journal
// is an error that is fs.ErrNotExist.
func ReadJournal(folder, id string, fn func(Entry) bool) error {
	path, err := JournalFile(folder, id)
	if err != nil {
		return err
	}
	found := false
	for _, name := range []string{path + ".1", path} {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading the journal of %s: %w", id, err)
		}
		found = true
		more, err := entries(f, fn)
		_ = f.Close() // only read
		if err != nil {
			return fmt.Errorf("reading the journal of %s: %w", id, err)
		}
		if !more {
			return nil
		}
	}
	if !found {
		return fmt.Errorf("reading the journal of %s: %w", id, fs.ErrNotExist)
	}
	return nil
}

// entries reads lines; what was torn by a crash is passed over.
func entries(r io.Reader, fn func(Entry) bool) (more bool, err error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, MaxLine)
	for s.Scan() {
		var e Entry
		if line := bytes.TrimSpace(s.Bytes()); len(line) == 0 || json.Unmarshal(line, &e) != nil {
			continue
		}
		if !fn(e) {
			return false, nil
		}
	}
	return true, s.Err()
}
