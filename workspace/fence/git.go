package fence

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Git's own files that act later are closed to a process tree, while the rest of a git directory stays open to it: an agent's
// git adds, commits and branches. (What passes through Sallyport never writes into a .git, as no editor would.)
//
// What acts later: hooks; config and config.worktree, which name programs; info, which attaches them to files; commondir,
// which says where the other three are taken from (a planted one gives the user's next git command a configuration of the
// agent's). In git directories of worktrees and submodules also gitdir.

// cure is what an absent commondir is held with: it says what git does without one.
const cure = ".\n"

// git closes what acts later in a .git that stands at path.
func (s *survey) git(path string, e fs.DirEntry) {
	if !e.IsDir() {
		s.keep(path, e) // a pointer of a worktree or submodule, or a link
		return
	}
	s.gitDir(path)
	s.pin(filepath.Join(path, "modules"))
	s.modules(filepath.Join(path, "modules"), 0)
	s.worktrees(filepath.Join(path, "worktrees"))
	s.configured(filepath.Dir(path), filepath.Join(path, "config"))
}

func (s *survey) pin(path string) {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		s.layout.Pinned = append(s.layout.Pinned, path)
	}
}

// gitDir closes what acts later in one git directory.
func (s *survey) gitDir(dir string) {
	s.pin(dir)
	for _, name := range []string{"hooks", "info"} {
		path := filepath.Join(dir, name)
		if !s.exists(path) {
			s.hold(path)
		}
	}
	s.exists(filepath.Join(dir, "config"))
	if path := filepath.Join(dir, "config.worktree"); !s.exists(path) {
		s.layout.Told = append(s.layout.Told, path)
	}
	if path := filepath.Join(dir, "commondir"); !s.exists(path) {
		s.layout.Absent = append(s.layout.Absent, Absent{Path: path, Text: cure})
	}
}

// exists closes path if something is there.
func (s *survey) exists(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	s.keep(path, fs.FileInfoToDirEntry(info))
	return true
}

// modules closes what acts later in the git directories of submodules, which lie below .git/modules at any depth.
func (s *survey) modules(dir string, depth int) {
	const deepest = 6
	entries, err := os.ReadDir(dir)
	if err != nil || depth > deepest {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !e.IsDir() {
			continue
		}
		if _, err := os.Lstat(filepath.Join(path, "HEAD")); err == nil {
			s.hit(func() { s.gitDir(path) })
			s.worktrees(filepath.Join(path, "worktrees"))
			s.modules(filepath.Join(path, "modules"), depth+1)
			continue
		}
		s.pin(path)
		s.modules(path, depth+1)
	}
}

// worktrees closes the pointers of linked worktrees.
func (s *survey) worktrees(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	s.pin(dir)
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		s.hit(func() {
			s.pin(filepath.Join(dir, e.Name()))
			for _, name := range []string{"commondir", "gitdir", "config.worktree"} {
				s.exists(filepath.Join(dir, e.Name(), name))
			}
		})
	}
}

// gitPointer opens what git writes for a worktree or submodule whose .git file stands in base, and nothing that the file
// names without right: the git directory must point back, and lie where only git puts one.
func (s *survey) gitPointer(base string) {
	target, ok := readPointer(filepath.Join(base, ".git"), "gitdir:")
	if !ok {
		return
	}
	dir, err := filepath.EvalSymlinks(absolute(base, target))
	if err != nil || s.inWritable(dir) {
		return
	}
	if back, ok := readPointer(filepath.Join(dir, "gitdir"), ""); ok && filepath.Base(filepath.Dir(dir)) == "worktrees" {
		common := filepath.Dir(filepath.Dir(dir))
		said, ok := readPointer(filepath.Join(dir, "commondir"), "")
		if ok && samePath(absolute(dir, said), common) && samePath(absolute(dir, back), filepath.Join(base, ".git")) && s.mayOpen(common) {
			for _, name := range []string{"objects", "refs", "logs"} {
				s.open(filepath.Join(common, name))
			}
			s.open(dir)
			s.pin(dir)
			for _, name := range []string{"commondir", "gitdir", "config.worktree"} {
				s.exists(filepath.Join(dir, name))
			}
		}
		return
	}
	config := gitConfig(filepath.Join(dir, "config"))
	if tree := config["core.worktree"]; len(tree) == 1 && strings.Contains(dir, string(filepath.Separator)+".git"+string(filepath.Separator)+"modules"+string(filepath.Separator)) &&
		samePath(absolute(dir, tree[0]), base) && s.mayOpen(dir) {
		s.open(dir)
		s.gitDir(dir)
		s.modules(filepath.Join(dir, "modules"), 0)
	}
}

// mayOpen reports whether no fence but the region and the name .git stands before a git directory.
func (s *survey) mayOpen(dir string) bool {
	pl, err := resolve(parsed{comps: splitPath(dir), vol: filepath.VolumeName(dir)})
	return err == nil && !slices.ContainsFunc(s.policy.allClosed(), func(c *closed) bool { return c.holds(pl) })
}

func splitPath(path string) []string {
	p, _ := native().parseFolder(path)
	return p.comps
}

func (s *survey) open(path string) {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		s.layout.Writable = append(s.layout.Writable, path)
	}
}

// readPointer reads a small file of one line that begins with prefix.
func readPointer(path, prefix string) (string, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return "", false
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(string(raw)), prefix)
	rest = strings.TrimSpace(rest)
	return rest, ok && rest != "" && !strings.ContainsAny(rest, "\n\x00")
}

func samePath(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// configured closes what the configuration of a repository makes git run or read from the working tree: the folder of
// core.hooksPath, and included files.
func (s *survey) configured(tree, config string) {
	all := gitConfig(config)
	for _, path := range all["include.path"] {
		s.inTree(absolute(filepath.Dir(config), path))
	}
	hooks := all["core.hookspath"]
	if home, err := os.UserHomeDir(); err == nil {
		for _, file := range []string{filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git", "config")} {
			hooks = append(hooks, gitConfig(file)["core.hookspath"]...)
		}
	}
	for _, path := range hooks {
		s.inTree(absolute(tree, path))
	}
}

// inTree closes a path of the region that git acts on.
func (s *survey) inTree(path string) {
	if !s.inWritable(path) || slices.Contains(s.layout.Writable, path) {
		return
	}
	if !s.exists(path) {
		s.layout.Told = append(s.layout.Told, path)
	}
}

// gitConfig reads the values of a git configuration by "section.key", in lower case; sections with a name count as the
// section. What git would refuse to read is left out.
func gitConfig(file string) map[string][]string {
	all := map[string][]string{}
	f, err := os.Open(file)
	if err != nil {
		return all
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return all
	}
	section := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if rest, ok := strings.CutPrefix(line, "["); ok {
			head, tail, _ := strings.Cut(rest, "]")
			name, _, _ := strings.Cut(head, " ")
			section, _, _ = strings.Cut(strings.ToLower(name), ".")
			if section == "includeif" {
				section = "include"
			}
			line = strings.TrimSpace(tail)
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		if expanded, err := expandHome(value); err == nil {
			value = expanded
		}
		name := section + "." + strings.ToLower(strings.TrimSpace(key))
		all[name] = append(all[name], value)
	}
	return all
}
