package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"
	"unsafe"

	"sallyport/workspace/fence"
	"sallyport/workspace/text"
)

// MaxRead is how many bytes of text one read may return when Window.Max does not say otherwise.
const MaxRead = 64 << 20

// Window says which part of a file is read.
type Window struct {
	Line  int   // first line, from 1; 0 means the same as 1
	Limit int   // number of lines; 0 means all
	Max   int64 // most bytes of text to return; 0 means MaxRead
}

func (w Window) whole() bool { return w.Line <= 1 && w.Limit <= 0 }

func (w Window) max() int64 {
	if w.Max > 0 {
		return w.Max
	}
	return MaxRead
}

// File is what was read.
type File struct {
	Text    string // without byte order mark; the window's part
	Hash    string // of the text, in the form of text.Hash; empty for windows
	Bytes   int64  // size of the whole file on disk
	ModTime time.Time
	BOM     bool        // the file begins with a UTF-8 byte order mark
	Ending  text.Ending // of Text
}

// Read reads a text file. Lines end at "\n" only and keep their ending; past the end the text is empty.
//
// Errors: *fence.Refusal, fs.ErrNotExist, *SpecialError, *NotTextError, *TooLargeError, or the system's. A window
// is judged as text as far as it had to be scanned.
func Read(p *fence.Policy, path string, w Window) (File, error) {
	f, err := p.OpenRead(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return File{}, fmt.Errorf("reading: %w", err)
	}
	file := File{Bytes: info.Size(), ModTime: info.ModTime()}
	if w.whole() {
		err = file.readWhole(f, path, w)
	} else {
		err = file.readWindow(f, path, w)
	}
	if err != nil {
		return File{}, err
	}
	return file, nil
}

func (file *File) readWhole(f *os.File, path string, w Window) error {
	limit := w.max()
	tooLarge := &TooLargeError{Path: path, Size: file.Bytes, Limit: limit}
	if file.Bytes > limit {
		return tooLarge
	}
	// One byte more than the size tells the end of the file without growing.
	data, err := readAll(f, file.Bytes+1, limit+1)
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	if int64(len(data)) > limit { // it grew
		tooLarge.Size = int64(len(data))
		return tooLarge
	}
	file.Bytes = int64(len(data))
	if err := checkText(data, path, file.Bytes); err != nil {
		return err
	}
	file.setText(data, true)
	file.Hash = text.Hash(file.Text)
	return nil
}

// readAll reads until the end, or until most bytes are read; guess is the size of the first buffer.
func readAll(r io.Reader, guess, most int64) ([]byte, error) {
	data := make([]byte, 0, guess)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		case int64(len(data)) >= most:
			return data, nil
		case len(data) == cap(data):
			data = append(data, make([]byte, min(int64(len(data))+512, most-int64(len(data))))...)[:len(data)]
		}
	}
}

// setText takes over data, which must not be changed afterwards: a text of many megabytes is not copied.
func (file *File) setText(data []byte, fromStart bool) {
	if fromStart && bytes.HasPrefix(data, bom) {
		file.BOM = true
		data = data[len(bom):]
	}
	file.Text = unsafe.String(unsafe.SliceData(data), len(data))
	file.Ending = text.EndingOf(file.Text)
}

// readWindow finds where the window begins and ends in one pass, then reads just that.
func (file *File) readWindow(f *os.File, path string, w Window) error {
	s := survey{}
	start, end, err := s.window(f, file.Bytes, w)
	switch {
	case errors.Is(err, errLong):
		return &TooLargeError{Path: path, Size: file.Bytes, Limit: w.max(), Window: true}
	case err != nil:
		return fmt.Errorf("reading: %w", err)
	}
	if err := s.notText(path, file.Bytes); err != nil {
		return err
	}
	data := make([]byte, end-start)
	n, err := f.ReadAt(data, start)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading: %w", err)
	}
	data = data[:n]
	if start > 0 && !utf8.Valid(data) { // rewritten in place since the scan
		return &NotTextError{Path: path, Size: file.Bytes}
	}
	file.BOM = s.bom
	file.setText(data, start == 0)
	return nil
}
