package pack

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
)

// Replace writes a small file of the store whole: after a crash it is the old one or the new one. Step, if not nil, hears of
// each step.
func Replace(name string, data []byte, step func(string)) error {
	r, err := Begin(name, data, step)
	if err != nil {
		return err
	}
	if err := r.Sync(); err != nil {
		r.Drop()
		return err
	}
	return r.Place()
}

// Replacement is a file that is written beside its place. Exactly one of Place and Drop ends it; Sync comes before Place.
type Replacement struct {
	name string
	temp *os.File
	step func(string)
}

// Begin writes a file beside its place.
func Begin(name string, data []byte, step func(string)) (*Replacement, error) {
	if step == nil {
		step = func(string) {}
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(name), "."+rand.Text()+".tmp"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", name, err)
	}
	r := &Replacement{name, f, step}
	step("temp made")
	if _, err := f.Write(data); err != nil {
		r.Drop()
		return nil, fmt.Errorf("writing %s: %w", name, err)
	}
	step("temp written")
	return r, nil
}

// Sync puts the file's content on the disk.
func (r *Replacement) Sync() error {
	if err := r.temp.Sync(); err != nil {
		return fmt.Errorf("writing %s: %w", r.name, err)
	}
	r.step("temp synced")
	return nil
}

// Place puts the file where it belongs; when it returns without an error, it stays there after a crash.
func (r *Replacement) Place() error {
	err := r.temp.Close()
	if err == nil {
		err = os.Rename(r.temp.Name(), r.name)
	}
	if err != nil {
		_ = os.Remove(r.temp.Name())
		return fmt.Errorf("writing %s: %w", r.name, err)
	}
	r.step("renamed")
	return syncFolder(filepath.Dir(r.name))
}

// Drop removes the file.
func (r *Replacement) Drop() {
	_ = r.temp.Close()
	_ = os.Remove(r.temp.Name())
}
