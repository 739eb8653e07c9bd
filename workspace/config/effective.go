package config

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Effective is what holds for a session in folder: the user's configuration, tightened by
// the project's file (nil: none). It only ever tightens:
//
//   - mode, permissions.policy, sandbox and network, also of single agents: the stricter of
//     both;
//   - fences.region: what lies in both; an entry of the project that does not provably lie
//     in the user's region grants nothing and is a problem;
//   - fences.reserved, unreadable, ci: both;
//   - permissions.deny and ask: both, the project's apart in Permissions.Project.
//
// The user's configuration is not changed. The problems are errors of the project's file;
// the configuration is safe to use beside them.
func Effective(user *Config, project *Project, folder string) (*Config, []Problem) {
	c := *user
	if project == nil || project.File == "" {
		return &c, nil
	}
	c.Mode = stricter(c.Mode, project.Mode, Plan, Ask, AcceptEdits, Bypass)
	c.Permissions.Policy = stricter(c.Permissions.Policy, project.Permissions.Policy, PolicyDeny, PolicyAsk, PolicyRecord)
	if p := project.Permissions; len(p.Deny)+len(p.Ask) > 0 {
		c.Permissions.Project = ProjectRules{Folder: filepath.Dir(project.File), Deny: p.Deny, Ask: p.Ask}
	}
	c.Kernel = c.Kernel.tighten(project.Kernel)
	c.Custom = maps.Clone(c.Custom)
	for id, agent := range c.Custom {
		agent.Kernel = user.KernelOf(id).tighten(project.Kernel)
		c.Custom[id] = agent
	}
	c.Fences.Reserved = slices.Concat(c.Fences.Reserved, project.Fences.Reserved)
	c.Fences.AlsoUnreadable = slices.Concat(c.Fences.AlsoUnreadable, project.Fences.Unreadable)
	c.Fences.CI = c.Fences.CI || project.Fences.CI
	if len(project.Fences.Region) == 0 {
		return &c, nil
	}
	var problems []Problem
	c.Fences.Region, problems = intersect(user.Fences.Region, project, folder)
	return &c, problems
}

// stricter gives whichever of a and b comes first in order; one that is not in it is unset.
func stricter[T ~string](a, b T, order ...T) T {
	i, j := slices.Index(order, a), slices.Index(order, b)
	if j < 0 || i >= 0 && i <= j {
		return a
	}
	return b
}

// intersect gives the region that lies in both. Folders are compared where they really are,
// so that a link in the project does not lead out of the user's region.
func intersect(user []string, project *Project, folder string) ([]string, []Problem) {
	areas := []area{whole(folder)}
	if len(user) > 0 {
		areas = nil
	}
	for _, entry := range user {
		areas = append(areas, areaOf(folder, entry))
	}
	var both []string
	var problems []Problem
	for i, entry := range project.Fences.Region {
		theirs := areaOf(filepath.Dir(project.File), entry)
		kept := false
		for _, outer := range areas {
			if path, ok := theirs.within(outer); ok {
				both, kept = append(both, path), true
			}
		}
		if !kept {
			problems = append(problems, project.problem("is not inside the region of the user's configuration, so it grants nothing",
				onlyTighten, "fences", "region", strconv.Itoa(i)))
		}
	}
	if len(both) == 0 {
		// An empty region would mean the session's folder. The project file itself is
		// reserved in every region: as the whole region it lets no write through.
		both = []string{project.File}
	}
	slices.Sort(both)
	return slices.Compact(both), problems
}

// area is an entry of a region: a folder, and the pattern below it ("": all of it).
type area struct {
	folder  string // where it really is; empty when nobody can tell
	pattern string
}

func whole(folder string) area { return area{folder: resolve(folder)} }

func areaOf(base, entry string) area {
	path := filepath.FromSlash(entry)
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	if !strings.ContainsAny(entry, globs) {
		return whole(path)
	}
	folder, pattern := doublestar.SplitPattern(filepath.ToSlash(path))
	switch pattern {
	case "*", "**", "**/*":
		pattern = ""
	}
	return area{resolve(filepath.FromSlash(folder)), pattern}
}

// globs are the characters that make a pattern of an entry.
const globs = "*?[{"

// within gives the part of a that lies in outer, as an entry of a region. It answers only
// where that is certain: not for two patterns, nor for folders whose name is a pattern.
func (a area) within(outer area) (string, bool) {
	if a.folder == "" || outer.folder == "" || strings.ContainsAny(a.folder+outer.folder, globs) ||
		slices.Contains(strings.Split(a.pattern, "/"), "..") {
		return "", false
	}
	switch {
	case outer == a, outer.pattern == "" && contains(outer.folder, a.folder):
		return a.entry(), true
	case a.pattern == "" && contains(a.folder, outer.folder):
		return outer.entry(), true
	default:
		return "", false
	}
}

func (a area) entry() string {
	if a.pattern == "" {
		return a.folder
	}
	return filepath.Join(a.folder, filepath.FromSlash(a.pattern))
}

// contains compares by component: /p does not contain /p-evil.
func contains(outer, inner string) bool {
	if runtime.GOOS == "windows" {
		outer, inner = strings.ToLower(outer), strings.ToLower(inner)
	}
	rel, err := filepath.Rel(outer, inner)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolve follows the links of the longest existing part of path. It gives "" when a
// dangling link is in the way: nobody knows where that will lead.
func resolve(path string) string {
	path = filepath.Clean(path)
	rest := ""
	for at := path; ; {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, rest)
		}
		if _, err := os.Lstat(at); err == nil {
			return ""
		}
		parent := filepath.Dir(at)
		if parent == at {
			return path
		}
		rest, at = filepath.Join(filepath.Base(at), rest), parent
	}
}
