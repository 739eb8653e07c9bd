package fence

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// exchange swaps two names in one step.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

func TestB9_SpecialFiles(t *testing.T) {
	root := tree(t, map[string]string{"dir/": "", "zero": "-> /dev/zero", "f": "text", "tofifo": "-> fifo", "todir": "-> dir"})
	if err := unix.Mkfifo(root+"/fifo", 0o644); err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(root, "s") // socket paths are short
	if len(short) > 100 {
		t.Skip("the temporary folder's path is too long for a socket: " + short)
	}
	l, err := net.Listen("unix", short)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := policy(t, root, Rules{})
	start := time.Now()
	for name, want := range map[string]string{
		"fifo": "fifo", "tofifo": "fifo", "dir": "folder", "todir": "folder", "zero": "device", "s": "socket",
	} {
		_, err := p.OpenRead(root + "/" + name)
		var s *SpecialError
		if !errors.As(err, &s) || s.Type != want {
			t.Errorf("read of %s: %v, want %s", name, err, want)
		}
	}
	if f, err := p.OpenRead(root + "/f"); err != nil {
		t.Errorf("read of the ordinary file: %v", err)
	} else {
		f.Close()
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

// The process file system shows this program's own environment.
func TestProcIsRefused(t *testing.T) {
	root := tree(t, map[string]string{"f": "", "env": "-> /proc/self/environ", "q/s": ""})
	p := policy(t, root, Rules{Private: []string{root + "/q"}})
	for path, want := range map[string]Kind{
		"/proc/self/environ":                         Special,
		fmt.Sprintf("/proc/%d/environ", os.Getpid()): Special,
		"/proc/thread-self/environ":                  Special,
		root + "/env":                                Special,
		"/proc/self/mem":                             Special,
		"/proc/self/root" + root + "/q/s":            Private, // N06
		"/proc/self/root" + root + "/f":              "",
	} {
		if got := try(t, p, Read, path); got != want {
			t.Errorf("read of %s: refused by %q, want %q", path, got, want)
		}
	}
	f, err := os.Open(root + "/q/s")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := try(t, p, Read, fmt.Sprintf("/proc/self/fd/%d", f.Fd())); got != Private {
		t.Errorf("read through a descriptor: refused by %q", got)
	}
	if got := try(t, p, Write, "/proc/self/cwd/x"); got != Region {
		t.Errorf("write through /proc: refused by %q", got)
	}
}

func TestR17_BindMounts(t *testing.T) {
	root := tree(t, map[string]string{"p/.git/": "", "q/s": "", "q/sub/s": "", "p/whole/": "", "p/part/": "", "alias/": "", "p/g/": ""})
	for from, to := range map[string]string{"/q": "/p/whole", "/q/sub": "/p/part", "/p": "/alias", "/p/.git": "/p/g"} {
		if err := unix.Mount(root+from, root+to, "", unix.MS_BIND, ""); err != nil {
			t.Skip("bind mounts cannot be made here: ", err)
		}
		defer unix.Unmount(root+to, unix.MNT_DETACH)
	}
	p := policy(t, root+"/p", Rules{Private: []string{root + "/q"}})
	for _, c := range []struct {
		a    Access
		path string
		want Kind
	}{
		{Read, "/p/whole/s", Private},
		{Write, "/p/whole/new", Private},
		{Read, "/p/part/s", Private},
		{Write, "/p/part/new", Private},
		{Write, "/p/g/config", Reserved},
		{Write, "/alias/f", ""}, // the same folder as the region's
		{Write, "/alias/.git/config", Reserved},
	} {
		if got := try(t, p, c.a, root+c.path); got != c.want {
			t.Errorf("%s of %s: refused by %q, want %q", c.a, c.path, got, c.want)
		}
	}
}

func TestMountsInside(t *testing.T) {
	if got := unescapeMount(`/a\040b\134c`); got != `/a b\c` {
		t.Errorf("unescaped %q", got)
	}
	for _, c := range []struct {
		path, folder string
		want         bool
	}{{"/a/b", "/a", true}, {"/a", "/a", true}, {"/ab", "/a", false}, {"/a", "/", true}} {
		if got := beneath(c.path, c.folder); got != c.want {
			t.Errorf("beneath(%s, %s) = %v", c.path, c.folder, got)
		}
	}
}
