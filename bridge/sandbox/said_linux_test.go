package sandbox

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// TestSaid_OpensNothing: another program, its arguments and its variables reach
// what is inside, and nothing more is open to it than without them.
func TestSaid_OpensNothing(t *testing.T) {
	each(t, func(t *testing.T, p *place, b Backend) {
		mine, err := os.MkdirTemp("/tmp", "sallyport-mine-") // what the user has there is not shown
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(mine) })
		secret := filepath.Join(mine, "s")
		if err := os.WriteFile(secret, []byte("MINE\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r := p.request(b, "echo the program itself")
		r.Needs.State = []string{filepath.Join(p.dir, "home/state-of-the-agent")}
		other := filepath.Join(p.dir, "home/other")
		r.Said = Said{
			Program: "/bin/bash",
			Args:    []string{"-c", `exec 2>&1; echo "$0 $1 $A $HOME $TMPDIR"; cat "$0"; echo x > "$HOME/new"`, secret, "last"},
			Env:     []string{"A=1", "HOME=" + other, "TMPDIR=" + other, "PATH=" + mine + ":/usr/bin:/bin"},
		}
		f := p.start(r)
		out, err := io.ReadAll(f.Stdout)
		if err != nil {
			t.Fatal(err)
		}
		<-f.Gone()
		if want := secret + " last 1 " + other + " " + other + "\n"; !strings.HasPrefix(string(out), want) {
			t.Errorf("inside: got %q, want it to begin with %q", out, want)
		}
		if b == Bubblewrap && strings.Contains(string(out), "MINE") {
			t.Errorf("a file of the user's /tmp was opened by being named:\n%s", out)
		}
		if p.read("home/other/new") != "" {
			t.Error("a folder was opened by being named HOME")
		}
	})
}

// TestTerminal: what is inside has a terminal of its own, and its Ctrl-C is not
// the fence's.
func TestTerminal(t *testing.T) {
	each(t, func(t *testing.T, p *place, b Backend) {
		master, terminal, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer master.Close()
		r := p.request(b, `trap 'echo interrupted; exit 7' INT
			test -t 0 && test -t 1 && test -t 2 && echo ready && read line </dev/tty
			exit 6`)
		r.Program.Terminal = terminal
		f := p.start(r)
		_ = terminal.Close()
		var out strings.Builder
		for buf := make([]byte, 512); err == nil; {
			var n int
			n, err = master.Read(buf)
			out.Write(buf[:n])
			if strings.Contains(string(buf[:n]), "ready") {
				if _, err := io.WriteString(master, "\x03"); err != nil {
					t.Fatal(err)
				}
			}
		}
		<-f.Gone()
		if got := f.Exit(); got.Code != 7 || !strings.Contains(out.String(), "interrupted") {
			t.Errorf("it ended with %v and said %q", got, out.String())
		}
	})
}

// TestALookedAtProject: a layout without a region is held, too, the folder itself
// included.
func TestALookedAtProject(t *testing.T) {
	each(t, func(t *testing.T, p *place, b Backend) {
		r := p.request(b, `echo x > n; echo x >> a.go; cat a.go; cat .env`)
		r.Layout.Writable, r.Layout.Absent = nil, nil
		f := p.start(r)
		out, err := io.ReadAll(f.Stdout)
		if err != nil {
			t.Fatal(err)
		}
		<-f.Gone()
		if !strings.Contains(string(out), "package a") || strings.Contains(string(out), "KEY=1") {
			t.Errorf("inside: %s", out)
		}
		if p.read("home/p/n") != "" || p.read("home/p/a.go") != "package a\n" {
			t.Error("the folder was written")
		}
		if !f.Report.Writes {
			t.Errorf("the report says that nothing keeps it from writing: %+v", f.Report)
		}
	})
}
