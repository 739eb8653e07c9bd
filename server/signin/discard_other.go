//go:build unix && !linux

package signin

// discard does nothing here.
func discard(int) {}
