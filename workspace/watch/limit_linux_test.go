package watch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// inNamespace says, in the environment, that a test runs in a user namespace of its
// own.
const inNamespace = "WATCH_IN_NAMESPACE"

// TestN2_SystemLimit meets the system's own limit: a user namespace has one of its
// own, which is set to 8 there.
func TestN2_SystemLimit(t *testing.T) {
	if os.Getenv(inNamespace) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestN2_SystemLimit$", "-test.v")
		cmd.Env = append(os.Environ(), inNamespace+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case err != nil && !errors.As(err, &exit):
			t.Skipf("no user namespace here: %v", err)
		case err != nil:
			t.Fatalf("in the namespace: %v\n%s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	if err := os.WriteFile("/proc/sys/user/max_inotify_watches", []byte("8"), 0); err != nil {
		t.Skipf("the limit cannot be set here: %v", err)
	}
	limits := make(chan error, 10)
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("p/d%d/x", i))
	}
	r := watching(t, []string{"p"}, nil, Options{Limited: func(err error) { limits <- err }}, names...)
	r.put("p/new", "new")
	r.tells("p/new")
	r.w.Set([]string{filepath.Join(r.dir, "p", "d99")})
	r.put("p/newer", "new")
	r.tells("p/newer")
	r.w.Close()
	if err := <-limits; !errors.Is(err, syscall.ENOSPC) || len(limits) > 0 {
		t.Errorf("the limit is %v, and was told %d more times", err, len(limits))
	}
}
