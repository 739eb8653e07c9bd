package checkpoint

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func large() string { return strings.Repeat("x", smallIgnored+1) }

func TestIgnored(t *testing.T) {
	p := newProject(t)
	p.write(".gitignore", "node_modules/\n*.log\n!keep.log\n/out\n")
	p.write("sub/.gitignore", "!a.log\n/local\n")
	for _, name := range []string{"node_modules/m/index.js", "sub/node_modules/x", "small.log", "keep.log", "out/o", "sub/out/o", "sub/local/l", "local/l"} {
		p.write(name, name)
	}
	p.write("big.log", large())
	p.write("sub/a.log", large())
	p.link("nowhere", "link.log")
	p.settle()
	for _, test := range []struct {
		policy IgnoredPolicy
		want   string
	}{
		{IgnoredSmall, "big.log: ignored, node_modules: ignored, out: ignored, sub/local: ignored, sub/node_modules: ignored"},
		{IgnoredNone, "big.log: ignored, link.log: ignored, node_modules: ignored, out: ignored, small.log: ignored, sub/local: ignored, sub/node_modules: ignored"},
		{IgnoredAll, ""},
		{IgnoredSmall, "big.log: ignored, node_modules: ignored, out: ignored, sub/local: ignored, sub/node_modules: ignored"},
	} {
		p.now.Ignored = test.policy
		c := p.take()
		if got := reasonsOf(c.Skipped); got != test.want {
			t.Errorf("policy %d left out %s", test.policy, got)
		}
	}
	last := p.take()
	if c := p.take(); c.Stats.Read != 0 || c.Stats.Files != 7 || c.ID != last.ID {
		t.Errorf("a warm take: got %+v, checkpoint %s after %s", c.Stats, c.ID, last.ID)
	}
	p.must(p.store.Close())
	p.store = open(t, p.store.dir)
	if c := p.take(); c.Stats.Read > 1 || !slices.Equal(c.Roots, last.Roots) {
		t.Errorf("after a restart: got %+v", c.Stats)
	}
	p.write("sub/.gitignore", "/local\n") // a.log is ignored now
	if got := reasonsOf(p.take().Skipped); !strings.Contains(got, "sub/a.log") {
		t.Errorf("with other rules: left out %s", got)
	}
	p.remove(".gitignore")
	if got := reasonsOf(p.take().Skipped); got != "sub/local: ignored" {
		t.Errorf("without the rules above: left out %s", got)
	}
	p.write("node_modules/m/index.js", "changed")
	before := p.take()
	p.write("node_modules/m/index.js", "again")
	if got := p.changes(before, p.take()); !slices.Equal(got, []string{"modified node_modules/m/index.js"}) {
		t.Errorf("what is not ignored any more: got changes %q", got)
	}
}

// What the agent lets be ignored during a turn is seen and taken back.
func TestIgnoredDuringATurn(t *testing.T) {
	p := newProject(t)
	p.write(".gitignore", "/cache\n")
	p.write("cache/c", "c")
	p.write("src/f", "f")
	p.write("large", large())
	p.now.Ignored = IgnoredNone
	was := p.files()
	before := p.take()
	p.write(".gitignore", "*\n")
	p.write("src/f", "changed")
	p.write("large", large()+"y")
	p.write("new/payload", "p")
	p.write("app/.gitignore", "node_modules\n")
	p.write("app/node_modules/n", large())
	p.write("cache/c2", "c2")
	p.now.Base = before
	after := p.take()
	want := []string{"modified .gitignore", "added app", "added app/.gitignore", "added app/node_modules", "added app/node_modules/n", "modified large", "added new", "added new/payload", "modified src/f"}
	if d := cmp.Diff(want, p.changes(before, after)); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
	if got := reasonsOf(after.Skipped); got != "cache: ignored" {
		t.Errorf("left out %s", got)
	}
	p.restore(before, after)
	was["cache/c2"] = "-rw-r--r-- c2"
	p.want(was)
}

// A file in an ignored folder that a mediated write is going to change is taken up, and only that.
func TestAddIgnored(t *testing.T) {
	p := newProject(t)
	p.write(".gitignore", "dist\n")
	p.write("dist/a/f", "before")
	p.write("dist/a/other", "before")
	p.write("dist/g", "g")
	before := p.add(p.add(p.add(p.take(), "dist/a/f"), "dist/new"), "dist/g")
	was := p.files()
	p.write("dist/a/f", "after")
	p.write("dist/a/other", "by a tool")
	p.write("dist/new", "new")
	p.remove("dist/g")
	p.now.Base = before
	for range 2 { // the index is warm then
		after := p.take()
		if d := cmp.Diff([]string{"modified dist/a/f", "deleted dist/g", "added dist/new"}, p.changes(before, after)); d != "" {
			t.Errorf("changes (-want +got):\n%s", d)
		}
		if got := reasonsOf(after.Skipped); got != "dist: ignored, dist/a: ignored" {
			t.Errorf("left out %s", got)
		}
		if got := reasonsOf(p.leftOut(after)); got != "dist: ignored, dist/a: ignored" {
			t.Errorf("left out of what is stored: %s", got)
		}
	}
	p.restore(before, p.take())
	was["dist/a/other"] = "-rw-r--r-- by a tool"
	p.want(was)
	p.now.Base = nil
	p.write(".gitignore", "")
	c := p.take()
	if got := reasonsOf(c.Skipped); got != "" || p.state(c, "dist/a/other").Kind != File {
		t.Errorf("not ignored any more: left out %s", got)
	}
}

func (p *project) leftOut(c *Checkpoint) []Skipped {
	p.Helper()
	list, err := p.store.LeftOut(p.Context(), c)
	p.must(err)
	return list
}

func TestM8_DoubtAboutAGitignore(t *testing.T) {
	p := newProject(t)
	p.write("archive/old", "kept")
	p.write("archive/in/.gitignore", "*\n")
	p.write("sub/x", "x")
	p.write(".gitignore", "archive\n"+strings.Repeat("# \n", 1<<20))
	p.link(".gitignore", "sub/.gitignore")
	p.now.Ignored = IgnoredNone
	before := p.take()
	if got := reasonsOf(before.Skipped); got != "archive/in/.gitignore: ignored" {
		t.Errorf("left out %s", got)
	}
	was := p.files()
	p.write("archive/old", "changed")
	p.write("archive/new", "new")
	p.restore(before, p.take())
	p.want(was)
}

// Roots in one another are one, unless the inner one is ignored in the outer one.
func TestRootThatIsIgnored(t *testing.T) {
	p := newProject(t)
	p.write(".gitignore", "/vendor\n")
	p.write("vendor/x/f", "before")
	p.write("lib/f", "f")
	take := func() *Checkpoint {
		c, err := p.store.Take(t.Context(), []string{p.dir, p.at("vendor/x"), p.at("lib")}, p.now)
		p.must(err)
		return c
	}
	before := take()
	if len(before.Roots) != 2 || before.Roots[1].Path != p.at("vendor/x") {
		t.Fatalf("got roots %+v", before.Roots)
	}
	p.now.Base = before
	p.write(".gitignore", "")
	p.write("vendor/x/f", "after")
	after := take()
	p.restoreSome(before, after, RestoreOptions{})
	if got := p.files()["vendor/x/f"]; got != "-rw-r--r-- before" {
		t.Errorf("got %s", got)
	}
}

// With IgnoredNone, a checkpoint holds what git does not ignore.
func TestIgnoredAgainstGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git to compare with")
	}
	random := rand.New(rand.NewPCG(3, 4))
	names := []string{"a", "b", "c", "ab", "a.b"}
	parts := []string{"a", "b", "c", "*", "**", "/", "/", "?", ".b", "[ab]"}
	for round := range 60 {
		p := newProject(t)
		p.now.Ignored = IgnoredNone
		for range 60 {
			path := names[random.IntN(len(names))]
			for range random.IntN(4) {
				path += "/" + names[random.IntN(len(names))]
			}
			if os.MkdirAll(filepath.Dir(p.at(path)), 0o755) == nil {
				_ = os.WriteFile(p.at(path), []byte(path), 0o644) // where there is no folder
			}
		}
		var paths, rules []string
		for name := range p.files() {
			paths = append(paths, name)
		}
		slices.Sort(paths)
		for range 4 {
			var text strings.Builder
			for range 1 + random.IntN(4) {
				text.WriteString([]string{"", "", "!", "/"}[random.IntN(4)])
				for range 1 + random.IntN(3) {
					text.WriteString(parts[random.IntN(len(parts))])
				}
				text.WriteString("\n")
			}
			in := paths[random.IntN(len(paths))]
			if os.WriteFile(p.at(in+"/.gitignore"), []byte(text.String()), 0o644) != nil {
				in = "."
				p.write(".gitignore", text.String())
			}
			rules = append(rules, fmt.Sprintf("%s: %q", in, text.String()))
		}
		run := func(in string, args ...string) string {
			cmd := exec.Command(git, args...)
			cmd.Dir, cmd.Stdin = p.dir, strings.NewReader(in)
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
			var out bytes.Buffer
			cmd.Stdout = &out
			_ = cmd.Run() // 1 means that nothing is ignored
			return out.String()
		}
		run("", "init", "-q")
		var want []string
		for _, path := range strings.Split(run(strings.Join(paths, "\x00")+"\x00", "check-ignore", "--no-index", "--stdin", "-z"), "\x00") {
			if _, above := slices.BinarySearch(want, path); path != "" && !above && !slices.ContainsFunc(want, func(w string) bool { return strings.HasPrefix(path, w+"/") }) {
				want = append(want, path)
			}
		}
		var got []string
		for _, s := range p.take().Skipped {
			if filepath.Base(s.Path) != rulesFile {
				got = append(got, s.Path)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("round %d, rules %s (-git +ours):\n%s", round, strings.Join(rules, ", "), d)
		}
	}
}

// What git tracks is not ignored, though its rules name it. Only the list in git's index is read.
func TestTrackedIsHeld(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git to make an index with")
	}
	p := newProject(t)
	run := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command(git, args...)
		cmd.Dir = p.at(dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	run(".", "init", "-q")
	p.write("dist/in/tracked", "t")
	p.write("dist/in/other", "o")
	p.write("dist/empty/other", "o")
	p.write("large.bin", large())
	p.write("loose.bin", large())
	p.write("src/f", "f")
	p.write("nested/build/tracked", "n")
	p.write("nested/build/other", "o")
	run("nested", "init", "-q")
	run("nested", "add", ".")
	run("nested", "rm", "-q", "--cached", "build/other")
	run(".", "add", "dist/in/tracked", "large.bin", "src")
	p.write("nested/.gitignore", "build\n")
	p.write(".gitignore", "dist\n*.bin\n")
	p.mkdir("dist/in/.git") // hides nothing
	inner := &project{TB: t, dir: p.at("dist"), store: p.store}
	before := p.take()
	if got := reasonsOf(before.Skipped); got != "dist: ignored, dist/in: ignored, loose.bin: ignored, nested/build: ignored" {
		t.Errorf("left out %s", got)
	}
	for path, want := range map[string]Kind{"dist/in/tracked": File, "dist/in/other": LeftOut, "dist/empty": LeftOut, "large.bin": File, "nested/build/tracked": File, "nested/build/other": LeftOut} {
		if got := p.state(before, path); got.Kind != want {
			t.Errorf("%s is %s, want %s", path, got.Kind, want)
		}
	}
	p.now.Base = before
	p.write(".gitignore", "*\n") // and what is tracked is still seen by the turn after
	p.write("dist/in/tracked", "changed")
	p.restore(before, p.take())
	if got := p.files()["dist/in/tracked"]; got != "-rw-r--r-- t" {
		t.Errorf("got %s", got)
	}
	p.now.Base = nil
	p.write(".gitignore", "*\n")
	before = p.take()
	p.write("src/f", "changed")
	p.write("dist/in/tracked", "changed")
	p.now.Base = before
	if got := p.changes(before, p.take()); !slices.Equal(got, []string{"modified dist/in/tracked", "modified src/f"}) {
		t.Errorf("got changes %q", got)
	}
	p.now.Base = nil
	inner.write(".gitignore", "in\n") // a root within a repository
	if got := inner.state(inner.take(), "in/tracked"); got.Kind != File {
		t.Errorf("in a root beneath: %s", got.Kind)
	}
	p.write(".git/index", "no index")
	if c := p.take(); p.state(c, "dist/empty/other").Kind != File {
		t.Error("in doubt about what is tracked, what is ignored is held")
	}
}
