//go:build unix

package process_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"sallyport/bridge/process"
)

func start(t *testing.T, path string, args ...string) *process.Process {
	t.Helper()
	p, err := process.Start(t.Context(), process.Spec{Path: path, Args: args, Env: []string{"PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(context.Background(), 100*time.Millisecond); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestStart_Echo(t *testing.T) {
	p := start(t, "/bin/cat")
	if _, err := io.WriteString(p.Stdin, "hello\n"); err != nil {
		t.Fatal(err)
	}
	p.Stdin.Close()
	out, err := io.ReadAll(p.Stdout)
	if err != nil || string(out) != "hello\n" {
		t.Errorf("got %q, %v; want %q", out, err, "hello\n")
	}
	<-p.Done()
	if got := p.Exit().String(); got != "exit status 0" {
		t.Errorf("exit: got %s", got)
	}
}

func TestStart_Stderr(t *testing.T) {
	p := start(t, "/bin/sh", "-c", `printf 'bad \033[1m thing\n' >&2; exit 3`)
	<-p.Done()
	if got, want := p.Stderr(), "bad \\x1b[1m thing\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := p.Exit(); got.Code != 3 {
		t.Errorf("exit: got %v", got)
	}
}

func TestStart_Missing(t *testing.T) {
	_, err := process.Start(t.Context(), process.Spec{Path: "/nonexistent/agent"})
	if err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}
