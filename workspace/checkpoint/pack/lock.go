package pack

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Lock takes the lock of a store's folder, shared or alone, and waits for it as long as ctx lasts. It is the process's only
// as long as the process lives. Two locks of one process exclude each other as those of two processes do.
func Lock(ctx context.Context, name string, alone bool) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening lock: %w", err)
	}
	const longest = 50 * time.Millisecond
	for wait := time.Millisecond; ; wait = min(2*wait, longest) {
		got, err := tryLock(f, alone)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("locking %s: %w", name, err)
		}
		if got {
			return func() { f.Close() }, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			f.Close()
			return nil, fmt.Errorf("waiting for lock %s: %w", name, context.Cause(ctx))
		case <-timer.C:
		}
	}
}
