package disk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"unicode/utf8"
)

// bom is the UTF-8 byte order mark.
var bom = []byte("\xEF\xBB\xBF")

// errLong means that a window is longer than may be read.
var errLong = errors.New("window too long")

// survey is what one pass over a file tells. The zero value is ready.
type survey struct {
	hash    hash.Hash // of the text, nil when not wanted
	head    []byte    // the first bytes, at most 4
	bom     bool
	nul     bool
	invalid bool
	lines   countedEnds
	tail    []byte // bytes of a rune that the last chunk cut
}

// countedEnds counts line ends.
type countedEnds struct {
	lf, crlf int64 // crlf of the lf
	cr       bool  // the last byte was CR
}

// uniformCRLF reports that there are line ends and all are CRLF.
func (e countedEnds) uniformCRLF() bool { return e.lf > 0 && e.lf == e.crlf }

func (e *countedEnds) add(chunk []byte) {
	e.lf += int64(bytes.Count(chunk, []byte("\n")))
	e.crlf += int64(bytes.Count(chunk, []byte("\r\n")))
	if e.cr && chunk[0] == '\n' {
		e.crlf++
	}
	e.cr = chunk[len(chunk)-1] == '\r'
}

// add takes the next chunk of the file. The first chunk must hold 4 bytes unless the file is shorter.
func (s *survey) add(chunk []byte) {
	if len(chunk) == 0 {
		return
	}
	body := chunk
	if s.head == nil {
		s.head = bytes.Clone(chunk[:min(4, len(chunk))])
		if s.bom = bytes.HasPrefix(chunk, bom); s.bom {
			body = chunk[len(bom):]
		}
	}
	if s.hash != nil {
		s.hash.Write(body)
	}
	s.lines.add(chunk)
	s.nul = s.nul || bytes.IndexByte(chunk, 0) >= 0
	s.addRunes(chunk)
}

// addRunes validates UTF-8 across chunks.
func (s *survey) addRunes(chunk []byte) {
	if s.invalid {
		return
	}
	for len(s.tail) > 0 && len(chunk) > 0 && !utf8.FullRune(s.tail) {
		s.tail, chunk = append(s.tail, chunk[0]), chunk[1:]
	}
	if len(s.tail) > 0 {
		if !utf8.FullRune(s.tail) {
			return
		}
		if !utf8.Valid(s.tail) {
			s.invalid = true
			return
		}
		s.tail = s.tail[:0]
	}
	cut := len(chunk)
	for back := 1; back <= min(utf8.UTFMax-1, len(chunk)); back++ {
		if c := chunk[len(chunk)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(chunk[len(chunk)-back:]) {
				cut = len(chunk) - back
			}
			break
		}
	}
	s.invalid = !utf8.Valid(chunk[:cut])
	s.tail = append(s.tail, chunk[cut:]...)
}

// notText returns the error for what was seen, nil when it is text so far. It is called at the end of the file or window.
func (s *survey) notText(path string, size int64) error {
	e := &NotTextError{Path: path, Size: size, Encoding: otherEncoding(s.head)}
	if e.Encoding == "" && !s.nul && !s.invalid && len(s.tail) == 0 {
		return nil
	}
	e.Binary = s.nul && e.Encoding == ""
	return e
}

// sum is the hash of the text in the form of text.Hash.
func (s *survey) sum() string { return "sha256:" + hex.EncodeToString(s.hash.Sum(nil)) }

// checkText is the survey of a file that is already in memory, for speed.
func checkText(data []byte, path string, size int64) error {
	e := &NotTextError{Path: path, Size: size, Encoding: otherEncoding(data[:min(4, len(data))])}
	nul := bytes.IndexByte(data, 0) >= 0
	if e.Encoding == "" && !nul && utf8.Valid(data) {
		return nil
	}
	e.Binary = nul && e.Encoding == ""
	return e
}

// otherEncoding names the encoding whose byte order mark a file begins with, unless that is UTF-8.
func otherEncoding(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE, 0, 0}):
		return "UTF-32LE"
	case bytes.HasPrefix(head, []byte{0, 0, 0xFE, 0xFF}):
		return "UTF-32BE"
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		return "UTF-16LE"
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return "UTF-16BE"
	}
	return ""
}

// chunkSize is the buffer of one pass.
const chunkSize = 64 << 10

// buffer is one for a file of the given size.
func buffer(size int64) []byte { return make([]byte, min(chunkSize, max(size, 4)+1)) }

// whole surveys everything that r holds, which is about size bytes.
func (s *survey) whole(r io.Reader, size int64) error {
	s.hash = sha256.New()
	buf := buffer(size)
	for {
		n, err := io.ReadFull(r, buf)
		s.add(buf[:n])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// window surveys r up to the end of the window and returns its offsets; errLong when it is longer than
// w.max.
func (s *survey) window(r io.Reader, size int64, w Window) (start, end int64, err error) {
	limit := w.max()
	skip, take := w.Line-1, w.Limit // line ends that are still to pass
	begun := skip <= 0
	buf := buffer(size)
	for at := int64(0); ; {
		n, err := io.ReadFull(r, buf)
		chunk := buf[:n]
		for used := 0; ; {
			i := bytes.IndexByte(chunk[used:], '\n')
			if i < 0 {
				break
			}
			used += i + 1
			switch {
			case !begun:
				if skip--; skip == 0 {
					begun, start = true, at+int64(used)
				}
			case w.Limit > 0:
				if take--; take == 0 {
					s.add(chunk[:used])
					end = at + int64(used)
					if end-start > limit {
						return 0, 0, errLong
					}
					return start, end, nil
				}
			}
			if begun && w.Limit <= 0 {
				break
			}
		}
		s.add(chunk)
		at += int64(n)
		if begun && at-start > limit {
			return 0, 0, errLong
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			if !begun {
				start = at
			}
			return start, at, nil
		}
		if err != nil {
			return 0, 0, err
		}
	}
}
