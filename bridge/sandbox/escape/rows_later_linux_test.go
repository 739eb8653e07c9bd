package escape

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// later are the rows on files of the region that act later.
var later = []row{
	{id: "G01", sh: `set -e; echo a > x; git add x; git commit -qm one; git checkout -qb side; echo b >> x; git stash -q; git stash pop -q; git commit -qam two
git checkout -q main; echo c > y; git add y; git commit -qm three; git merge -q -m merged side; git tag v1; git gc -q; git status --porcelain; git fsck`,
		want: works, work: true, got: merged},
	{id: "G01 secret", sh: `set -e; echo b >> README; git stash -q; git stash pop -q; git commit -qam one`, want: works, work: true, got: succeeded,
		staging: staging{prepare: func(s *scene) { s.do(`git add -f .envrc; git commit -qm tracked`) }}},
	{id: "G02", sh: `echo evil > .git/hooks/x; ln -s /x .git/hooks/y; echo evil > h; chmod +x h; mv h .git/hooks/z; chmod 777 .git/hooks/pre-commit`, want: fullOnly, got: same("projects/pub/.git/hooks"),
		fs: []op{{"write", ".git/hooks/x", "evil"}}},
	{id: "G02 path", sh: `echo evil > .husky/pre-commit; echo evil > .husky/x; mv .husky h`, want: fullOnly, got: same("projects/pub/.husky"),
		staging: staging{prepare: script("mkdir .husky; echo mine > .husky/pre-commit; git config core.hooksPath .husky")}},
	{id: "G03", sh: `git config core.hooksPath /x; printf '[core]\nhooksPath = /x\n' >> .git/config; printf '[core]\n' > c2; mv c2 .git/config`, want: fullOnly, got: same("projects/pub/.git/config"),
		fs: []op{{"write", ".git/config", "evil"}}},
	{id: "G03 more", sh: `printf '[core]\nhooksPath = /x\n' >> more.gitconfig; printf 'x' > m; mv m more.gitconfig`, want: fullOnly, got: same("projects/pub/more.gitconfig"),
		staging: staging{prepare: script("printf '[core]\\n' > more.gitconfig; git config include.path ../more.gitconfig")}},
	{id: "G04", sh: `mv .git/hooks .git/h2; mkdir .git/hooks; echo evil > .git/hooks/pre-commit`, want: fullOnly, got: same("projects/pub/.git/hooks")},
	{id: "G05", sh: `mv .git g2; cp -r g2 .git; echo evil > .git/hooks/pre-commit`, want: fullOnly, got: same("projects/pub/.git/hooks")},
	{id: "G05 deep", sh: `mv lib l2; cp -r l2 lib; echo x > lib/deep/.vscode/tasks.json`, want: fullOnly.but(bubblewrap, told), got: movedFolders,
		staging: staging{tells: true, prepare: script("mkdir -p lib/deep/.vscode; echo {} > lib/deep/.vscode/tasks.json")}},
	{id: "G06", sh: `echo x > .vscode/settings.json; echo x > .vscode/tasks.json; echo x > .envrc; echo x > e; mv e .envrc; rm -rf .vscode .envrc`, want: fullOnly,
		got: same("projects/pub/.vscode", "projects/pub/.envrc"), fs: []op{{"write", ".vscode/settings.json", "x"}, {"write", ".vscode/tasks.json", "x"}, {"write", ".envrc", "x"}}},
	{id: "G07", sh: `mkdir .idea; echo x > .idea/workspace.xml; echo x > .mcp.json; echo x > .gitmodules`, want: expect{bubblewrap: told, landlock: told, none: gap},
		got: plantedFiles, fs: []op{{"write", ".idea/workspace.xml", "x"}, {"write", ".mcp.json", "x"}, {"write", ".gitmodules", "x"}}, staging: staging{tells: true}},
	{id: "G08", sh: `git init -q sub; echo evil > sub/.git/hooks/pre-commit`, want: expect{bubblewrap: told, landlock: told, none: told}, got: nested, play: oneTurn, staging: staging{not: onlyPoorer}},
	{id: "G09", sh: `mkdir -p .evil/hooks; cp .git/config .evil/; echo ../.evil > .git/commondir`, want: fullOnly, got: commondir},
	{id: "G10", sh: ready + `echo x > .envrc`, want: expect{bubblewrap: told, landlock: told, none: gap}, got: saved, staging: staging{tells: true, meanwhile: func(s *scene) {
		s.as("sh", "-c", "cd projects/pub; echo saved > .envrc.tmp; mv .envrc.tmp .envrc")
	}}},
	{id: "G11", sh: `set -e; echo a > x; git add x; git commit -qm one`, want: works, work: true, got: linked, staging: staging{folder: "tree", prepare: worktree}},
	{id: "G11 main", sh: `cd ../pub; echo x > .git/hooks/x; echo x >> .git/config; echo x > README; echo x > .git/info/exclude`, want: holds,
		got: same("projects/pub/.git/hooks", "projects/pub/.git/config", "projects/pub/README", "projects/pub/.git/info"), staging: staging{folder: "tree", prepare: worktree}},
	{id: "G11 sub", sh: `set -e; cd mod; echo a > x; git add x; git commit -qm one; cd ..; git add mod; git commit -qm two`, want: works, work: true, got: succeeded, staging: staging{prepare: submodule}},
	{id: "G11 hooks", sh: `echo x > .git/modules/mod/hooks/x; echo x >> .git/modules/mod/config; mv .git/modules .git/m; cp -r .git/m .git/modules; echo ../../.. > .git/modules/mod/commondir; cd mod; git config core.hooksPath /x`, want: fullOnly,
		got: same("projects/pub/.git/modules/mod/hooks", "projects/pub/.git/modules/mod/config"), staging: staging{prepare: submodule}},
	{id: "G12", sh: `echo x > ../other/n.txt; echo x > ../other/objects/n; echo x > ../other/refs/n`, want: holds, got: outside, staging: staging{prepare: pointer}},
	{id: "G13", sh: `echo x > ~/.local/share/agent/settings.json; echo x > ~/.local/share/agent/plugins/p; echo x > s; mv s ~/.local/share/agent/settings.json`, want: fullOnly,
		got: same(".local/share/agent/settings.json", ".local/share/agent/plugins")},
	{id: "G13 new", sh: `echo x > ~/.local/share/agent/plugins/p; echo x > ~/.local/share/agent/settings.json`, want: expect{bubblewrap: told, landlock: told, none: gap}, got: newSettings,
		staging: staging{tells: true, prepare: func(s *scene) { s.as("rm", "-rf", ".local/share/agent/settings.json", ".local/share/agent/plugins") }}},
	{id: "G13 rest", sh: `echo x > ~/.local/share/agent/n && mkdir ~/.local/share/agent/d`, want: works, work: true, got: succeeded},
	{id: "G14", sh: `ls -A > /dev/null`, want: anyway, got: leftovers},
	{id: "G14 killed", sh: `: > ready; exec sleep 1000`, want: anyway, got: leftovers, staging: staging{raw: true, meanwhile: killBridge, dies: true}},
	{id: "G14 two", sh: ready + `echo x > .idea/w; echo x > .git/hooks/x; echo ../.evil > .git/commondir`, want: fullOnly, got: stillHeld, staging: staging{meanwhile: anotherSession}},
	{id: "G14 next", sh: `: > ready; exec sleep 1000`, want: anyway, got: leftoversNext, staging: staging{raw: true, meanwhile: killBridge, dies: true}},
}

// links are those where a held name is a link, which no mount can stand on.
var links = []row{
	{id: "G05 link", sh: `echo evil > .git/hooks/x; echo x >> .git/config; echo x > .git/x; git log --oneline | grep -q first && echo SHOWN`, want: holds, got: same("projects/repo"), staging: staging{prepare: linkedGit}},
	{id: "G05 relink", sh: `rm .git; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit`, want: expect{bubblewrap: told, landlock: gap, none: gap}, got: relinked(".git"), staging: staging{tells: true, prepare: linkedGit}},
	{id: "G06 link", sh: `echo x > .vscode/settings.json; echo x > vs/tasks.json`, want: fullOnly, got: same("projects/pub/vs"), staging: staging{prepare: script("mv .vscode vs; ln -s vs .vscode")}},
	{id: "G06 relink", sh: `rm .vscode; mkdir .vscode; echo x > .vscode/tasks.json`, want: expect{bubblewrap: told, landlock: gap, none: gap}, got: relinked(".vscode"), staging: staging{tells: true, prepare: script("mv .vscode vs; ln -s vs .vscode")}},
}

// linkedGit makes .git a link to another folder's.
func linkedGit(s *scene) { s.do("mkdir ../repo; mv .git ../repo; ln -s ../repo/.git .git") }

// relinked: a link was replaced.
func relinked(name string) func(*scene) string {
	return func(s *scene) string { return s.orTold(s.changed("projects/pub/"+name), s.pub(name)) }
}

// TestF8_HeldNamesAreLinks: a session starts all the same, and what a link leads
// to is held.
func TestF8_HeldNamesAreLinks(t *testing.T) {
	for _, r := range links {
		t.Run(r.id, func(t *testing.T) { playRow(t, &sheet{}, r, bubblewrap, users()[0]) })
	}
}

// merged: the repository has what was done in it, and its hooks and settings
// as before.
func merged(s *scene) string {
	if seen := succeeded(s); seen != "" {
		return seen + ": " + s.result.Stdout
	}
	for _, name := range []string{"x", "y"} {
		if _, err := os.Stat(s.pub(name)); err != nil {
			return err.Error()
		}
	}
	return s.changed("projects/pub/.git/hooks", "projects/pub/.git/config")
}

// plantedFiles: a folder that was not there is refused; a file that was not
// there is made, and named.
func plantedFiles(s *scene) string {
	if seen := s.changed("projects/pub/.idea/workspace.xml"); seen != "" && s.backend == bubblewrap {
		return seen
	}
	var seen []string
	for _, name := range []string{".mcp.json", ".gitmodules", ".idea"} {
		if what := s.changed("projects/pub/" + name); what != "" {
			what = s.orTold(what, name)
			if !strings.HasPrefix(what, toldMark) {
				return what
			}
			seen = append(seen, what)
		}
	}
	return strings.Join(seen, "; ")
}

func nested(s *scene) string {
	return s.orTold(s.changed("projects/pub/sub/.git/hooks"), s.pub("sub"))
}

func commondir(s *scene) string {
	if data, err := os.ReadFile(s.pub(".git", "commondir")); err == nil && strings.TrimSpace(string(data)) != "." {
		return fmt.Sprintf("commondir is %q", data)
	}
	return ""
}

// saved: the agent wrote over what the user has saved. That Landlock does not
// hold reserved files is told from the start.
func saved(s *scene) string {
	if got := s.text(s.pub(".envrc")); got != "saved\n" {
		if gaps := strings.Join(s.result.Report.Gaps, "; "); strings.Contains(gaps, "reserved files inside the region") {
			return toldMark + gaps
		}
		return s.orTold(fmt.Sprintf(".envrc is %q", got), ".envrc")
	}
	return ""
}

// worktree makes projects/tree, a linked worktree of pub.
func worktree(s *scene) { s.as("git", "-C", s.pub(), "worktree", "add", "-q", "../tree") }

func linked(s *scene) string {
	if seen := succeeded(s); seen != "" {
		return seen + ": " + s.result.Stdout
	}
	return s.changed("projects/pub/.git/hooks", "projects/pub/.git/config", "projects/pub/README")
}

// movedFolders: what was held is elsewhere, and something else in its place.
func movedFolders(s *scene) string {
	return s.orTold(s.changed("projects/pub/lib/deep/.vscode"), s.pub("lib/deep/.vscode"))
}

// submodule makes pub/mod, a submodule with a hook.
func submodule(s *scene) {
	s.do(`git init -q -b main ../lib; git -C ../lib -c user.name=x -c user.email=x@example.invalid commit -q --allow-empty -m first
git -c protocol.file.allow=always submodule --quiet add ../lib mod 2>&1; git commit -qm submodule
git -C mod config user.name Somebody; git -C mod config user.email somebody@example.invalid; mkdir -p .git/modules/mod/hooks; rm -f .git/modules/mod/hooks/*; echo mine > .git/modules/mod/hooks/pre-commit`)
}

// newSettings: settings that were not there were made.
func newSettings(s *scene) string {
	if seen := s.changed(".local/share/agent/plugins/p"); seen != "" && s.backend == bubblewrap {
		return seen
	}
	return s.orTold(s.changed(".local/share/agent/settings.json"), s.home(".local/share/agent/settings.json"))
}

// pointer plants a .git that leads to another folder, which is dressed up as a
// repository.
func pointer(s *scene) {
	s.do(`rm -rf .git; echo "gitdir: ../other" > .git; cd ../other; mkdir objects refs; echo "ref: refs/heads/main" > HEAD`)
}

// killBridge kills the bridge while the command runs.
func killBridge(s *scene) {
	if err := s.bridge.Process.Kill(); err != nil {
		s.t.Error(err)
	}
}

// cleaned is how soon after its end, or a SIGKILL, nothing of a fence may be
// left on disk.
const cleaned = 5 * time.Second

// leftovers: files or folders of a fence are left in the fixture, after a
// moment for those who clean up.
func leftovers(s *scene) string {
	s.gone(cleaned)
	for end := time.Now().Add(cleaned); ; time.Sleep(20 * time.Millisecond) {
		if left := leftNow(s); left == "" || time.Now().After(end) {
			return left
		}
	}
}

func leftNow(s *scene) string {
	for _, name := range []string{"ready", "go"} {
		_ = os.Remove(filepath.Join(s.folder(), name))
	}
	seen := s.changed("projects", ".config", ".local/share", ".ssh", ".bashrc")
	if temporary, _ := filepath.Glob(s.home(".local/state/sallyport/fences/tmp/*")); len(temporary) > 0 {
		seen += fmt.Sprintf("; %q is left", temporary)
	}
	return strings.TrimPrefix(seen, "; ")
}

// leftoversNext are those that are left when a session has begun and ended in
// another folder.
func leftoversNext(s *scene) string {
	s.gone(5 * time.Second)
	next := *s
	next.row = row{id: s.row.id, sh: "true", staging: staging{folder: "other"}}
	next.play()
	if next.result.Refused != "" {
		s.t.Errorf("the next session: %s", next.result.Refused)
	}
	return leftovers(s)
}

// anotherSession begins and ends in the same folder.
func anotherSession(s *scene) {
	another := *s
	another.row = row{id: s.row.id, sh: "true"}
	another.play()
	if another.result.Exit != "exit status 0" {
		s.t.Errorf("the other session: %s", another.result)
	}
}

// stillHeld: the end of the other session opened nothing, and nothing is left.
func stillHeld(s *scene) string {
	return anyOf(same("projects/pub/.git/hooks", "projects/pub/.idea/w"), commondir, leftovers)(s)
}
