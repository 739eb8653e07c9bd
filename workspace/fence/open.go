package fence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"sallyport/workspace/text"
)

// maxTries bounds how often an access starts anew because the path changed under it.
const maxTries = 200

// OpenRead opens a file for reading and judges what was opened: it is a regular file, and where the system says that it
// stands no fence refuses it. It never blocks on a fifo or device.
//
// Errors: *Refusal, *SpecialError, fs.ErrNotExist, or the system's. The caller closes the file.
func (p *Policy) OpenRead(path string) (*os.File, error) {
	for range maxTries {
		f, err := p.openRead(path)
		if !errors.Is(err, errMoved) {
			return f, err
		}
	}
	return nil, fmt.Errorf("reading %s: %w", text.Visible(path), errMoved)
}

func (p *Policy) openRead(path string) (*os.File, error) {
	pl, err := p.judge(Read, path)
	if err != nil {
		return nil, err
	}
	if !pl.exists() {
		return nil, &fs.PathError{Op: "reading", Path: text.Visible(path), Err: fs.ErrNotExist}
	}
	// Not even opened: opening some devices does something.
	if t := TypeName(pl.nodes[len(pl.nodes)-1].Mode()); t != "" {
		return nil, fmt.Errorf("reading: %w", &SpecialError{path, t})
	}
	resolved := native().join(pl.vol, pl.comps)
	f, err := os.OpenFile(resolved, openFlags, 0)
	if isLinkError(err) || errors.Is(err, fs.ErrNotExist) {
		return nil, errMoved
	}
	if err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	if err := p.judgeHandle(f, path, resolved); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// judgeHandle applies the fences to where an open file really is.
func (p *Policy) judgeHandle(f *os.File, path, resolved string) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	if t := TypeName(info.Mode()); t != "" {
		return fmt.Errorf("reading: %w", &SpecialError{path, t})
	}
	if isProcess(f) {
		return p.refuse(Read, path, nil, processVerdict())
	}
	real, err := handlePath(f)
	if err != nil {
		return fmt.Errorf("asking where %s is: %w", text.Visible(path), err)
	}
	if real == resolved { // which was judged
		return nil
	}
	at, why := native().parse(real)
	if why != "" {
		return errMoved
	}
	pl, err := resolve(at)
	if err != nil || !pl.exists() || !os.SameFile(pl.nodes[len(pl.nodes)-1], info) {
		return errMoved // renamed or replaced between the two looks
	}
	if v, refused := p.denied(Read, at, pl, p.allClosed()); refused {
		return p.refuse(Read, path, nil, v)
	}
	return nil
}
