//go:build unix

package process_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"sallyport/bridge/process"
)

// onTerminal starts a shell's lines on a terminal of their own.
func onTerminal(t *testing.T, lines string) (*process.Process, *os.File) {
	t.Helper()
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	p, err := process.Start(t.Context(), process.Spec{
		Path: "/bin/sh", Args: []string{"-c", lines}, Env: []string{"PATH=" + os.Getenv("PATH")}, Terminal: terminal,
	})
	_ = terminal.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(context.Background(), 100*time.Millisecond); err != nil {
			t.Error(err)
		}
	})
	return p, master
}

// TestStart_OnATerminal: it is the program's own in every way.
func TestStart_OnATerminal(t *testing.T) {
	p, master := onTerminal(t, `test -t 0 && test -t 1 && test -t 2 || exit 5
		trap 'echo interrupted; exit 7' INT
		echo ready
		read line </dev/tty
		exit 6`)
	var all strings.Builder
	for buf := make([]byte, 512); ; {
		n, err := master.Read(buf)
		said := string(buf[:n])
		all.WriteString(said)
		if strings.Contains(said, "ready") {
			if _, err := io.WriteString(master, "\x03"); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil { // EIO: nobody has it any more
			break
		}
	}
	<-p.Done()
	if got := p.Exit(); got.Code != 7 || !strings.Contains(all.String(), "interrupted") {
		t.Errorf("it ended with %v and said %q", got, all.String())
	}
	if out, err := io.ReadAll(p.Stdout); err != nil || len(out) > 0 || p.Stderr() != "" {
		t.Errorf("the pipes have %q, %v, %q", out, err, p.Stderr())
	}
}

// TestStart_ATerminalThatIsClosed takes its program along.
func TestStart_ATerminalThatIsClosed(t *testing.T) {
	p, master := onTerminal(t, `echo ready; while :; do sleep 1; done`)
	buf := make([]byte, 512)
	if _, err := master.Read(buf); err != nil {
		t.Fatal(err)
	}
	if err := master.Close(); err != nil {
		t.Fatal(err)
	}
	<-p.Gone()
	if got := p.Exit(); got.Signal != "hangup" {
		t.Errorf("it ended with %v", got)
	}
}
