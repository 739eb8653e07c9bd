package process

import (
	"bytes"
	"math"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// selfPath is the program that runs now, also when its file was replaced.
func selfPath() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}

// becomeReaper makes this process the parent of all that its descendants leave
// behind, whatever session or group they are in.
func becomeReaper() error {
	_ = os.WriteFile("/proc/self/comm", []byte(guardName), 0) // a name to read in ps, no more
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// agentAttr gives the agent a group of its own, and lets it die with the guard.
func agentAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// closeOnExec keeps all files but the first three from the agent, also those
// that our own parent left open for us.
func closeOnExec() {
	if unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	closeSomeOnExec() // Linux before 5.11
}

func dup2(from, to int) error { return unix.Dup3(from, to, 0) }

// children are all descendants of this process. As it is a reaper, they are all
// that came of the agent and are still there.
type children struct{}

func newChildren(int) children { return children{} }

// childless reports whether nothing can be left when wait says that there is no
// child: so it is for a reaper.
func (g *guard) childless() bool { return true }

func (children) signal(s syscall.Signal, spared int) {
	for _, pid := range descendants(os.Getpid()) {
		if pid != spared {
			_ = syscall.Kill(pid, s) // it may just have ended
		}
	}
}

// empty always says no: wait says it better.
func (children) empty() bool { return false }

func (children) String() string { return pidList(descendants(os.Getpid())) }

// abandon kills what can still be found of an agent whose guard was killed: the
// agent itself died with it.
func abandon(agent int) string {
	_ = syscall.Kill(-agent, syscall.SIGKILL)
	for _, pid := range descendants(agent) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return ""
}

// descendants lists all processes below root, parents first.
func descendants(root int) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var all []related
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if ppid, ok := parentOf(name); ok {
			all = append(all, related{pid: pid, parent: ppid})
		}
	}
	return below(all, root)
}

// parentOf reads the fourth field of /proc/PID/stat; the second is a name in
// parentheses that may hold anything.
func parentOf(pid string) (int, bool) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	ppid, err := strconv.Atoi(string(fields[1]))
	return ppid, err == nil
}
