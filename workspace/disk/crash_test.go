package disk

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"sallyport/workspace/fence"
)

// crashSize is what the child writes at once.
const crashSize = 50 << 20

// TestMain lets the test binary be the child of TestE3_KilledWriter.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SALLYPORT_TEST_WRITER"); dir != "" {
		writeForever(dir)
	}
	os.Exit(m.Run())
}

func writeForever(dir string) {
	p, err := fence.New(dir, fence.Rules{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for i := 0; ; i++ {
		fmt.Println("writing")
		if _, err := Write(p, dir+"/f", strings.Repeat(string('a'+rune(i%26)), crashSize)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func TestE3_KilledWriter(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	strays := 0
	for round := range 4 {
		dir, p := project(t)
		put(t, dir+"/f", "0123456789")
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), "SALLYPORT_TEST_WRITER="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range round/2 + 1 { // while the first write runs, or the second
			if !lines.Scan() {
				t.Fatal("the writer ended")
			}
		}
		for { // until a temporary file is there, in every other round half full
			i := slices.IndexFunc(names(t, dir), isTemp)
			if i < 0 {
				continue
			}
			info, err := os.Stat(dir + "/" + names(t, dir)[min(i, len(names(t, dir))-1)])
			if err == nil && (round%2 == 0 || info.Size() > crashSize/2) {
				break
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait() // killed: the error says so

		got := read(t, p, dir+"/f", Window{}).Text
		if whole := len(got) == crashSize && strings.Count(got, got[:1]) == crashSize; got != "0123456789" && !whole {
			t.Errorf("round %d: the file holds %d bytes that are neither old nor new", round, len(got))
		}
		n, err := SweepTemp(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		strays += n
		if left := names(t, dir); !slices.Equal(left, []string{"f"}) {
			t.Errorf("round %d: left behind: %q", round, left)
		}
	}
	if strays == 0 {
		t.Error("no writer was killed half-way: the test shows nothing")
	}
}

func TestSweepLeavesWhatIsNotStray(t *testing.T) {
	dir, p := project(t)
	const stray = "/.sallyport-0123456789abcdef.tmp"
	for _, d := range []string{"/a/b", "/.git"} {
		if err := os.MkdirAll(dir+d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, dir+stray, "")
	put(t, dir+"/a/b"+stray, "")
	keep := []string{"/.git" + stray, "/.sallyport-x.tmp", "/.sallyport.json", "/a/x.tmp"}
	for _, k := range keep {
		put(t, dir+k, "")
	}
	target, err := p.Writable(dir + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Dir.Close()
	alive, name, err := createTemp(target.Dir, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := SweepTemp(t.Context(), dir); n != 2 || err != nil {
		t.Errorf("removed %d, %v, want 2", n, err)
	}
	for _, k := range append(keep, "/"+name) {
		if _, err := os.Lstat(dir + k); err != nil {
			t.Errorf("removed %s", k)
		}
	}
	alive.Close()
	if n, err := SweepTemp(t.Context(), dir); n != 1 || err != nil {
		t.Errorf("removed %d, %v, want 1 whose writer is gone", n, err)
	}
}
