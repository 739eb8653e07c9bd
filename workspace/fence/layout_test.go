package fence

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layoutOf is the layout of a session in root/p, with paths below root as "$/…".
func layoutOf(t *testing.T, root string, r Rules) *Layout {
	t.Helper()
	t.Setenv("HOME", root+"/home")
	t.Setenv("USERPROFILE", root+"/home")
	p := policy(t, root+"/p", r)
	l, err := p.Layout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	short := func(path string) string { return filepath.ToSlash(strings.Replace(path, root, "$", 1)) }
	for _, list := range [][]string{l.Writable, l.Closed, l.Pinned, l.Told} {
		for i := range list {
			list[i] = short(list[i])
		}
	}
	for i := range l.Hidden {
		l.Hidden[i].Path = short(l.Hidden[i].Path)
	}
	for i := range l.Absent {
		l.Absent[i].Path = short(l.Absent[i].Path)
	}
	return l
}

func hiddenPaths(l *Layout) (all []string) {
	for _, h := range l.Hidden {
		all = append(all, h.Path)
	}
	return all
}

func (l *Layout) absent(path string) bool {
	return slices.ContainsFunc(l.Absent, func(a Absent) bool { return a.Path == path })
}

func has(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%s lacks %s: %v", what, w, got)
		}
	}
}

func lacks(t *testing.T, what string, got []string, unwanted ...string) {
	t.Helper()
	for _, u := range unwanted {
		if slices.Contains(got, u) {
			t.Errorf("%s has %s: %v", what, u, got)
		}
	}
}

// TestLayout: the kernel is told the same as CheckWrite and CheckRead say.
func TestLayout(t *testing.T) {
	needLinks(t)
	root := tree(t, map[string]string{
		"p/a.go": "", "p/.vscode/tasks.json": "", "p/sub/.envrc": "", "p/sub/.env": "", "p/sub/.env.example": "", "p/node_modules/x/.vscode/s": "",
		"p/.github/workflows/ci.yml": "", "p/link": "-> sub", "p/a.pem": "-> $/home/notes.txt", "p/b.pem": "-> sub/cert",
		"p/sub/cert": "", "p/root.key": "-> $/p", "secret/key": "", "state/r": "", "own/config.json": "", "agent/settings": "",
		"home/.ssh/id_rsa": "", "home/.ssh/config": "", "home/.ssh/a.pub": "", "home/.gnupg/x": "", "home/.netrc": "", "home/.config/gh/hosts.yml": "",
		"home/.config/gh/config.yml": "", "home/notes.txt": "",
	})
	l := layoutOf(t, root, Rules{
		CI: true, Private: []string{root + "/secret"}, AgentConfig: []string{root + "/agent/settings", root + "/agent/none.json"},
		Own: Own{State: []string{root + "/state"}, Config: []string{root + "/own"}},
	})
	has(t, "writable", l.Writable, "$/p")
	has(t, "closed", l.Closed, "$/p/.vscode", "$/p/.github/workflows", "$/own", "$/agent/settings")
	lacks(t, "closed", l.Closed, "$/p/node_modules/x/.vscode", "$/p/a.go")
	has(t, "hidden", hiddenPaths(l), "$/secret", "$/state", "$/p/sub/.envrc", "$/p/sub/.env", "$/home/.ssh", "$/home/.gnupg", "$/home/.netrc", "$/home/.config/gh/hosts.yml")
	lacks(t, "hidden", hiddenPaths(l), "$/p/sub/.env.example", "$/home/.config/gh/config.yml", "$/home/notes.txt", "$/home/.ssh/id_rsa", "$/p")
	has(t, "hidden", hiddenPaths(l), "$/p/sub/cert")
	has(t, "told", l.Told, "$/p/.mcp.json", "$/p/.gitmodules", "$/agent/none.json")
	if !l.absent("$/p/.idea") || l.absent("$/p/.vscode") || l.absent("$/p/.git") {
		t.Errorf("absent are %v", l.Absent)
	}
	for _, h := range l.Hidden {
		if h.Path == "$/home/.ssh" && !slices.Equal(h.Open, []string{"a.pub", "config"}) {
			t.Errorf("open in .ssh are %v", h.Open)
		}
	}
}

// TestLayout_Agrees: whatever a layout lets be written and read, the policy does, for each path of a tree.
func TestLayout_Agrees(t *testing.T) {
	needLinks(t)
	root := tree(t, map[string]string{
		"p/a.go": "", "p/.vscode/tasks.json": "", "p/sub/.envrc": "", "p/sub/.env": "", "p/sub/deep/id_rsa": "", "p/x.code-workspace": "",
		"p/private/key": "", "p/out/b": "", "p/.idea/x": "", "other/c": "", "p/.VSCODE/y": "",
	})
	rules := Rules{Private: []string{root + "/p/private"}, Region: []string{"sub", "out", ".", "x.*"}}
	t.Setenv("HOME", root+"/none")
	p := policy(t, root+"/p", rules)
	l, err := p.Layout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	within := func(path string, list []string) bool {
		return slices.ContainsFunc(list, func(f string) bool { return Beneath(path, f) })
	}
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		hidden := slices.ContainsFunc(l.Hidden, func(h Hidden) bool { return Beneath(path, h.Path) })
		writes := within(path, l.Writable) && !within(path, l.Closed) && !hidden
		if got, want := writes, p.CheckWrite(path) == nil; got != want {
			t.Errorf("write %s: the kernel lets it be %v, the policy %v", path, got, want)
		}
		if got, want := !hidden, p.CheckRead(path) == nil; got != want {
			t.Errorf("read %s: the kernel lets it be %v, the policy %v", path, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLayout_Git: what acts later is closed one by one, at every depth, and git goes on writing the rest.
func TestLayout_Git(t *testing.T) {
	root := tree(t, map[string]string{
		"p/.git/HEAD": "", "p/.git/hooks/pre-commit": "", "p/.git/config": "[core]\n\thooksPath = .githooks\n[include]\n\tpath = ../team.gitconfig\n",
		"p/.githooks/pre-push": "", "p/team.gitconfig": "", "p/.git/modules/lib/dep/HEAD": "", "p/.git/modules/lib/dep/config": "",
		"p/.git/modules/lib/dep/hooks/x": "", "p/.git/worktrees/w/commondir": "../..", "p/.git/worktrees/w/gitdir": "/w/.git",
		"p/lib/dep/.git": "gitdir: ../../.git/modules/lib/dep", "p/nested/.git/hooks/x": "", "p/nested/.git/config": "",
	})
	l := layoutOf(t, root, Rules{})
	has(t, "closed", l.Closed, "$/p/.git/hooks", "$/p/.git/config", "$/p/.githooks", "$/p/team.gitconfig",
		"$/p/.git/modules/lib/dep/config", "$/p/.git/modules/lib/dep/hooks", "$/p/.git/worktrees/w/commondir", "$/p/.git/worktrees/w/gitdir",
		"$/p/lib/dep/.git", "$/p/nested/.git/hooks", "$/p/nested/.git/config")
	lacks(t, "closed", l.Closed, "$/p/.git", "$/p/.git/HEAD")
	has(t, "pinned", l.Pinned, "$/p/.git", "$/p/.git/modules", "$/p/.git/modules/lib", "$/p/.git/modules/lib/dep", "$/p/nested/.git", "$/p/.git/worktrees/w")
	for _, dir := range []string{"$/p/.git", "$/p/.git/modules/lib/dep", "$/p/nested/.git"} {
		if !l.absent(dir+"/commondir") || !l.absent(dir+"/info") {
			t.Errorf("in %s commondir and info are not held: %v", dir, l.Absent)
		}
	}
}

// TestG12_PlantedPointers: a .git file opens nothing that does not point back, or does not lie where git puts it.
func TestG12_PlantedPointers(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		open  []string // beside $/p
	}{
		"worktree": {map[string]string{
			"p/.git": "gitdir: $/main/.git/worktrees/p", "main/.git/worktrees/p/gitdir": "$/p/.git", "main/.git/worktrees/p/commondir": "../..",
			"main/.git/objects/x": "", "main/.git/refs/x": "", "main/.git/hooks/x": "", "main/.git/config": "",
		}, []string{"$/main/.git/objects", "$/main/.git/refs", "$/main/.git/worktrees/p"}},
		"submodule": {map[string]string{
			"p/.git": "gitdir: ../.git/modules/p", ".git/modules/p/config": "[core]\n\tworktree = ../../../p\n", ".git/modules/p/hooks/x": "", ".git/config": "",
		}, []string{"$/.git/modules/p"}},
		"another repository":                 {map[string]string{"p/.git": "gitdir: ../other", "other/HEAD": "", "other/objects/x": ""}, nil},
		"a worktree of another folder":       {map[string]string{"p/.git": "gitdir: ../main/.git/worktrees/q", "q/.git": "", "main/.git/worktrees/q/gitdir": "$/q/.git", "main/.git/worktrees/q/commondir": "../..", "main/.git/objects/x": ""}, nil},
		"a made-up folder that leads away":   {map[string]string{"p/.git": "gitdir: fake", "p/fake/gitdir": "../.git", "p/fake/commondir": "../../other/.git", "other/.git/objects/x": ""}, nil},
		"a made-up worktree that leads away": {map[string]string{"p/.git": "gitdir: m/worktrees/w", "p/m/worktrees/w/gitdir": "../../../.git", "p/m/worktrees/w/commondir": "../../../../other/.git", "other/.git/objects/x": ""}, nil},
		"a submodule of another folder":      {map[string]string{"p/.git": "gitdir: ../.git/modules/q", ".git/modules/q/config": "[core]\n\tworktree = ../../../q\n", "q/x": ""}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, map[string]string{})
			for file, text := range tt.files {
				path := filepath.Join(root, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "$", root)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			l := layoutOf(t, root, Rules{})
			want := append([]string{"$/p"}, tt.open...)
			slices.Sort(want)
			if !slices.Equal(l.Writable, want) {
				t.Errorf("writable are %v, want %v", l.Writable, want)
			}
			has(t, "closed", l.Closed, "$/p/.git")
		})
	}
}

// TestLayout_IsBounded: a large folder costs a bounded look, and what that left out is said.
func TestLayout_IsBounded(t *testing.T) {
	root := tree(t, map[string]string{"p/": ""})
	for i := range maxSurveyHit + 5 {
		if err := os.MkdirAll(filepath.Join(root, "p", "d"+strconv.Itoa(i), ".vscode"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l := layoutOf(t, root, Rules{})
	if len(l.Closed) != maxSurveyHit || !strings.Contains(strings.Join(l.Limits, "\n"), "more than 400") {
		t.Errorf("%d paths are closed, limits are %q", len(l.Closed), l.Limits)
	}
}
