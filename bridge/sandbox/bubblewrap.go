package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// Descriptors of a fence that is being made.
const (
	ordersFD = 3 // in: what the inner step is to do
	resultFD = 4 // out: what it found
	selfFD   = 5 // this program
	argsFD   = 6 // bwrap's arguments
)

// innerCommand is the hidden subcommand of the inner step.
const innerCommand = "sandbox-exec"

// sweepCommand is another: it clears away what a session that was killed left.
const sweepCommand = "sandbox-sweep"

// base are the arguments of every fence: capabilities go (as root bwrap would keep them all), file system, processes and IPC
// are private, and all ends with us. Root is called nobody inside, which changes nothing of its rights: a user namespace of
// root's without capabilities lets no other be made in it, and an agent could not have a sandbox of its own.
func base() []string {
	args := []string{"--die-with-parent", "--cap-drop", "ALL", "--unshare-user", "--unshare-pid", "--unshare-ipc"}
	if os.Geteuid() == 0 && hasName(nobody) {
		args = append(args, "--uid", nobody, "--gid", nobody)
	}
	args = append(args, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
	if os.Geteuid() == 0 {
		for _, name := range rootsProc() {
			args = append(args, "--ro-bind-try", "/proc/"+name, "/proc/"+name)
		}
	}
	return args
}

// nobody is the user that most systems have for those without rights.
const nobody = "65534"

// hasName reports whether the system's users include one: programs give up when they have no name.
func hasName(uid string) bool {
	raw, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Split(line, ":"); len(fields) > 3 && fields[2] == uid {
			return true
		}
	}
	return false
}

// rootsProc is what of /proc root writes by being root, without any capability: kernel settings such as the program that a
// crash starts, outside. bwrap closes some of it, and not sys, which it takes for read only by its mode.
func rootsProc() []string {
	return []string{"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "asound", "mtrr", "driver"}
}

// bubblewrapArgs are bwrap's arguments, without the program that it starts. They come from the plan alone.
func bubblewrapArgs(p *plan) []string {
	args := base()
	if p.network != NetworkOpen {
		args = append(args, "--unshare-net")
	}
	var last []string
	for _, m := range p.mounts() {
		switch m.rank {
		case pinned, open, state:
			args = append(args, "--bind", m.source, m.path)
		case closed, setting, shown:
			args = append(args, "--ro-bind", m.source, m.path)
		case private:
			if m.source == "" {
				args = append(args, "--perms", "0700", "--tmpfs", m.path)
			} else {
				args = append(args, "--bind", m.source, m.path)
			}
		case hidden:
			if !m.folder {
				args = append(args, "--ro-bind", m.source, m.path)
				continue
			}
			args = append(args, "--perms", m.perms(), "--tmpfs", m.path)
			for _, name := range m.keep {
				path := filepath.Join(m.path, name)
				args = append(args, "--ro-bind-try", path, path)
			}
			last = append(last, "--remount-ro", m.path)
		}
	}
	return append(args, last...)
}

// perms are those of the empty folder in place of a hidden one.
func (m mount) perms() string {
	switch {
	case len(m.keep) > 0:
		return "0500"
	case m.holds:
		return "0111" // passed through, never listed
	default:
		return "0000"
	}
}
