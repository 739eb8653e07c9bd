//go:build !linux

package sandbox

import (
	"context"
	"os"
)

// start has no backend here that was ever run.
func (l *Launcher) start(_ context.Context, backend Backend, _ Request) (*Fence, error) {
	return nil, &SetupError{Backend: backend, Reason: "there is no fence on this system yet"}
}

// probe finds nothing: the profile for macOS (Profile) has not been run yet.
func probe(context.Context) Found {
	return Found{Best: None, Refused: "fences of the kernel are not ready on this system"}
}

// ownFolder makes no demands where nothing is kept in it.
func ownFolder(dir string) error {
	_, err := os.Stat(dir)
	return err
}
