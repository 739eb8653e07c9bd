package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"sallyport/bridge/process"
	"sallyport/workspace/fence"
)

// hold starts a program in a fence, says so, and waits for its own end.
func hold(region, dir string) error {
	policy, err := fence.New(region, fence.Rules{})
	if err != nil {
		return err
	}
	layout, err := policy.Layout(context.Background())
	if err != nil {
		return err
	}
	l := &Launcher{Dir: dir}
	if _, err := l.Start(context.Background(), Request{Layout: layout, Backend: Bubblewrap, Program: process.Spec{Path: "/bin/cat", Dir: region}}); err != nil {
		return err
	}
	fmt.Println("ready")
	select {}
}

// TestG14_Killed: after SIGKILL the guard clears away what the fence put on disk.
func TestG14_Killed(t *testing.T) {
	p := newPlace(t)
	p.needBoth()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "hold", p.region, p.Dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	ghosts := []string{p.region + "/.idea", p.region + "/.git/commondir", p.region + "/.git/info"}
	for _, path := range ghosts {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // killed
	left := func() (all []string) {
		for _, path := range ghosts {
			if _, err := os.Lstat(path); err == nil {
				all = append(all, path)
			}
		}
		temp, _ := filepath.Glob(p.Dir + "/tmp/*")
		return append(all, temp...)
	}
	for deadline := time.Now().Add(30 * time.Second); len(left()) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("left are %v", left())
		}
	}
}
