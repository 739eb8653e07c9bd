package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// ownFolder refuses a folder of ours that is not this user's alone.
func ownFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir() || !ok || int(st.Uid) != os.Getuid():
		return fmt.Errorf("%s is not a folder of this user", dir)
	case info.Mode().Perm()&0o077 != 0:
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// daemons are sockets through which programs would work for an agent outside its fence.
func daemons() []string {
	return []string{
		"/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock", "/run/crio/crio.sock",
		"/run/buildkit/buildkitd.sock", "/run/k3s/containerd/containerd.sock", "/run/libvirt/libvirt-sock",
		"/run/snapd.socket", "/run/snapd-snap.socket", "/var/lib/lxd/unix.socket", "/var/lib/incus/unix.socket",
		"/var/snap/lxd/common/lxd/unix.socket", "/run/systemd/private", "/run/dbus/system_bus_socket",
	}
}

// closedSockets are those that are there, by their real paths: the well-known ones, the Launcher's, and what the host's
// environment names.
func (l *Launcher) closedSockets(needed []string) []string {
	all := slices.Concat(daemons(), l.Sockets)
	for _, entry := range l.Environ {
		name, value, _ := strings.Cut(entry, "=")
		switch name {
		case "SSH_AUTH_SOCK", "GPG_AGENT_INFO", "NVIM", "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE":
			path, _, _ := strings.Cut(value, ":")
			all = append(all, path)
		case "TMUX":
			path, _, _ := strings.Cut(value, ",")
			all = append(all, path)
		case "DOCKER_HOST", "CONTAINER_HOST":
			all = append(all, strings.TrimPrefix(value, "unix://"))
		case "DBUS_SESSION_BUS_ADDRESS":
			path, _, _ := strings.Cut(strings.TrimPrefix(value, "unix:path="), ",")
			all = append(all, path)
		}
	}
	var kept []string
	for _, path := range all {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !filepath.IsAbs(path) || slices.Contains(needed, real) || slices.Contains(needed, path) {
			continue
		}
		if info, err := os.Stat(real); err == nil && info.Mode()&os.ModeSocket != 0 {
			kept = append(kept, real)
		}
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

// runtimeFolders hold the sockets of the user's session: bus, keyring, editors, compositor.
func (l *Launcher) runtimeFolders() []string {
	all := []string{"/run/user/" + strconv.Itoa(os.Getuid())}
	for _, entry := range l.Environ {
		if value, ok := strings.CutPrefix(entry, "XDG_RUNTIME_DIR="); ok && filepath.IsAbs(value) {
			all = append(all, value)
		}
	}
	var kept []string
	for _, dir := range all {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue
		}
		if info, err := os.Stat(real); err == nil && info.IsDir() && ownFolderOnly(info) {
			kept = append(kept, real)
		}
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

// ownFolderOnly reports a folder of this user that others cannot enter, as a runtime folder is.
func ownFolderOnly(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
