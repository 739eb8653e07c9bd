package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// selfPath is the program that runs now.
func selfPath() (string, error) { return os.Executable() }

// becomeReaper has no equal here: what left its group and lost its parent before
// the guard looked cannot be found again.
func becomeReaper() error { return nil }

// agentAttr gives the agent a group of its own.
func agentAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// closeOnExec keeps the files from the agent that our own parent may have left
// open for us.
func closeOnExec() { closeSomeOnExec() }

func dup2(from, to int) error { return unix.Dup2(from, to) }

// children are the agent's group, and what descends from it or from the guard.
type children struct{ agent int }

func newChildren(agent int) children { return children{agent} }

func (g *guard) childless() bool { return g.children.empty() }

func (c children) list() []int {
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	var all []related
	roots := []int{os.Getpid()}
	var found []int
	for _, p := range procs {
		r := related{pid: int(p.Proc.P_pid), parent: int(p.Eproc.Ppid)}
		all = append(all, r)
		if int(p.Eproc.Pgid) == c.agent {
			roots = append(roots, r.pid)
			found = append(found, r.pid)
		}
	}
	return append(found, below(all, roots...)...)
}

func (c children) signal(s syscall.Signal, _ int) {
	_ = syscall.Kill(-c.agent, s) // it may just have ended
	for _, pid := range c.list() {
		_ = syscall.Kill(pid, s)
	}
}

func (c children) empty() bool    { return len(c.list()) == 0 }
func (c children) String() string { return pidList(c.list()) }

// abandon kills what can still be found of an agent whose guard was killed.
func abandon(agent int) string {
	children{agent}.signal(syscall.SIGKILL, 0)
	return ""
}
