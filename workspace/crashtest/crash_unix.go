//go:build unix

package crashtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// variable tells a test binary that it is the process to be killed: act, step, folder.
const variable = "SALLYPORT_CRASH"

// Main is the main function of a package's tests. do does an act in a folder and
// calls step at its steps, from any goroutine.
func Main(m *testing.M, do func(act, folder string, step func(string)) error) {
	spec := os.Getenv(variable)
	if spec == "" {
		os.Exit(m.Run())
	}
	if err := child(spec, do); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func child(spec string, do func(act, folder string, step func(string)) error) error {
	fields := strings.SplitN(spec, ":", 3)
	if len(fields) != 3 {
		return fmt.Errorf("%s is malformed", variable)
	}
	at, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return err
	}
	var count atomic.Int64
	return do(fields[0], fields[2], func(string) {
		if count.Add(1) == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
}

// Run does an act in a process of its own, which is killed at a step, counted from
// 1, and reports whether it was: it may end before. At step 0 it is not killed.
func Run(t testing.TB, act, folder string, step int) (killed bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s:%d:%s", variable, act, step, folder))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	killed = errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
	if err != nil && !killed || killed && step == 0 {
		t.Fatalf("%s at step %d: %v: %s", act, step, err, out)
	}
	return killed
}
