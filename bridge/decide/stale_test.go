package decide_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sallyport/bridge/decide"
	"sallyport/plugins/decider"
	"sallyport/workspace/config"
)

// TestStartedAnew: what is another on the disk than when it was started is started
// anew by the next Sync (P043), and nothing else is.
func TestStartedAnew(t *testing.T) {
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name   string
		change func(dir string)
		anew   bool
	}{
		{"the manifest", func(dir string) {
			write(filepath.Join(dir, decider.ManifestName), `{"id":"dev.test.a","version":"2","command":["says-allow","rules.txt"],"permissions":{"decide":true}}`)
		}, true},
		{"a file of its command", func(dir string) { write(filepath.Join(dir, "rules.txt"), "changed") }, true},
		{"a file of its own", func(dir string) { write(filepath.Join(dir, "other.txt"), "new") }, false},
		{"a file that is being replaced", func(dir string) { _ = os.Remove(filepath.Join(dir, "rules.txt")) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &decide.Pool{Starter: func() *decide.Starter { return &decide.Starter{Environ: os.Environ()} }}
			defer p.Close()
			dir := t.TempDir()
			write(filepath.Join(dir, decider.ManifestName), `{"id":"dev.test.a","command":["says-allow","rules.txt"],"permissions":{"decide":true}}`)
			write(filepath.Join(dir, "rules.txt"), "x")
			want := []config.Decider{{Folder: dir}}
			if err := p.Sync(want); err != nil {
				t.Fatal(err)
			}
			first := p.For(dir, "")[0]
			if p.Stale() {
				t.Error("it is stale when it was just started")
			}
			test.change(dir)
			if p.Stale() {
				t.Error("the files are looked at more than once a second")
			}
			if got := eventually(p.Stale, test.anew); got != test.anew {
				t.Fatalf("stale: got %t, want %t", got, test.anew)
			}
			if !test.anew {
				return
			}
			if err := p.Sync(want); err != nil {
				t.Fatal(err)
			}
			if now := p.For(dir, "")[0]; now == first {
				t.Error("it is the one that ran before")
			}
			if got := ask1(t, first); got.Why != "it was switched off" {
				t.Errorf("the one before: got %v", got)
			}
			if eventually(p.Stale, false) {
				t.Error("it is stale for ever")
			}
		})
	}
}

// TestInstalledLater: one that could not be read is tried again when it is there.
func TestInstalledLater(t *testing.T) {
	p := &decide.Pool{Starter: func() *decide.Starter { return &decide.Starter{Environ: os.Environ()} }}
	defer p.Close()
	dir := t.TempDir()
	want := []config.Decider{{Folder: dir}}
	if err := p.Sync(want); err == nil {
		t.Fatal("a decider without a manifest was started")
	}
	if p.Stale() {
		t.Error("it would be tried again although nothing is there")
	}
	text := `{"id":"dev.test.a","command":["says-allow"],"permissions":{"decide":true}}`
	if err := os.WriteFile(filepath.Join(dir, decider.ManifestName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if !eventually(p.Stale, true) {
		t.Fatal("it is not noticed")
	}
	if err := p.Sync(want); err != nil || len(p.For(dir, "")) != 1 {
		t.Errorf("got %v and %d", err, len(p.For(dir, "")))
	}
}

// eventually waits until a state is as wanted; one that is not to be true is looked
// at for the time in which it would have been seen.
func eventually(state func() bool, want bool) bool {
	patience := time.Minute
	if !want {
		patience = 1200 * time.Millisecond
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if state() {
			return true
		}
	}
	return false
}
