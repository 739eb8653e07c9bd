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
	if step == nil {
		step = func(string) {}
	}
	temp := filepath.Join(filepath.Dir(name), "."+rand.Text()+".tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	step("temp made")
	_, err = f.Write(data)
	step("temp written")
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		step("temp synced")
		err = os.Rename(temp, name)
	}
	if err != nil {
		_ = os.Remove(temp)
		return fmt.Errorf("writing %s: %w", name, err)
	}
	step("renamed")
	return syncFolder(filepath.Dir(name))
}
