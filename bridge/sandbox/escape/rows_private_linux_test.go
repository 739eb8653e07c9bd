package escape

import (
	"fmt"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"
)

// private are the rows on private projects.
var private = []row{
	{id: "R01", sh: `cat ../other/f.txt`, want: works, work: true, got: done("OTHER\n"), fs: []op{{"read", "../other/f.txt", ""}}},
	{id: "R02", sh: `cat ../secret/key.txt`, want: holds, got: leaked, fs: []op{{"read", "../secret/key.txt", ""}}},
	{id: "R03", sh: `ls -A ../secret`, want: holds, got: said("key.txt"), fs: []op{{"read", "../secret", ""}}},
	{id: "R04", sh: `cat link-secret/key.txt; ln -s ../secret z; cat z/key.txt`, want: holds, got: leaked,
		fs: []op{{"read", "link-secret/key.txt", ""}, {"link", "z", "../secret"}, {"read", "z/key.txt", ""}}},
	{id: "R05", sh: `ln ../secret/key.txt k; cat k`, want: holds, got: leaked},
	{id: "R06", sh: `cat hard-secret`, want: never, got: leaked},
	{id: "R07", sh: `mv ../secret ./s; cat s/key.txt`, want: holds, got: leaked},
	{id: "R08", sh: `git clone -q ../secret c; cat c/key.txt`, want: holds, got: leaked},
	{id: "R09", sh: `echo x > ../secret/n; echo x >> ../secret/key.txt`, want: holds, got: same("projects/secret"),
		fs: []op{{"write", "../secret/n", "x"}, {"write", "../secret/key.txt", "x"}}},
	{id: "R10", sh: `stat -c size=%s ../secret/key.txt`, want: fullOnly, got: said("size=10")},
	{id: "R10 watch", sh: `$X intrude watch ../secret`, want: fullOnly, got: said("SAW"), staging: staging{meanwhile: script("echo more > ../secret/more")}},
	{id: "R11", sh: `ls .. && ls ~ && ls /`, want: works.but(landlock, refused), work: true, got: done("pub\n", "projects\n", "etc\n", ":ended 0\n")},
	{id: "R12", sh: `cat ~/.ssh/id_rsa`, want: holds, got: leaked, fs: []op{{"read", "~/.ssh/id_rsa", ""}}},
	{id: "R12 env", sh: `cat .env; cp .env e; cat e; git add -f .env && git show :.env`, want: fullOnly, got: leaked, fs: []op{{"read", ".env", ""}}, staging: staging{prepare: script("printf TOPSECRET > .env")}},
	{id: "R12 late", sh: ready + `cat .env`, want: expect{bubblewrap: gap, landlock: gap, none: gap}, got: leaked, staging: staging{meanwhile: script("printf TOPSECRET > .env")}},
	{id: "R13", sh: ready + `cat ../secret/key.txt`, want: holds.but(bubblewrap, told), got: leakedOrTold, staging: staging{tells: true, meanwhile: remade}},
	{id: "R14", sh: ready + `cat ../secret2/key.txt`, want: holds, got: said(secretWord),
		staging: staging{meanwhile: func(s *scene) { s.as("mv", s.projects("secret"), s.projects("secret2")) }}},
	{id: "R15", sh: ready + `cat ../new/x`, want: works.but(landlock, refused), work: true, got: done("NEW\n"),
		staging: staging{meanwhile: func(s *scene) { s.as("sh", "-c", "mkdir projects/new; echo NEW > projects/new/x") }}},
	{id: "R16", sh: `cat ../secret/./key.txt; cat ..//secret//key.txt; cat ` + "~" + `/projects/secret/key.txt; cat ../SECRET/KEY.TXT`, want: holds, got: leaked,
		fs: []op{{"read", "../secret/./key.txt", ""}, {"read", "..//secret//key.txt", ""}, {"read", "~/projects/secret/key.txt", ""}, {"read", "../SECRET/KEY.TXT", ""}}},
	{id: "R17", sh: `cat ../alias/key.txt`, want: holds, got: leaked, staging: staging{alone: true, prepare: aliased, not: cannotMount}},
	{id: "R18", sh: `cat ~/.qwen/s; find ~/.qwen ~/.local/state $QWEN_HOME -type f -exec cat {} +`, want: holds, got: transcripts, play: twoSessions, staging: staging{not: onlyPoorer}},
	{id: "R19", sh: `cat ~/.local/state/sallyport/receipts/r; cat ~/.local/state/sallyport/turns/t; cat ~/.local/state/sallyport/log`, want: holds, got: leaked,
		fs: []op{{"read", "~/.local/state/sallyport/receipts/r", ""}, {"read", "~/.local/state/sallyport/log", ""}}},
	{id: "R20", sh: `cat secret/key.txt; echo x > secret/n`, want: holds.but(landlock, barred), got: leaked, staging: staging{folder: "."},
		fs: []op{{"read", "secret/key.txt", ""}, {"write", "secret/n", "x"}}},
}

// remade: the user deletes the private project and makes it anew.
func remade(s *scene) {
	s.as("sh", "-c", "rm -rf projects/secret && mkdir projects/secret && printf 'TOPSECRET\\n' > projects/secret/key.txt")
}

// leakedOrTold: the secret was read; whether the user was told of the lost mask.
func leakedOrTold(s *scene) string {
	return s.orTold(said(secretWord)(s), s.projects("secret"))
}

// orTold marks what got through when the user was told of a path.
func (s *scene) orTold(what, path string) string {
	if what == "" {
		return ""
	}
	for _, n := range s.result.Told {
		if strings.Contains(n, path) {
			return toldMark + n
		}
	}
	return fmt.Sprintf("%s, and %s was not named in %q", what, path, s.result.Told)
}

// aliased mounts the private project at a second place, too.
func aliased(s *scene) {
	s.as("mkdir", s.projects("alias"))
	s.mount(s.projects("secret"), s.projects("alias"), "", unix.MS_BIND)
}

func cannotMount(string, user) string {
	if !ground.mounts {
		return "the tests may not mount here"
	}
	return ""
}

// twoSessions are a session of the private project, in which the agent keeps
// what it has read among its own files, and one of another project.
func twoSessions(s *scene) {
	s.as("mkdir", s.home(".qwen"))
	s.configure(fmt.Sprintf(`{"sandbox": %q, "fences": {"private": [%q]}}`, s.setting(), s.projects("secret")))
	s.acting("qwen", `cat key.txt > "${QWEN_HOME:-$HOME/.qwen}/s"; cat key.txt > ~/.qwen/s`)
	if r := s.turn(s.projects("secret"), "--agent", "qwen"); r.code != 0 {
		s.t.Fatalf("the session in the private project: %s", r)
	}
	if _, err := exec.Command("grep", "-rqs", secretWord, s.home(".qwen"), s.home(".local/state")).Output(); err != nil {
		s.t.Errorf("the agent kept nothing: %v: %s", err, s.text(s.projects("secret", "said")))
	}
	s.acting("qwen", s.row.sh)
	if r := s.turn(s.pub(), "--agent", "qwen"); r.code != 0 {
		s.t.Fatalf("the session elsewhere: %s", r)
	}
	s.result.Stdout = s.text(s.pub("said"))
}

func transcripts(s *scene) string { return said(secretWord)(s) }
