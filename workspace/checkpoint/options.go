package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Options say what a checkpoint holds. The zero value is good.
type Options struct {
	// LeaveOut are globs (path.Match) of names, at any depth, that are left out with all that is beneath them: what the user
	// ignores, such as node_modules. Empty leaves nothing out. A malformed glob is an error of Take.
	LeaveOut []string
	// MaxFile is the most bytes of a file; larger ones are left out. 0 is 32 MiB, below 0 is no limit.
	MaxFile int64
	// MaxBytes is the most bytes that one Take stores anew, about. 0 is 2 GiB, below 0 is no limit.
	MaxBytes int64
	// Limit is the longest that Take reads; what is not in by then is left out, and in the next one. 0 is 10 s, below 0 is no limit.
	Limit time.Duration
	// Ignored says what becomes of what the .gitignore files of the tree name. Setting none of git's own counts.
	Ignored IgnoredPolicy
	// Base, if not nil, is an earlier checkpoint. What it held is held again, whatever a .gitignore says now: who writes "*" into
	// one during a turn hides nothing. What is new is left out only if the .gitignore files of Base name it too.
	Base *Checkpoint
	// Texts stand beside the tree, by absolute path: those of unsaved buffers. They are part of what makes two checkpoints the same.
	Texts map[string][]byte
	// Wide is the user's word that the home folder, or a whole file system, is a project.
	Wide bool
}

// IgnoredPolicy says what becomes of ignored files and folders.
type IgnoredPolicy byte

const (
	IgnoredSmall IgnoredPolicy = iota // files up to 1 MiB are held; larger ones, and folders with all that is in them, are left out
	IgnoredAll                        // they are held like all others; no .gitignore is read
	IgnoredNone                       // they are left out
)

const smallIgnored = 1 << 20 // bytes

const (
	defaultMaxFile  = 32 << 20
	defaultMaxBytes = 2 << 30
	defaultLimit    = 10 * time.Second
)

func (o Options) withDefaults() (Options, error) {
	for _, glob := range o.LeaveOut {
		if _, err := path.Match(glob, ""); err != nil {
			return o, fmt.Errorf("reading glob %q of what is left out: %w", glob, err)
		}
	}
	o.MaxFile = orDefault(o.MaxFile, defaultMaxFile)
	o.MaxBytes = orDefault(o.MaxBytes, defaultMaxBytes)
	o.Limit = time.Duration(orDefault(int64(o.Limit), int64(defaultLimit)))
	return o, nil
}

func orDefault(n, def int64) int64 {
	switch {
	case n == 0:
		return def
	case n < 0:
		return 1<<63 - 1
	default:
		return n
	}
}

// leavesOut says whether a name is one of LeaveOut.
func (o *Options) leavesOut(name string) bool {
	for _, glob := range o.LeaveOut {
		if ok, _ := path.Match(glob, name); ok { // the globs are well formed
			return true
		}
	}
	return false
}

// machinery says whether a name is git's own, or a temporary file of ours. Such are no part of any checkpoint, and not listed.
func machinery(name string) bool {
	if name == "" || name[0] != '.' && runtime.GOOS != "windows" {
		return false
	}
	if len(name) == 4 && strings.EqualFold(name, ".git") {
		return true
	}
	if runtime.GOOS == "windows" && strings.EqualFold(name, "git~1") {
		return true
	}
	return len(name) == len(tempPrefix)+tempDigits+len(tempSuffix) && strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// As package disk names its own.
const (
	tempPrefix = ".sallyport-"
	tempSuffix = ".tmp"
	tempDigits = 16
)

// ErrTooWide says that a folder is the home folder, holds it, or is a whole file system.
var ErrTooWide = errors.New("is no project but holds everything: the user has to say so first")

// roots checks the folders of a project. They are real folders, not links; one beneath another is covered by it.
func roots(folders []string, o *Options) ([]string, error) {
	home, _ := os.UserHomeDir()
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	var out []string
	for _, f := range folders {
		if !filepath.IsAbs(f) {
			return nil, fmt.Errorf("folder %s: not absolute", f)
		}
		f = filepath.Clean(f)
		info, err := os.Lstat(f)
		if err != nil {
			return nil, fmt.Errorf("folder of the project: %w", err)
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("folder %s: %w", f, errNoFolder)
		}
		real, err := filepath.EvalSymlinks(f)
		if err != nil {
			return nil, fmt.Errorf("folder of the project: %w", err)
		}
		if _, holds := beneath(home, real); !o.Wide && (filepath.Dir(real) == real || home != "" && holds) {
			return nil, fmt.Errorf("folder %s: %w", f, ErrTooWide)
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		return nil, errors.New("no folder")
	}
	return outermost(out, o), nil
}

func outermost(folders []string, o *Options) []string {
	var out []string
	for i, f := range folders {
		covered := false
		for j, other := range folders {
			rel, ok := beneath(f, other)
			if !ok || i == j || rel == "." && i < j {
				continue
			}
			in := true
			for _, name := range strings.Split(filepath.ToSlash(rel), "/") {
				in = in && (name == "." || !machinery(name) && !o.leavesOut(name))
			}
			covered = covered || in && !o.ignores(other, filepath.ToSlash(rel)) && !o.apart(f)
		}
		if !covered {
			out = append(out, f)
		}
	}
	return out
}

// apart says whether Base has a folder as one of its own, though another is around it.
func (o *Options) apart(folder string) bool {
	return o.Base != nil && slices.ContainsFunc(o.Base.Roots, func(r Root) bool { return r.Path == folder })
}

// beneath says whether a path is a folder or in it, and how it is called from there.
func beneath(name, dir string) (string, bool) {
	rel, err := filepath.Rel(dir, name)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}
