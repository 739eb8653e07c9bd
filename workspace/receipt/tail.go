package receipt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// lineBefore finds the line that ends before end, where a line's end or the end of the file is: the line is [start, end).
func lineBefore(f io.ReaderAt, end int64) (start int64, err error) {
	buf := make([]byte, 4<<10) // most lines are short
	for at := end; at > 0; {
		n := min(int64(len(buf)), at)
		if _, err := f.ReadAt(buf[:n], at-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return at - n + int64(i) + 1, nil
		}
		at -= n
		if len(buf) < 256<<10 {
			buf = make([]byte, 4*len(buf))
		}
	}
	return 0, nil
}

// lineAt reads a line of a file, or says that it is no receipt because it is too long.
func lineAt(f io.ReaderAt, start, end int64) ([]byte, error) {
	if end-start > maxLine {
		return nil, errNoReceipt
	}
	line := make([]byte, end-start)
	if _, err := f.ReadAt(line, start); err != nil {
		return nil, err
	}
	return line, nil
}

// cutTail sets aside what a writer left that died within a line: it is copied to a file of its own first. It gives the size that
// the file has then. Only who holds the lock may call it.
func (s *shelf) cutTail(month string, step func(string)) (int64, error) {
	f, size, err := s.open(month, os.O_RDWR)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	start, err := lineBefore(f, size)
	if err != nil {
		return 0, err
	}
	switch {
	case start == size: // empty, or the last line has its end
		return size, nil
	case size-start > maxLine: // nothing that we began: it stays, as a line that is no receipt
		_, err := f.WriteAt([]byte("\n"), size)
		return size + 1, err
	}
	if err := s.keepTail(strings.TrimSuffix(month, ".jsonl"), io.NewSectionReader(f, start, size-start)); err != nil {
		return 0, fmt.Errorf("setting a torn tail aside: %w", err)
	}
	step("tail kept")
	if err := f.Truncate(start); err != nil {
		return 0, err
	}
	step("tail cut")
	return start, f.Sync()
}

// mostTails is how many torn tails are kept; later ones go over the last.
const mostTails = 100

func (s *shelf) keepTail(month string, tail io.Reader) error {
	var f *os.File
	for i := 1; f == nil; i++ {
		flags := os.O_CREATE | os.O_WRONLY | os.O_EXCL
		if i == mostTails {
			flags = os.O_CREATE | os.O_WRONLY | os.O_TRUNC
		}
		var err error
		f, _, err = s.open(fmt.Sprintf("%s.torn-%d", month, i), flags)
		if err != nil && (i == mostTails || !errors.Is(err, fs.ErrExist)) {
			return err
		}
	}
	_, err := io.Copy(f, tail)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
