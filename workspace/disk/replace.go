package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"sallyport/workspace/fence"
)

// replacement puts data where target is.
type replacement struct {
	target *fence.Target
	path   string // as asked for, for messages
	data   string // the bytes for the disk
	old    *old   // nil: a new file
}

// errInPlace means that the file cannot be replaced but might be written in place.
var errInPlace = errors.New("cannot be replaced")

// run writes a temporary file beside the target and renames it over it, or falls back to writing in place.
func (r *replacement) run() error {
	err := r.replace()
	if errors.Is(err, errInPlace) && r.old != nil {
		return r.inPlace(err)
	}
	return err
}

func (r *replacement) replace() (err error) {
	temp, name, err := createTemp(r.target.Dir, r.mode())
	if err != nil {
		return r.failed("making a temporary file for", err)
	}
	defer func() {
		temp.Close()
		if err != nil {
			r.target.Dir.Remove(name) // nothing to do about a failure: the sweep finds it
		}
	}()
	if _, err := io.WriteString(temp, r.data); err != nil {
		return fmt.Errorf("writing %s: %w", r.path, err)
	}
	if r.old != nil {
		if err := KeepOwner(temp, r.old.info); err != nil {
			return r.failed("keeping the owner of", err)
		}
		if err := temp.Chmod(r.mode()); err != nil { // after the owner: changing that clears bits
			return r.failed("keeping the mode of", err)
		}
		if err := KeepAttributes(temp, r.old.file); err != nil {
			return r.failed("keeping the attributes of", err)
		}
	}
	if err := temp.Sync(); err != nil {
		return fmt.Errorf("writing %s: %w", r.path, err)
	}
	if !r.current() {
		return errMoved
	}
	if err := rename(temp, r.target.Dir, name, r.target.Name); err != nil {
		return r.failed("replacing", err)
	}
	return nil
}

// mode is the mode of the new file: that of the old one without setuid and setgid, or what the umask leaves.
func (r *replacement) mode() fs.FileMode {
	if r.old == nil {
		return 0o666
	}
	return r.old.info.Mode() & (fs.ModePerm | fs.ModeSticky)
}

// current reports whether the target is still what was looked at.
func (r *replacement) current() bool {
	if r.old != nil {
		return r.old.unchanged(r.target)
	}
	_, err := r.target.Dir.Lstat(r.target.Name)
	return errors.Is(err, fs.ErrNotExist)
}

// failed words an error; those that writing in place may overcome are errInPlace.
func (r *replacement) failed(doing string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved // the folder or our file was removed meanwhile
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV) {
		return fmt.Errorf("%s %s: %w (%w)", doing, r.path, errInPlace, err)
	}
	return fmt.Errorf("%s %s: %w", doing, r.path, err)
}

// inPlace overwrites the file through the judged folder. why is said when even that must not be.
func (r *replacement) inPlace(why error) error {
	f, err := r.target.Dir.OpenFile(r.target.Name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("writing %s in place: %w", r.path, errors.Join(err, why))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("writing %s in place: %w", r.path, err)
	}
	if !os.SameFile(info, r.old.info) || !r.old.unchanged(r.target) {
		return errMoved
	}
	if n := links(info); n != 1 {
		return fmt.Errorf("writing %s: it has %d names (hard links) and is not written in place: %w", r.path, n, why)
	}
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("writing %s in place: %w", r.path, err)
	}
	if _, err := io.WriteString(f, r.data); err != nil {
		return fmt.Errorf("writing %s in place: %w", r.path, err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("writing %s in place: %w", r.path, err)
	}
	return nil
}
