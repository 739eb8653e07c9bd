package receipt

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
)

// Damaged says that a line of a log is not, or no longer, a receipt. What it claims to be is not to be trusted.
type Damaged struct {
	File string // absolute
	Line int    // from 1; 0 when it was read from the end
	Turn string // that the line claims to be of; may be ""
	Seq  int64  // that it claims; may be 0
	Err  error
}

func (d *Damaged) Error() string {
	where := d.File
	if d.Line > 0 {
		where = fmt.Sprintf("%s:%d", d.File, d.Line)
	}
	if d.Turn != "" {
		where += fmt.Sprintf(" (turn %q)", d.Turn)
	}
	return fmt.Sprintf("receipt %s %s", where, d.Err)
}

func (d *Damaged) Unwrap() error { return d.Err }

func (s *shelf) damaged(month string, line int, claimed *Receipt, err error) *Damaged {
	d := &Damaged{File: filepath.Join(s.dir, month), Line: line, Err: err}
	if claimed != nil {
		d.Turn, d.Seq = claimed.Turn, claimed.Seq
	}
	return d
}

// Read gives the receipts of a project's folder, oldest first; those of all projects, one after the other, for "". For a line that is
// damaged it gives a *Damaged and goes on; after any other error it ends. A project without a log has no receipts.
func (l *Log) Read(folder string) iter.Seq2[*Receipt, error] {
	return l.each(folder, func(s *shelf, month string, yield func(*Receipt, error) bool) bool {
		f, _, err := s.open(month, os.O_RDONLY)
		if err != nil {
			yield(nil, err)
			return false
		}
		defer f.Close()
		more := true
		err = eachLine(f, func(l line) bool {
			if l.torn {
				return true // its writer died, or is at it
			}
			r, err := l.open()
			if err != nil {
				more = yield(nil, s.damaged(month, l.n, r, err))
			} else {
				more = yield(r, nil)
			}
			return more
		})
		if err != nil {
			yield(nil, err)
			return false
		}
		return more
	}, false)
}

// each goes through the months of the projects, until visit says that it is enough.
func (l *Log) each(folder string, visit func(s *shelf, month string, yield func(*Receipt, error) bool) bool, newest bool) iter.Seq2[*Receipt, error] {
	return func(yield func(*Receipt, error) bool) {
		keys, err := l.keys(folder)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, key := range keys {
			more, err := l.eachMonth(key, newest, func(s *shelf, month string) bool { return visit(s, month, yield) })
			if err != nil {
				yield(nil, fmt.Errorf("reading receipts: %w", err))
				return
			}
			if !more {
				return
			}
		}
	}
}

func (l *Log) eachMonth(key string, newest bool, visit func(s *shelf, month string) bool) (more bool, err error) {
	s, err := l.shelf(key, false)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer s.close()
	months, err := s.months()
	if err != nil {
		return false, err
	}
	for i := range months {
		if newest {
			i = len(months) - 1 - i
		}
		if !visit(s, months[i]) {
			return false, nil
		}
	}
	return true, nil
}

// line is one of a file.
type line struct {
	n    int    // from 1
	data []byte // without its end; valid until the next
	long bool   // longer than maxLine; data is its beginning
	torn bool   // without an end
}

func (l line) open() (*Receipt, error) {
	if l.long {
		return nil, errNoReceipt
	}
	return open(l.data)
}

// eachLine reads line by line, in bounded memory.
func eachLine(r io.Reader, visit func(line) bool) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var buf bytes.Buffer
	for n := 1; ; n++ {
		buf.Reset()
		l := line{n: n}
		for {
			part, err := in.ReadSlice('\n')
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
				return err
			}
			if l.long = l.long || buf.Len()+len(part) > maxLine+1; !l.long {
				buf.Write(part)
			}
			if err == nil {
				break
			}
			if errors.Is(err, io.EOF) {
				if buf.Len() == 0 && !l.long {
					return nil
				}
				l.torn = true
				break
			}
		}
		l.data = bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
		if !visit(l) || l.torn {
			return nil
		}
	}
}

// Find gives the receipt of a turn, the newest if there are several; in all projects for folder "". The error is ErrNotFound when
// there is none, and a *Damaged when the line that claims to be it is damaged.
func (l *Log) Find(folder, turn string) (*Receipt, error) {
	mark, err := json.Marshal(turn, exactOut)
	if err != nil {
		return nil, fmt.Errorf("finding turn: %w", err)
	}
	mark = append([]byte(`"turnId":`), mark...) // lines without it need not be decoded
	found := l.each(folder, func(s *shelf, month string, yield func(*Receipt, error) bool) bool {
		return newestOf(s, month, mark, yield)
	}, true)
	for r, err := range found {
		var d *Damaged
		switch {
		case errors.As(err, &d):
			if d.Turn == turn {
				return nil, err
			}
		case err != nil:
			return nil, err
		case r.Turn == turn:
			return r, nil
		}
	}
	return nil, ErrNotFound
}
