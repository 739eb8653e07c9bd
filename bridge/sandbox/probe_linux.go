package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// bwrapPaths are where systems put bwrap. It is never looked up on PATH, where a project could stand first.
func bwrapPaths() []string {
	return []string{"/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/wrappers/bin/bwrap", "/run/current-system/sw/bin/bwrap"}
}

// probeTime bounds the trial of bwrap.
const probeTime = 10 * time.Second

func probe(ctx context.Context) Found {
	f := Found{Best: None, Landlock: landlockABI()}
	if f.Landlock >= abiFiles {
		f.Best = Landlock
	}
	f.Program = findBwrap(bwrapPaths())
	if f.Program == "" {
		f.Refused, f.Fix = "bubblewrap is not installed", installLine()
		return f
	}
	f.Version, f.Refused = try(ctx, f.Program)
	if f.Refused == "" {
		f.Best = Bubblewrap
	} else {
		f.Fix = refusedFix()
	}
	return f
}

// findBwrap is the first of the paths that only root can change.
func findBwrap(paths []string) string {
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		if err == nil && rootsOwn(real) {
			return real
		}
	}
	return ""
}

// rootsOwn reports whether nobody but root can change the program at path, by it or by a folder above.
func rootsOwn(path string) bool {
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return false
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || st.Uid != 0 || info.Mode().Perm()&0o022 != 0 && info.Mode()&os.ModeSticky == 0 {
			return false
		}
		if at == "/" {
			return true
		}
	}
}

var versionPattern = regexp.MustCompile(`(\d+)\.(\d+)`)

// try runs bwrap with what every fence needs, to print its version from inside.
func try(ctx context.Context, program string) (version, refused string) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	args := append(base(), "--perms", "0700", "--tmpfs", "/tmp", "--remount-ro", "/tmp", "--", program, "--version")
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir = []string{}, "/"
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		if text == "" {
			text = err.Error()
		}
		first, _, _ := strings.Cut(text, "\n")
		return "", "bubblewrap is refused here: " + first
	}
	version = strings.TrimPrefix(text, "bubblewrap ")
	if m := versionPattern.FindStringSubmatch(version); m != nil {
		major, _ := strconv.Atoi(m[1]) // digits
		minor, _ := strconv.Atoi(m[2])
		if major == 0 && minor < 5 {
			return version, fmt.Sprintf("bubblewrap %s is older than 0.5", version)
		}
	}
	return version, ""
}

// installLine is the line that installs bubblewrap on this system.
func installLine() string {
	raw, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return "install bubblewrap"
	}
	text := strings.ToLower(string(raw))
	for _, known := range []struct{ word, line string }{
		{"debian", "sudo apt install bubblewrap"}, {"ubuntu", "sudo apt install bubblewrap"}, {"fedora", "sudo dnf install bubblewrap"},
		{"suse", "sudo zypper install bubblewrap"}, {"arch", "sudo pacman -S bubblewrap"}, {"alpine", "sudo apk add bubblewrap"},
	} {
		if strings.Contains(text, known.word) {
			return known.line
		}
	}
	return "install bubblewrap"
}

// refusedFix is the line that lets an installed bubblewrap work.
func refusedFix() string {
	is := func(file, value string) bool {
		raw, err := os.ReadFile(file)
		return err == nil && strings.TrimSpace(string(raw)) == value
	}
	switch {
	case is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"):
		return "sudo apt install apparmor-profiles && sudo cp /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict"
	case is("/proc/sys/kernel/unprivileged_userns_clone", "0"):
		return "sudo sysctl kernel.unprivileged_userns_clone=1"
	case is("/proc/sys/user/max_user_namespaces", "0"):
		return "sudo sysctl user.max_user_namespaces=15000"
	default:
		return ""
	}
}
