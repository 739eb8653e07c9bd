package sandbox

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	if len(os.Args) == 2 && os.Args[1] == innerCommand {
		syscall.Exit(innerMain()) // comes back only when it did not become the agent
	}
	if len(os.Args) == 3 && os.Args[1] == sweepCommand {
		syscall.Exit(sweepMain(os.Args[2]))
	}
}

// sweepMain clears away what sessions that were killed left in and through a folder of ours.
func sweepMain(dir string) int {
	// Whose locks these were may still be dying.
	for _, wait := range []time.Duration{0, 100 * time.Millisecond, time.Second} {
		time.Sleep(wait)
		if _, err := os.Stat(dir); err != nil {
			return 0 // gone as a whole, and not to be made again
		}
		if _, err := openGhosts(dir); err != nil {
			return 1
		}
		sweepTemporary(filepath.Join(dir, temporaryName))
	}
	return 0
}

// innerMain is the inner step.
func innerMain() int {
	runtime.LockOSThread() // what Landlock closes it closes for this thread, and the agent that it becomes
	orders, report, err := takeOrders()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sallyport: "+innerCommand+" is started by sallyport itself")
		return 2
	}
	out := gob.NewEncoder(report)
	fail := func(status int, found result) int {
		fmt.Fprintln(os.Stderr, "sallyport: "+found.Failed)
		_ = out.Encode(found) // who reads it may be gone
		return status
	}
	if orders.Seat {
		if err := takeSeat(); err != nil {
			return fail(ExitSetup, result{Failed: "the terminal could not be set up: " + err.Error()})
		}
	}
	// The keys of the user's session are none of the agent's. Without keys in the kernel there are none.
	_, _, _ = unix.Syscall(unix.SYS_KEYCTL, unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0)
	if err := restrict(orders.Rules); err != nil {
		return fail(ExitSetup, result{Failed: "the fence could not be set up: " + err.Error()})
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fail(ExitSetup, result{Failed: "the fence could not be set up: no_new_privs: " + err.Error()})
	}
	if err := dropCapabilities(); err != nil {
		return fail(ExitSetup, result{Failed: "the fence could not be set up: " + err.Error()})
	}
	found := runTests(orders.Tests)
	for _, t := range found.Wrong {
		if t.Must {
			found.Failed = "the fence does not hold: " + t.wrong()
			return fail(ExitSetup, found)
		}
	}
	if err := os.Chdir(orders.Dir); err != nil {
		found.Failed, found.Errno = "the working folder: "+err.Error(), errno(err)
		return fail(ExitMissing, found)
	}
	if err := out.Encode(found); err != nil {
		return ExitSetup // nobody waits for the agent any more
	}
	err = syscall.Exec(orders.Program, append([]string{orders.Program}, orders.Args...), orders.Env)
	found.Failed, found.Errno = fmt.Sprintf("starting %s: %v", orders.Program, err), errno(err)
	return fail(ExitMissing, found)
}

// takeSeat makes the terminal that is standard input the controlling one, of a
// session that begins here.
func takeSeat() error {
	if _, err := unix.Setsid(); err != nil && !errors.Is(err, unix.EPERM) { // it may lead one already
		return err
	}
	return unix.IoctlSetInt(0, unix.TIOCSCTTY, 0)
}

// dropCapabilities leaves this thread without any, also when it becomes a program of root's.
func dropCapabilities() error {
	for c := 0; c <= unix.CAP_LAST_CAP; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) {
			break // there are none to drop, or this kernel knows no more
		}
		if err != nil {
			return fmt.Errorf("dropping capabilities: %w", err)
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) // none without capabilities
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	return nil
}

func errno(err error) int {
	var number syscall.Errno
	if errors.As(err, &number) {
		return int(number)
	}
	return int(syscall.EINVAL)
}

// takeOrders reads them, and keeps every descriptor but the first three from the agent.
func takeOrders() (*orders, *os.File, error) {
	if err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		for fd := 3; fd < 1024; fd++ { // Linux before 5.11
			unix.CloseOnExec(fd)
		}
	}
	in := os.NewFile(ordersFD, "orders")
	if in == nil {
		return nil, nil, fs.ErrInvalid
	}
	defer in.Close()
	var o orders
	if err := gob.NewDecoder(in).Decode(&o); err != nil {
		return nil, nil, err
	}
	return &o, os.NewFile(resultFD, "result"), nil
}

// wrong says what a test found.
func (t test) wrong() string {
	switch t.Kind {
	case readTest:
		return t.Path + " can be read"
	case writeTest, reservedTest:
		return t.Path + " can be written"
	default:
		return t.Path + " cannot be written"
	}
}

func runTests(tests []test) result {
	var r result
	for _, t := range tests {
		ok := false
		switch t.Kind {
		case readTest:
			ok = !readable(t.Path)
		case writeTest, reservedTest:
			ok = !writable(t.Path)
		case allowedTest:
			ok = writable(t.Path)
		}
		if !ok {
			r.Wrong = append(r.Wrong, t)
		}
	}
	return r
}

// readable reports whether something that is there outside can be opened.
func readable(path string) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	_ = unix.Close(fd)
	return true
}

// writable reports whether a file could be written, or made in a folder. It leaves nothing behind, and no folder sees a
// name come and go where the file system knows files without a name.
func writable(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if !info.IsDir() {
		fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
		if err != nil {
			return false
		}
		_ = unix.Close(fd)
		return true
	}
	fd, err := unix.Open(path, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err == nil {
		_ = unix.Close(fd)
		return true
	}
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.ENOENT) {
		return false
	}
	f, err := os.CreateTemp(path, ".sallyport-*.tmp")
	if err != nil {
		return false
	}
	_ = f.Close()
	_ = os.Remove(filepath.Clean(f.Name()))
	return true
}
