//go:build unix && !linux && !darwin

package process

import (
	"os"
	"strconv"
	"syscall"
)

// selfPath is the program that runs now.
func selfPath() (string, error) { return os.Executable() }

// becomeReaper has no equal here: only the agent's group is held.
func becomeReaper() error { return nil }

// agentAttr gives the agent a group of its own.
func agentAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// closeOnExec keeps the files from the agent that our own parent may have left
// open for us.
func closeOnExec() { closeSomeOnExec() }

func dup2(from, to int) error { return syscall.Dup2(from, to) }

// children are the agent's group.
type children struct{ agent int }

func newChildren(agent int) children { return children{agent} }

func (g *guard) childless() bool { return g.children.empty() }

func (c children) signal(s syscall.Signal, _ int) { _ = syscall.Kill(-c.agent, s) }

func (c children) empty() bool { return syscall.Kill(-c.agent, 0) == syscall.ESRCH }

func (c children) String() string {
	if c.empty() {
		return ""
	}
	return "group " + strconv.Itoa(c.agent)
}

// abandon kills what can still be found of an agent whose guard was killed.
func abandon(agent int) string {
	children{agent}.signal(syscall.SIGKILL, 0)
	return ""
}
