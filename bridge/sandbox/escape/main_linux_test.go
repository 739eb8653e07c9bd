package escape

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"sallyport/bridge/bridgetest"
)

var update = flag.Bool("update", false, "keep what was seen: rewrite testdata/escape.json and docs/FENCES.md")

// apartVar marks the process that has its own mount namespace.
const apartVar = "SALLYPORT_ESCAPE_APART"

func TestMain(m *testing.M) {
	bridgetest.BecomePoor()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "bridge":
			os.Exit(bridgeMain())
		case "intrude":
			os.Exit(intrude(os.Args[2:]))
		}
	}
	if os.Geteuid() == 0 && os.Getenv(apartVar) == "" {
		os.Exit(apart())
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// apart runs the tests again in a mount namespace of their own, so that what
// they mount is seen by nobody else and ends with them.
func apart() int {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), apartVar+"=yes")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	err := cmd.Run()
	if errors.Is(err, syscall.EPERM) { // a container: rows that mount are not run
		cmd = exec.Command("/proc/self/exe", os.Args[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.Env = append(os.Environ(), apartVar+"=no")
		err = cmd.Run()
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// ground is what all scenes stand on.
var ground struct {
	dir    string // holds the fixtures; every user may pass through it
	self   string // this test binary, where every user and every fence can reach it
	mounts bool   // the tests may mount
}

// run lays the ground, below /var/tmp: fences put a folder of their own in the
// place of /tmp.
func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("/var/tmp", "fence-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		return 1, err
	}
	ground.dir, ground.self = dir, filepath.Join(dir, "escape.test")
	ground.mounts = os.Getenv(apartVar) == "yes"
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	if out, err := exec.Command("cp", self, ground.self).CombinedOutput(); err != nil {
		return 1, fmt.Errorf("copying the test: %w: %s", err, out)
	}
	if err := os.Chmod(ground.self, 0o755); err != nil {
		return 1, err
	}
	if ground.mounts { // as systemd has it: what is mounted is seen in other namespaces, too
		if err := unix.Mount("", "/", "", unix.MS_SHARED, ""); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}
