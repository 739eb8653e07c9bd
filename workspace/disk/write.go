package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"sallyport/workspace/fence"
	"sallyport/workspace/text"
)

// Written says what a write did. The hashes are of the text before and after, in the form of text.Hash; Before is empty when
// there was no file.
type Written struct {
	Before, After string
	Created       bool
	KeptCRLF      bool  // LF-only content was written with the file's CRLF
	Bytes         int64 // size on disk afterwards
}

// maxTries bounds how often a write starts anew because the file changed under it.
const maxTries = 100

// Write replaces the file at path by content, or makes it, with its missing parents. See the package's decisions for
// what is kept. Two writes to one path at the same moment leave one of the two contents.
//
// Errors: *fence.Refusal, *SpecialError, *NotTextError (the old file), *ReadOnlyError, or the system's. After an error the
// file is as it was, unless it had to be written in place.
func Write(p *fence.Policy, path, content string) (Written, error) {
	if !utf8.ValidString(content) {
		return Written{}, fmt.Errorf("writing %s: the new content is not UTF-8", text.Visible(path))
	}
	for range maxTries {
		target, err := p.Writable(path)
		if err != nil {
			return Written{}, err
		}
		w, err := writeTarget(target, path, content)
		target.Dir.Close()
		if !errors.Is(err, errMoved) {
			return w, err
		}
	}
	return Written{}, fmt.Errorf("writing %s: %w", text.Visible(path), errMoved)
}

// writeTarget is one try.
func writeTarget(target *fence.Target, path, content string) (Written, error) {
	old, err := openOld(target, path)
	if err != nil {
		return Written{}, err
	}
	if old == nil {
		r := replacement{target: target, path: text.Visible(path), data: content}
		return Written{After: text.Hash(withoutBOM(content)), Created: true, Bytes: int64(len(content))}, r.run()
	}
	defer old.file.Close()
	body, kept := old.adapt(content)
	data := body
	if old.bom {
		data = string(bom) + body
	}
	r := replacement{target: target, path: text.Visible(path), data: data, old: old}
	return Written{Before: old.sum(), After: text.Hash(body), KeptCRLF: kept, Bytes: int64(len(data))}, r.run()
}

func withoutBOM(s string) string { return strings.TrimPrefix(s, string(bom)) }

// old is the file that is to be replaced, open for reading.
type old struct {
	survey
	file *os.File
	info fs.FileInfo
}

// openOld opens and surveys the file; nil when there is none.
func openOld(target *fence.Target, path string) (*old, error) {
	info, err := target.Dir.Lstat(target.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("writing %s: %w", text.Visible(path), err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errMoved
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("writing: %w", &SpecialError{Path: path, Type: fence.TypeName(info.Mode())})
	case info.Mode().Perm()&0o222 == 0:
		return nil, &ReadOnlyError{Path: path}
	}
	if err := mayWrite(target); err != nil {
		return nil, &ReadOnlyError{Path: path, Err: err}
	}
	f, err := target.Dir.OpenFile(target.Name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("looking at the old content of %s: %w", text.Visible(path), err)
	}
	o := &old{file: f}
	if err := o.look(path, info); err != nil {
		f.Close()
		return nil, err
	}
	return o, nil
}

// look surveys the open file, which must be the one whose info is given.
func (o *old) look(path string, info fs.FileInfo) (err error) {
	if o.info, err = o.file.Stat(); err != nil {
		return fmt.Errorf("looking at the old content of %s: %w", text.Visible(path), err)
	}
	if !os.SameFile(o.info, info) {
		return errMoved
	}
	if err := o.whole(o.file, o.info.Size()); err != nil {
		return fmt.Errorf("looking at the old content of %s: %w", text.Visible(path), err)
	}
	return o.notText(path, o.info.Size())
}

// adapt is content as it is written over the old file, without byte order mark, and whether CRLF was kept.
func (o *old) adapt(content string) (body string, kept bool) {
	body = withoutBOM(content)
	if o.lines.uniformCRLF() && strings.Contains(body, "\n") && !strings.Contains(body, "\r") {
		return strings.ReplaceAll(body, "\n", "\r\n"), true
	}
	return body, false
}

// unchanged reports whether the file still is as it was surveyed.
func (o *old) unchanged(target *fence.Target) bool {
	now, err := target.Dir.Lstat(target.Name)
	return err == nil && os.SameFile(now, o.info) && now.Size() == o.info.Size() && now.ModTime().Equal(o.info.ModTime())
}
