package fence

import (
	"path/filepath"
	"testing"
)

func TestRegions(t *testing.T) {
	root := tree(t, map[string]string{"p/packages/a/src/": "", "more/": "", "p/[x]/": ""})
	for _, c := range []struct {
		region, roots []string
		allowed       []string
		refused       []string
	}{
		{nil, nil, []string{"p/a", "p/a/b"}, []string{"more/a", "x"}},
		{nil, []string{root + "/more"}, []string{"p/a", "more/a"}, []string{"x"}},
		{[]string{"packages/*/src"}, nil, []string{"p/packages/a/src/f", "p/packages/new/src/d/f"}, []string{"p/packages/a/f", "p/packages/src", "p/f", "p/src/f"}},
		{[]string{"**/*.md"}, nil, []string{"p/a.md", "p/d/e/a.md"}, []string{"p/a.txt", "a.md"}},
		{[]string{"src/**"}, nil, []string{"p/src/a", "p/src/a/b"}, []string{"p/srcs/a", "p/a"}},
		{[]string{"[x]"}, nil, []string{"p/[x]/f"}, []string{"p/x/f"}},
		{[]string{"new/deep"}, nil, []string{"p/new/deep/f"}, []string{"p/new/f"}},
		{[]string{"file.txt"}, nil, []string{"p/file.txt"}, []string{"p/file.txt2"}},
		{[]string{root + "/more"}, nil, []string{"more/a"}, []string{"p/a"}},
		{[]string{"{a,b}/*.go"}, nil, []string{"p/a/x.go", "p/b/x.go"}, []string{"p/c/x.go", "p/a/x.c"}},
	} {
		p := policy(t, root+"/p", Rules{Region: c.region, Roots: c.roots})
		for _, path := range c.allowed {
			if got := try(t, p, Write, filepath.Join(root, path)); got != "" || !p.InRegion(filepath.Join(root, path)) {
				t.Errorf("region %q: write to %s: refused by %q", c.region, path, got)
			}
		}
		for _, path := range c.refused {
			if got := try(t, p, Write, filepath.Join(root, path)); got != Region || p.InRegion(filepath.Join(root, path)) {
				t.Errorf("region %q: write to %s: refused by %q, want the region", c.region, path, got)
			}
		}
	}
}

// A project's own file may narrow the region; that must not open what is reserved.
func TestRegionOpensNoReservedName(t *testing.T) {
	root := tree(t, map[string]string{"p/.vscode/": "", "p/sub/.claude/": ""})
	p := policy(t, root+"/p", Rules{Region: []string{".", ".vscode", ".vscode/**", "sub/.claude", "**/.envrc"}, Reserved: []string{"!.vscode", "Makefile", "db/schema"}})
	for path, want := range map[string]Kind{
		"/.vscode/tasks.json": Reserved, "/sub/.claude/settings.json": Reserved, "/.envrc": Reserved, "/d/makefile": Reserved,
		"/x/db/Schema/f": Reserved, "/db/f": "",
	} {
		if got := try(t, p, Write, root+"/p"+path); got != want {
			t.Errorf("write to %s: refused by %q, want %q", path, got, want)
		}
	}
}

func TestFolderInsideReservedName(t *testing.T) {
	root := tree(t, map[string]string{"p/.claude/worktrees/x/": "", "p/.git/worktrees/": ""})
	p := policy(t, root+"/p/.claude/worktrees/x", Rules{})
	for path, want := range map[string]Kind{"/f": "", "/.claude/settings.json": Reserved} {
		if got := try(t, p, Write, root+"/p/.claude/worktrees/x"+path); got != want {
			t.Errorf("write to %s: refused by %q, want %q", path, got, want)
		}
	}
	p = policy(t, root+"/p/.git/worktrees", Rules{})
	if got := try(t, p, Write, root+"/p/.git/worktrees/f"); got != Reserved {
		t.Errorf("write below .git: refused by %q", got)
	}
}
