package escape

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// intrude does, inside a fence, what a shell cannot. What it says is what came
// of it.
func intrude(args []string) int {
	tricks := map[string]func([]string) error{
		"setxattr": func(a []string) error { return unix.Setxattr(a[0], "user.x", []byte("1"), 0) },
		"connect":  dial,
		"listen":   func(a []string) error { return echoOn("unix", a[0]) },
		"loopback": func([]string) error { return echoOn("tcp", "127.0.0.1:0") },
		"attach":   attach,
		"disks":    disks,
		"terminal": terminal,
		"memory":   memory,
		"push":     push,
		"watch":    watch,
		"key":      key,
		"swap":     func(a []string) error { return swap(a[0], a[1], nil) },
		"storm":    func(a []string) error { return storm(a[0]) },
	}
	if err := tricks[args[0]](args[1:]); err != nil {
		fmt.Println(args[0]+":", err)
		return 1
	}
	return 0
}

func dial(a []string) error {
	c, err := net.Dial("unix", a[0])
	if err != nil {
		return err
	}
	fmt.Println("CONNECTED")
	return c.Close()
}

// echoOn listens, connects to itself and sends a word through.
func echoOn(network, address string) error {
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	defer l.Close()
	c, err := net.Dial(network, l.Addr().String())
	if err != nil {
		return err
	}
	defer c.Close()
	other, err := l.Accept()
	if err != nil {
		return err
	}
	defer other.Close()
	if _, err := other.Write([]byte("WORKS")); err != nil {
		return err
	}
	word := make([]byte, 5)
	if _, err := io.ReadFull(c, word); err != nil {
		return err
	}
	fmt.Println(string(word))
	return nil
}

// attach tries to look into processes, without stopping them.
func attach(pids []string) error {
	runtime.LockOSThread()
	for _, p := range pids {
		pid, err := strconv.Atoi(p)
		if err != nil {
			continue
		}
		if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, 0, 0, 0); errno == 0 {
			fmt.Println("ATTACHED", pid)
			_ = unix.PtraceDetach(pid) // at our end in any case
		}
		if f, err := os.OpenFile("/proc/"+p+"/mem", os.O_RDWR, 0); err == nil {
			fmt.Println("ATTACHED to the memory of", pid)
			_ = f.Close()
		}
	}
	return nil
}

// blockDevices are the device files of disks, with their numbers.
func blockDevices() map[string]uint64 {
	all := map[string]uint64{}
	names, _ := filepath.Glob("/dev/*")
	for _, name := range names {
		var st unix.Stat_t
		if unix.Lstat(name, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFBLK {
			all[name] = st.Rdev
		}
	}
	return all
}

// disks opens each disk, by its own device file or one of ours; the numbers
// come with the environment, since a fence may show no device files.
func disks(numbers []string) error {
	open := func(path string) {
		f, err := os.Open(path)
		if err != nil {
			return
		}
		fmt.Println("OPENED", path)
		_ = f.Close()
	}
	for name := range blockDevices() {
		open(name)
	}
	for _, n := range numbers {
		number, err := strconv.ParseUint(n, 10, 64)
		if err != nil {
			return err
		}
		if unix.Mknod("disk", unix.S_IFBLK|0o600, int(number)) == nil {
			open("disk")
			_ = os.Remove("disk")
		}
	}
	return nil
}

// terminal runs tty in a pseudo-terminal of its own.
func terminal([]string) error {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer master.Close()
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		return err
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return err
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer slave.Close()
	cmd := exec.Command("tty")
	cmd.Stdin = slave
	out, err := cmd.Output()
	fmt.Print(string(out))
	return err
}

// memory uses shared memory of both kinds, and a semaphore.
func memory([]string) error {
	name := filepath.Join("/dev/shm", "fence-"+strconv.Itoa(os.Getpid())+"-"+filepath.Base(os.Getenv("HOME")))
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(name)
	defer f.Close()
	if err := f.Truncate(4096); err != nil {
		return err
	}
	m, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	m[0] = 1
	if err := unix.Munmap(m); err != nil {
		return err
	}
	segment, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
	if err != nil {
		return err
	}
	if _, err := unix.SysvShmCtl(segment, unix.IPC_RMID, nil); err != nil {
		return err
	}
	sem, _, errno := unix.Syscall(unix.SYS_SEMGET, unix.IPC_PRIVATE, 1, unix.IPC_CREAT|0o600)
	if errno != 0 {
		return errno
	}
	if _, _, errno := unix.Syscall6(unix.SYS_SEMCTL, sem, 0, unix.IPC_RMID, 0, 0, 0); errno != 0 {
		return errno
	}
	fmt.Println("WORKS")
	return nil
}

// push puts a character into the terminal that somebody was started from.
func push([]string) error {
	if f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		fmt.Println("TERMINAL")
		_ = f.Close()
	}
	char := []byte("x")
	for fd := range uintptr(3) {
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, unix.TIOCSTI, uintptr(unsafe.Pointer(&char[0]))); errno == 0 {
			fmt.Println("PUSHED")
		}
	}
	return nil
}

// swap makes a folder a link and a folder again, over and over.
func swap(dir, target string, stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := os.Rename(dir, dir+".kept"); err != nil {
			return err
		}
		if err := os.Symlink(target, dir); err != nil {
			return err
		}
		if err := errors.Join(os.Remove(dir), os.Rename(dir+".kept", dir)); err != nil {
			return err
		}
	}
}

// writes in a storm.
const writes = 10_000

// storm writes into the folder that is swapped meanwhile.
func storm(dir string) error {
	for i := range writes {
		_ = os.WriteFile(filepath.Join(dir, "n"+strconv.Itoa(i%50)), nil, 0o600) // some fail: the folder is gone in between
	}
	return nil
}

// watch says what is told of a folder's entries, until the file "go" is there.
func watch(a []string) error {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err == nil {
		_, err = unix.InotifyAddWatch(fd, a[0], unix.IN_ALL_EVENTS)
	}
	if err != nil {
		fmt.Println(err) // the user's change is waited for all the same
	}
	if err := os.WriteFile("ready", nil, 0o644); err != nil {
		return err
	}
	for {
		if _, err := os.Stat("go"); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if n, err := unix.Read(fd, make([]byte, 4096)); err == nil && n > 0 {
		fmt.Println("SAW")
	}
	return nil
}

// keyName is the one of a key in the session keyring of a bridge.
const keyName = "sallyport-escape"

// key looks for a key in the session keyring, and reads it.
func key([]string) error {
	id, err := unix.KeyctlSearch(unix.KEY_SPEC_SESSION_KEYRING, "user", keyName, 0)
	if err != nil {
		return err
	}
	buf := make([]byte, 32)
	n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, buf, 0)
	if err != nil {
		return err
	}
	fmt.Println("KEY", string(buf[:min(n, len(buf))]))
	return nil
}
