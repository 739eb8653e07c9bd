package disk

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestB9_SpecialFiles(t *testing.T) {
	dir, p := project(t)
	if err := unix.Mkfifo(dir+"/fifo", 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", dir+"/zero"); err != nil {
		t.Fatal(err)
	}
	put(t, dir+"/f", "text")
	start := time.Now()
	for _, name := range []string{"fifo", "zero", "."} {
		var s *SpecialError
		if _, err := Read(p, dir+"/"+name, Window{}); !errors.As(err, &s) {
			t.Errorf("read of %s: %v", name, err)
		}
	}
	var s *SpecialError
	if _, err := Write(p, dir+"/fifo", "x"); !errors.As(err, &s) || s.Type != "fifo" {
		t.Errorf("write to the fifo: %v", err)
	}
	if got := read(t, p, dir+"/f", Window{}).Text; got != "text" {
		t.Errorf("read %q", got)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestW02_AttributesAndOwner(t *testing.T) {
	dir, p := project(t)
	path := put(t, dir+"/f", "old")
	if err := unix.Setxattr(path, "user.note", []byte("kept"), 0); err != nil {
		t.Skip("no extended attributes here: ", err)
	}
	if err := unix.Setxattr(path, "user.empty", nil, 0); err != nil {
		t.Fatal(err)
	}
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 12345, 23456
	}
	if err := os.Chown(path, uid, gid); err != nil {
		t.Fatal(err)
	}
	write(t, p, path, "new")
	var value [16]byte
	n, err := unix.Getxattr(path, "user.note", value[:])
	if err != nil || string(value[:n]) != "kept" {
		t.Errorf("user.note is %q, %v", value[:max(n, 0)], err)
	}
	if n, err := unix.Getxattr(path, "user.empty", value[:]); err != nil || n != 0 {
		t.Errorf("user.empty: %d bytes, %v", n, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != uid || int(st.Gid) != gid {
		t.Errorf("owner %d:%d, want %d:%d", st.Uid, st.Gid, uid, gid)
	}
}

// An access list is an extended attribute.
func TestAccessListIsKept(t *testing.T) {
	dir, p := project(t)
	path := put(t, dir+"/f", "old")
	// version 2; user rw, user 12345 r, group r, mask r, others nothing
	acl := []byte{2, 0, 0, 0,
		1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 4, 0, 0x39, 0x30, 0, 0, 4, 0, 4, 0, 255, 255, 255, 255,
		16, 0, 4, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255}
	const name = "system.posix_acl_access"
	if err := unix.Setxattr(path, name, acl, 0); err != nil {
		t.Skip("no access lists here: ", err)
	}
	write(t, p, path, "new")
	got := make([]byte, 100)
	n, err := unix.Getxattr(path, name, got)
	if err != nil || string(got[:n]) != string(acl) {
		t.Errorf("access list %v, %v", got[:max(n, 0)], err)
	}
}

// asUser runs f as an ordinary user who owns dir; root passes every check of permissions.
func asUser(t *testing.T, dir string, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		f()
		return
	}
	const user = 12345
	if err := os.Chown(dir, user, user); err != nil {
		t.Fatal(err)
	}
	for d := dir; strings.HasPrefix(d, os.TempDir()) && d != os.TempDir(); d = d[:strings.LastIndexByte(d, '/')] {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, id := range []int{user, user} { // the call never fails: a second one shows the state
		_, _ = unix.SetfsuidRetUid(id)
	}
	defer unix.SetfsuidRetUid(0)
	f()
}

func TestInPlaceWhereTheFolderTakesNoFile(t *testing.T) {
	dir, p := project(t)
	asUser(t, dir, func() {
		path := put(t, dir+"/f", "old content\r\n")
		two := put(t, dir+"/two", "old")
		if err := os.Link(two, dir+"/three"); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Stat(path)
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o755)
		write(t, p, path, "new\n")
		after, err := os.Stat(path)
		if got := bytesOf(t, path); got != "new\r\n" || err != nil || !os.SameFile(before, after) {
			t.Errorf("on disk %q, %v", got, err)
		}
		if _, err := Write(p, two, "new"); err == nil || !strings.Contains(err.Error(), "hard links") {
			t.Errorf("write in place of a file with two names: %v", err)
		}
		if got := bytesOf(t, two); got != "old" {
			t.Errorf("on disk %q", got)
		}
		if _, err := Write(p, dir+"/new", "x"); !errors.Is(err, os.ErrPermission) {
			t.Errorf("new file: %v", err)
		}
	})
}

func TestAnothersFile(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to make another user's file")
	}
	dir, p := project(t)
	closed, open := put(t, dir+"/closed", "old"), put(t, dir+"/open", "old")
	if err := os.Chmod(open, 0o666); err != nil {
		t.Fatal(err)
	}
	asUser(t, dir, func() {
		var ro *ReadOnlyError
		if _, err := Write(p, closed, "new"); !errors.As(err, &ro) || !errors.Is(err, os.ErrPermission) {
			t.Errorf("a file that is not ours to write: %v", err)
		}
		write(t, p, open, "new")
	})
	info, err := os.Stat(open)
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 || bytesOf(t, open) != "new" || bytesOf(t, closed) != "old" {
		t.Errorf("open: %v %q, closed: %q", err, bytesOf(t, open), bytesOf(t, closed))
	}
	if left := names(t, dir); len(left) != 2 {
		t.Errorf("left behind: %q", left)
	}
}

func TestInPlaceOnAMountPoint(t *testing.T) {
	dir, p := project(t)
	source := put(t, t.TempDir()+"/source", "old")
	path := put(t, dir+"/f", "below")
	if err := unix.Mount(source, path, "", unix.MS_BIND, ""); err != nil {
		t.Skip("bind mounts cannot be made here: ", err)
	}
	defer unix.Unmount(path, unix.MNT_DETACH)
	write(t, p, path, "new")
	if got := bytesOf(t, source); got != "new" {
		t.Errorf("on disk %q", got)
	}
	if left := names(t, dir); len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
}

func TestF5_W28_InARace(t *testing.T) {
	base, _ := project(t)
	for _, d := range []string{"/p/d", "/out"} {
		if err := os.MkdirAll(base+d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, base+"/out/f", "OUT")
	_, p := projectAt(t, base+"/p", base+"/out")
	if err := os.Symlink("../out", base+"/p/l"); err != nil {
		t.Fatal(err)
	}
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
				unix.Renameat2(unix.AT_FDCWD, base+"/p/d", unix.AT_FDCWD, base+"/p/l", unix.RENAME_EXCHANGE)
			}
		}
	}()
	wrote, got := 0, 0
	for i := 0; i < 10_000 || (wrote == 0 || got == 0) && i < 100_000; i++ {
		if _, err := Write(p, base+"/p/d/f", "IN"); err == nil {
			wrote++
		}
		f, err := Read(p, base+"/p/d/f", Window{})
		if err != nil {
			continue
		}
		if got++; f.Text != "IN" {
			t.Fatalf("read %q", f.Text)
		}
	}
	close(done)
	<-stopped
	if wrote == 0 || got == 0 {
		t.Errorf("%d writes and %d reads: the test shows nothing", wrote, got)
	}
	if left := names(t, base+"/out"); len(left) != 1 || bytesOf(t, base+"/out/f") != "OUT" {
		t.Errorf("outside: %q, %q", left, bytesOf(t, base+"/out/f"))
	}
}
