package escape

import (
	"os"
	"syscall"
)

// user is who runs Sallyport in a scene.
type user struct {
	name string // "user" or "root"
	id   int
}

// ordinary is an id that nobody has.
const ordinary = 12345

// users are those that the tests can be: root can be both.
func users() []user {
	if os.Geteuid() != 0 {
		return []user{{"user", os.Geteuid()}}
	}
	return []user{{"user", ordinary}, {"root", 0}}
}

// become makes a process the user's, if the tests may.
func (u user) become() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 && u.id != 0 {
		attr.Credential = &syscall.Credential{Uid: uint32(u.id), Gid: uint32(u.id)}
	}
	return attr
}

func (u user) group() int {
	if os.Geteuid() == 0 {
		return u.id
	}
	return os.Getegid()
}
