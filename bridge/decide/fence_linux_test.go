package decide_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"sallyport/bridge/decide"
	"sallyport/bridge/sandbox"
	"sallyport/plugins/decider"
	"sallyport/workspace/fence"
)

func TestKernelFence(t *testing.T) {
	state, private := t.TempDir(), t.TempDir()
	kernel := &sandbox.Launcher{Dir: t.TempDir(), Environ: os.Environ(), Log: slog.New(slog.DiscardHandler)}
	if found := kernel.Probe(context.Background()); found.Level() != sandbox.Full {
		t.Skip("no whole fence here: " + found.Refused)
	}
	for _, dir := range []string{state, private} {
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &decide.Starter{Environ: os.Environ(), Kernel: kernel, Private: []string{private}, Own: fence.Own{State: []string{state}}}
	m := manifest(t, "says-reach")
	for _, name := range []string{"rules.json", ".env"} {
		if err := os.WriteFile(filepath.Join(m.Folder, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(m.Folder, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := open(t, s, m, nil)
	elsewhere := t.TempDir()
	for command, want := range map[string]decider.Say{
		"read rules.json":                            decider.Allow,
		"write data/kept":                            decider.Allow,
		"write rules.json":                           decider.Deny,
		"write decider.json":                         decider.Deny,
		"read .env":                                  decider.Deny,
		"read " + filepath.Join(state, "file"):       decider.Deny,
		"read " + filepath.Join(private, "file"):     decider.Deny,
		"write " + filepath.Join(elsewhere, "file"):  decider.Deny,
		"write " + filepath.Join(os.TempDir(), "no"): decider.Allow, // its own
	} {
		if got := ask(t, d, command); got.Say != want {
			t.Errorf("%s: got %v, want %v", command, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(os.TempDir(), "no")); err == nil {
		t.Error("temporary files are everybody's")
	}
}

func TestKernelFenceWithoutData(t *testing.T) {
	kernel := &sandbox.Launcher{Dir: t.TempDir(), Environ: os.Environ(), Log: slog.New(slog.DiscardHandler)}
	d := open(t, &decide.Starter{Environ: os.Environ(), Kernel: kernel}, manifest(t, "says-allow"), nil)
	if got := ask(t, d, "ls"); got.Say != decider.Allow {
		t.Errorf("got %v", got)
	}
}
