package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"sallyport/workspace/fence"
)

// landlockABI asks the kernel; 0 when there is no Landlock. Lists of active modules do not tell (WSL2 has it and no list).
func landlockABI() int {
	version, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}

// config is what rules restrict, for an explicit ABI: a best effort could be no effort, and say nothing.
func (r rules) config() landlock.Config {
	var c landlock.Config
	if r.Files != nil {
		byABI := []landlock.Config{abiFiles: landlock.V2, 3: landlock.V3, 4: landlock.V4, 5: landlock.V5, 6: landlock.V6, 7: landlock.V7}
		c = byABI[min(r.ABI, len(byABI)-1)]
		c.HandledAccessNet, c.Scoped = 0, 0
	}
	if r.Scopes {
		c.Scoped = ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	if r.NoTCP {
		c.HandledAccessNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
	}
	return c
}

// restrict restricts this thread, and what it becomes.
func restrict(r rules) error {
	switch {
	case r.Files == nil && !r.Scopes && !r.NoTCP:
		return nil
	case r.Files != nil && r.ABI < abiFiles:
		return fmt.Errorf("this kernel's Landlock has version %d, and %d is needed", r.ABI, abiFiles)
	}
	c := r.config()
	fd, flags, err := c.NewRulesetFD(r.all()...)
	switch {
	case err != nil:
		return err
	case fd < 0:
		return errors.New("its rules restrict nothing")
	}
	defer unix.Close(fd)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if err := ll.LandlockRestrictSelf(fd, flags); err != nil {
		return fmt.Errorf("landlock_restrict_self: %w", err)
	}
	return nil
}

// all are the rules on files.
func (r rules) all() []landlock.Rule {
	if r.Files == nil {
		return nil
	}
	ioctl := func(rule landlock.FSRule) landlock.FSRule { return rule.WithIoctlDev() }
	devices := []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"}
	return []landlock.Rule{
		landlock.RODirs(r.Files.ReadDirs...).IgnoreIfMissing(),
		landlock.ROFiles(r.Files.ReadFiles...).IgnoreIfMissing(),
		landlock.RWDirs(r.Files.WriteDirs...).WithRefer().IgnoreIfMissing(),
		landlock.RWFiles(r.Files.WriteFiles...).IgnoreIfMissing(),
		ioctl(landlock.RWFiles(devices...)).IgnoreIfMissing(),
		ioctl(landlock.RWDirs("/dev/pts")).IgnoreIfMissing(),
		landlock.RWDirs("/dev/shm", "/proc").IgnoreIfMissing(),
	}
}

// landlockFiles are the rules of a plan. Landlock only allows, and what it allows holds for all beneath: so every sibling of
// what is hidden, and of the folders on the way there, is allowed one by one.
func landlockFiles(p *plan) (*fileRules, error) {
	f := &fileRules{}
	hide := map[string]bool{}
	way := map[string]bool{"/": true}
	for _, h := range p.layout.Hidden {
		if p.within(p.layout.Writable, h.Path) || p.within(p.needs.State, h.Path) {
			if h.Kind == fence.Private {
				return nil, fmt.Errorf("a private project lies in the folders that the agent may write, which Landlock cannot hold")
			}
			continue // a gap, see landlockGaps
		}
		hide[h.Path] = true
		for dir := filepath.Dir(h.Path); !way[dir]; dir = filepath.Dir(dir) {
			way[dir] = true
		}
	}
	for _, dir := range sorted(way) {
		if hide[dir] {
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case hide[path], way[path], e.Type()&os.ModeSymlink != 0:
			case e.IsDir():
				f.ReadDirs = append(f.ReadDirs, path)
			default:
				f.ReadFiles = append(f.ReadFiles, path)
			}
		}
	}
	for _, list := range [][]string{p.layout.Writable, p.needs.State, {p.temp}} {
		for _, path := range list {
			info, err := os.Stat(path)
			switch {
			case err != nil:
			case info.IsDir():
				f.WriteDirs = append(f.WriteDirs, path)
			default:
				f.WriteFiles = append(f.WriteFiles, path)
			}
		}
	}
	return f, nil
}

func sorted(set map[string]bool) []string {
	var all []string
	for key := range set {
		all = append(all, key)
	}
	slices.Sort(all)
	return all
}
