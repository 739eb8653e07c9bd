package bridgetest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// withoutCommand is the word that makes a test binary Without's own program.
const withoutCommand = "without"

// Without is a command that runs another one on what is to it a poorer machine:
// what of "bwrap" and "landlock" is named does not work there. The command runs
// as user and group uid. It works as root, on Linux, in packages whose TestMain
// begins with BecomePoor.
func Without(t testing.TB, uid int, what []string, command ...string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{self, withoutCommand, strings.Join(what, ","), strconv.Itoa(uid)}, command...)
}

// BecomePoor does what a command of Without says, and does not return then.
func BecomePoor() {
	if len(os.Args) < 5 || os.Args[1] != withoutCommand {
		return
	}
	runtime.LockOSThread() // what follows is the thread's own
	err := poor(strings.Split(os.Args[2], ","), os.Args[3], os.Args[4:])
	fmt.Fprintln(os.Stderr, "without:", err)
	os.Exit(1)
}

func poor(what []string, uid string, command []string) error {
	id, err := strconv.Atoi(uid)
	if err != nil {
		return err
	}
	program, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	for _, w := range what {
		switch w {
		case "":
		case "bwrap":
			err = hideBwrap()
		case "landlock":
			err = denyLandlock()
		default:
			err = fmt.Errorf("%s cannot be taken away", w)
		}
		if err != nil {
			return fmt.Errorf("taking %s away: %w", w, err)
		}
	}
	if id != 0 {
		if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
			return errno
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(id), uintptr(id), uintptr(id)); errno != 0 {
			return errno
		}
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(id), uintptr(id), uintptr(id)); errno != 0 {
			return errno
		}
	}
	return unix.Exec(program, command, os.Environ())
}

// hideBwrap mounts over every bwrap, in a mount namespace of its own.
func hideBwrap() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	for _, path := range []string{"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"} {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if err := unix.Mount(os.DevNull, path, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	return nil
}

// denyLandlock makes landlock_create_ruleset(2) a system call that is not known,
// as on a kernel without Landlock.
func denyLandlock() error {
	const createRuleset = 444 // on every architecture
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: createRuleset},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}
