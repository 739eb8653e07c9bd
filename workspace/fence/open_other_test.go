//go:build !linux

package fence

import "os"

// exchange swaps two names, with moments in which one is missing.
func exchange(a, b string) error {
	spare := a + ".spare"
	if err := os.Rename(a, spare); err != nil {
		return err
	}
	if err := os.Rename(b, a); err != nil {
		return err
	}
	return os.Rename(spare, b)
}
