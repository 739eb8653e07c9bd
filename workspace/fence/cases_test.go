package fence

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func needLinks(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
}

func TestF2_LinkOutIsRefused(t *testing.T) {
	needLinks(t)
	root := tree(t, map[string]string{"p/src/n.md": "-> $/out/v.txt", "out/v.txt": "keep"})
	p := policy(t, root+"/p", Rules{Region: []string{"src"}})
	path := root + "/p/src/n.md"
	if got := try(t, p, Write, path); got != Region {
		t.Errorf("refused by %q", got)
	}
	if target, err := os.Readlink(path); err != nil || target != root+"/out/v.txt" {
		t.Errorf("link is now %q, %v", target, err)
	}
}

func TestF3_FolderLinkOutIsRefused(t *testing.T) {
	needLinks(t)
	root := tree(t, map[string]string{"p/src/sub": "-> ../../out", "out/": ""})
	p := policy(t, root+"/p", Rules{Region: []string{"src"}})
	for _, path := range []string{"/p/src/sub/a.txt", "/p/src/sub/new/a.txt", "/p/src/sub"} {
		if got := try(t, p, Write, root+path); got != Region {
			t.Errorf("write to %s: refused by %q", path, got)
		}
	}
	if left, _ := os.ReadDir(root + "/out"); len(left) != 0 {
		t.Errorf("made %v outside", left)
	}
}

func TestF4_PrivateThroughLinks(t *testing.T) {
	needLinks(t)
	root := tree(t, map[string]string{
		"q/s.txt": "Q", "r/s.txt": "R",
		"p/src/q": "-> $/q", "p/src/r": "-> ../../r", "p/src/s": "-> $/q/s.txt",
	})
	p := policy(t, root+"/p", Rules{Private: []string{root + "/q"}})
	for _, path := range []string{"/p/src/q/s.txt", "/p/src/s", "/q/s.txt", "/q/./s.txt", "/p/..//q//s.txt", "/q/none", "/q"} {
		for _, a := range []Access{Read, Write} {
			if got := try(t, p, a, root+path); got != Private {
				t.Errorf("%s of %s: refused by %q", a, path, got)
			}
		}
	}
	read := root + "/p/src/r/s.txt"
	if got := try(t, p, Read, read); got != "" {
		t.Errorf("read before: refused by %q", got)
	}
	if err := p.SetPrivate([]string{root + "/r"}); err != nil {
		t.Fatal(err)
	}
	if got := try(t, p, Read, read); got != Private {
		t.Errorf("read after: refused by %q", got)
	}
	if got := try(t, p, Read, root+"/q/s.txt"); got != "" {
		t.Errorf("read of what is no longer private: refused by %q", got)
	}
}

func TestF6_NamesFoldAlways(t *testing.T) {
	root := tree(t, map[string]string{".git/config": "", ".env": "", ".environment": "", ".gitignore": ""})
	p := policy(t, root, Rules{})
	for _, c := range []struct {
		a    Access
		path string
		want Kind
	}{
		{Write, ".git/config", Reserved},
		{Write, ".GIT/config", Reserved},
		{Write, ".Git", Reserved},
		{Write, "sub/.gIt/hooks/x", Reserved},
		{Write, ".g\u200cit/config", Reserved}, // HFS+ ignores the joiner
		{Write, ".git\ufeff/config", Reserved},
		{Write, ".g\u0131t/config", ""},           // dotless i is another letter
		{Write, ".\u017fallyport.json", Reserved}, // long s folds to s
		{Write, ".ſallyport.json", Reserved},
		{Write, ".git./config", Reserved}, // SMB strips the dot
		{Write, ".git /config", Reserved},
		{Write, ".gitignore", ""},
		{Write, ".gitattributes", ""},
		{Write, ".github/x", ""},
		{Write, "git/config", ""},
		{Read, ".git/config", ""},
		{Read, ".Env", Unreadable},
		{Read, ".env", Unreadable},
		{Read, "sub/.ENV.local", Unreadable},
		{Read, ".environment", ""},
		{Read, ".env.example", ""},
		{Read, ".env.Example", Unreadable}, // exceptions do not fold
		{Write, ".env", Unreadable},
		{Write, ".environment", ""},
		{Write, ".env.example", ""},
		{Write, ".envrc", Reserved},
		{Read, "server.PEM", Unreadable},
	} {
		if runtime.GOOS == "windows" && strings.ContainsAny(c.path[len(c.path)-1:]+c.path, " ") {
			continue
		}
		if got := try(t, p, c.a, root+"/"+c.path); got != c.want {
			t.Errorf("%s of %q: refused by %q, want %q", c.a, c.path, got, c.want)
		}
	}
}

func TestF6_AllowRulesDoNotFold(t *testing.T) {
	root := tree(t, map[string]string{"p/src/": ""})
	if foldsCase(root + "/p/src") {
		t.Skip("the volume ignores case")
	}
	p := policy(t, root+"/p", Rules{Region: []string{"src", "doc/*.md"}})
	for path, want := range map[string]Kind{"/p/src/a": "", "/p/SRC/a": Region, "/P/src/a": Region, "/p/doc/a.md": "", "/p/doc/a.MD": Region} {
		if got := try(t, p, Write, root+path); got != want {
			t.Errorf("write to %s: refused by %q, want %q", path, got, want)
		}
	}
}

func TestF7_ReservedWhetherPresentOrNot(t *testing.T) {
	for name, rules := range map[string]Rules{"no region": {}, "region": {Region: []string{"."}}, "glob": {Region: []string{"**"}}} {
		root := tree(t, map[string]string{"a/": ""})
		p := policy(t, root, rules)
		for _, path := range []string{
			".git/config", ".git/hooks/post-checkout", "a/b/.git/config", ".git", ".gitmodules", ".vscode/tasks.json",
			".idea/x", ".zed/settings.json", ".nvim.lua", ".exrc", ".envrc", ".claude/settings.json", ".mcp.json",
			".gemini/settings.json", ".codex/config.toml", ".qwen/settings.json", "opencode.json", "opencode.jsonc",
			".opencode/x", ".cursor/mcp.json", ".sallyport.json", ".sallyport-0123456789abcdef.tmp", ".helix/config.toml",
		} {
			if got := try(t, p, Write, root+"/"+path); got != Reserved {
				t.Errorf("%s: write to %s: refused by %q", name, path, got)
			}
		}
		if left, _ := os.ReadDir(root); len(left) != 1 {
			t.Errorf("%s: refused writes left %v", name, left)
		}
	}
}

func TestF10_OwnHooksAndConfigAreAllowed(t *testing.T) {
	root := tree(t, map[string]string{"hooks/": "", "config": ""})
	p := policy(t, root, Rules{CI: true, Private: []string{root + "/secret"}})
	for path, want := range map[string]Kind{"hooks/x": "", "config": "", ".git/hooks/x": Reserved} {
		if got := try(t, p, Write, root+"/"+path); got != want {
			t.Errorf("write to %s: refused by %q, want %q", path, got, want)
		}
	}
	list := p.List()
	for _, want := range []Line{
		{Private, "read and write", root + "/secret", "private project"},
		{Reserved, "write", ".git", "built in"},
		{Reserved, "write", ".github/workflows", "setting: continuous integration"},
		{Unreadable, "read and write", ".env", "default"},
		{Region, "write elsewhere", root, "folder of the session"},
	} {
		if !slices.Contains(list, want) {
			t.Errorf("the list lacks %+v", want)
		}
	}
}

// The spelling of case matters to a folding volume; here, the folder is known by its identity under another name.
func TestD4_FolderIsKnownByIdentity(t *testing.T) {
	needLinks(t)
	root := tree(t, map[string]string{"p/a.txt": "", "q/s.txt": "", "z/": ""})
	p := policy(t, root+"/p", Rules{Private: []string{root + "/q"}})
	if err := os.Rename(root+"/q", root+"/z/q2"); err != nil {
		t.Fatal(err)
	}
	if got := try(t, p, Read, root+"/z/q2/s.txt"); got != Private {
		t.Errorf("R14: read after the user renamed it: refused by %q", got)
	}
	if err := os.MkdirAll(root+"/q", 0o755); err != nil {
		t.Fatal(err)
	}
	if got := try(t, p, Read, root+"/q/s.txt"); got != Private {
		t.Errorf("R13: read after it was made anew: refused by %q", got)
	}
	if err := os.RemoveAll(root + "/z/q2"); err != nil {
		t.Fatal(err)
	}
	for range 50 { // some of them get the inode number that is free now
		dir, err := os.MkdirTemp(root+"/z", "")
		if err != nil {
			t.Fatal(err)
		}
		if got := try(t, p, Read, dir+"/x"); got != "" {
			t.Fatalf("a new folder is taken for the private one: %q", got)
		}
	}
}

func TestPrivateNested(t *testing.T) {
	root := tree(t, map[string]string{"q/sub/f": "", "q/f": "", "q/sub2/f": ""})
	inner := policy(t, root+"/q/sub", Rules{Private: []string{root + "/q"}})
	if got := try(t, inner, Read, root+"/q/f"); got != "" {
		t.Errorf("a private folder in which the session lives: refused by %q", got)
	}
	outer := policy(t, root+"/q", Rules{Private: []string{root + "/q", root + "/q/sub"}})
	for path, want := range map[string]Kind{"/q/f": "", "/q/sub/f": Private, "/q/sub2/f": ""} {
		for _, a := range []Access{Read, Write} {
			if got := try(t, outer, a, root+path); got != want {
				t.Errorf("R20: %s of %s: refused by %q, want %q", a, path, got, want)
			}
		}
	}
}

func TestOwnFolders(t *testing.T) {
	root := tree(t, map[string]string{"p/": "", "state/receipts/r": "", "config/config.json": "", "agent/settings.json": ""})
	p := policy(t, root+"/p", Rules{
		Region:      []string{root},
		Own:         Own{State: []string{root + "/state"}, Config: []string{root + "/config"}},
		AgentConfig: []string{root + "/agent/settings.json"},
	})
	for _, c := range []struct {
		a    Access
		path string
		want Kind
	}{
		{Read, "/state/receipts/r", Reserved},
		{Write, "/state/receipts/new", Reserved},
		{Read, "/config/config.json", ""},
		{Write, "/config/config.json", Reserved},
		{Write, "/config/plugins/x", Reserved},
		{Read, "/agent/settings.json", ""},
		{Write, "/agent/settings.json", Reserved},
		{Write, "/agent/other.json", ""},
	} {
		if got := try(t, p, c.a, root+c.path); got != c.want {
			t.Errorf("%s of %s: refused by %q, want %q", c.a, c.path, got, c.want)
		}
	}
}

func TestW29_LinksInsideAreFollowed(t *testing.T) {
	needLinks(t)
	root := tree(t, map[string]string{
		"p/real/f": "", "p/abs": "-> $/p/real/f", "p/dir": "-> $/p/real", "p/rel": "-> real/../real/f", "p/dangling": "-> $/p/new/x",
		"p/loop": "-> loop", "p/nowhere": "-> missing/../f", "given": "-> p",
	})
	p := policy(t, root+"/given", Rules{})
	if p.Folder() != root+"/p" {
		t.Errorf("folder %s", p.Folder())
	}
	for path, want := range map[string]string{
		"/p/abs": "/p/real/f", "/p/dir/g": "/p/real/g", "/p/rel": "/p/real/f", "/p/dangling": "/p/new/x", "/given/dir/f": "/p/real/f",
	} {
		target, err := p.Writable(root + path)
		if err != nil {
			t.Errorf("write to %s: %v", path, err)
			continue
		}
		target.Dir.Close()
		if target.Path != root+want || target.Name != filepath.Base(want) {
			t.Errorf("write to %s goes to %s", path, target.Path)
		}
	}
	for _, path := range []string{"/p/loop", "/p/nowhere"} {
		for _, a := range []Access{Read, Write} {
			if got := try(t, p, a, root+path); got != Special {
				t.Errorf("%s of %s: refused by %q", a, path, got)
			}
		}
	}
}

func TestLinksToReservedAndUnreadable(t *testing.T) {
	needLinks(t)
	root := tree(t, map[string]string{
		".git/config": "", ".env": "SECRET", "g": "-> .git", "e": "-> .env", ".envrc": "-> rc", "rc": "", "via": "-> .envrc",
	})
	p := policy(t, root, Rules{})
	for _, c := range []struct {
		a    Access
		path string
		want Kind
	}{{Write, "/g/config", Reserved}, {Read, "/e", Unreadable}, {Write, "/e", Unreadable}, {Write, "/via", Reserved}, {Read, "/g/config", ""}} {
		if got := try(t, p, c.a, root+c.path); got != c.want {
			t.Errorf("%s of %s: refused by %q, want %q", c.a, c.path, got, c.want)
		}
	}
}

// The git directory need not be called .git.
func TestF8_GitDirectoryElsewhere(t *testing.T) {
	needLinks(t)
	root := tree(t, map[string]string{
		"linked/store/config": "", "linked/.git": "-> store",
		"pointed/store/config": "", "pointed/.git": "gitdir: store\n",
		"planted/.git": "gitdir: ../other\n", "other/f": "",
	})
	for path, want := range map[string]Kind{"linked/store/config": Reserved, "pointed/store/config": Reserved, "pointed/config": "", "planted/f": ""} {
		p := policy(t, root+"/"+strings.Split(path, "/")[0], Rules{})
		if got := try(t, p, Write, root+"/"+path); got != want {
			t.Errorf("write to %s: refused by %q, want %q", path, got, want)
		}
	}
	if got := try(t, policy(t, root+"/planted", Rules{}), Write, root+"/other/f"); got == "" {
		t.Error("G12: a planted .git opened another folder")
	}
}

func TestUserKeys(t *testing.T) {
	root := tree(t, map[string]string{"h/.ssh/work": "", "h/.ssh/work.pub": "", "h/.ssh/config": "", "h/.gnupg/private-keys-v1.d/x": "", "p/": ""})
	p := policy(t, root+"/p", Rules{Unreadable: []string{"!.ssh/work", "!work", "!.gnupg"}})
	for path, want := range map[string]Kind{
		".ssh/work": Unreadable, ".SSH/Work": Unreadable, ".ssh/work.pub": "", ".ssh/config": "", ".ssh/d/key": Unreadable,
		".gnupg/private-keys-v1.d/x": Unreadable, ".env": "",
	} {
		if got := try(t, p, Read, root+"/h/"+path); got != want {
			t.Errorf("R12: read of %s: refused by %q, want %q", path, got, want)
		}
	}
}

func TestNotPlain(t *testing.T) {
	root := tree(t, map[string]string{"f": ""})
	p := policy(t, root, Rules{})
	for _, path := range []string{"", "f", "./f", "../f", "file://" + root + "/f", "~/f", root + "/f\x00", root + "/f/", "/..", "/../f", "/a/../../f"} {
		for _, a := range []Access{Read, Write} {
			if got := try(t, p, a, path); got != Special {
				t.Errorf("%s of %q: refused by %q", a, path, got)
			}
		}
	}
}

func TestRefusalIsOneSentence(t *testing.T) {
	needLinks(t)
	root := tree(t, map[string]string{"p/out": "-> ../x", "x/": "", "q/": ""})
	p := policy(t, root+"/p", Rules{Private: []string{root + "/q"}})
	for _, c := range []struct {
		a          Access
		path, want string
	}{
		{Write, root + "/p/.git/config", "write to R/p/.git/config refused by the reserved fence: .git is never written by an agent; files outside .git in R/p are allowed"},
		{Write, root + "/x/f", "write to R/x/f refused by the region fence: it is outside the write region; files in R/p are allowed"},
		{Write, root + "/p/out/f", "write to R/p/out/f refused by the region fence: it leads to R/x/f, outside the write region; files in R/p are allowed"},
		{Read, root + "/q/f", "read of R/q/f refused by the private fence: it lies in a private project; other files, such as those in R/p, are allowed"},
		{Write, root + "/q/f", "write to R/q/f refused by the private fence: it lies in a private project; other files in R/p are allowed"},
		{Read, root + "/p/.env", "read of R/p/.env refused by the unreadable fence: .env is closed to agents, as it may hold secrets; other files, such as those in R/p, are allowed"},
		{Read, "f", "read of f refused by the path fence: it is not an absolute path; a full path such as R/p/name is allowed"},
		{Read, "\x1b[2Jf", `read of ␛[2Jf refused by the path fence: it is not an absolute path; a full path such as R/p/name is allowed`},
	} {
		var r *Refusal
		check := p.CheckWrite
		if c.a == Read {
			check = p.CheckRead
		}
		if err := check(c.path); !errors.As(err, &r) || strings.ReplaceAll(err.Error(), root, "R") != c.want {
			t.Errorf("%s of %s:\n got %v\nwant %s", c.a, c.path, err, c.want)
		}
	}
}
