package rules_test

import (
	"strings"
	"testing"

	"sallyport/plugins/rules"
)

// set reads rules that must be readable.
func set(t testing.TB, deny, ask, allow []string) *rules.Rules {
	t.Helper()
	r, problems := rules.Parse(rules.Lists{Deny: deny, Ask: ask, Allow: allow}, rules.Source{})
	for _, p := range problems {
		t.Fatal(p)
	}
	return r
}

func bash(command string) rules.Request {
	return rules.Request{Kind: rules.Command, Tool: "Bash", Command: command, Folder: "/p", Home: "/home/u"}
}

// says checks the verdict on each line.
func says(t *testing.T, r *rules.Rules, want rules.Say, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if e := r.Explain(bash(line)); e.Say != want {
			t.Errorf("%s\ngot %v, want %v\n%v", line, e.Say, want, e)
		}
	}
}

// TestH1_EveryPart: every part is judged; deny beats ask beats allow.
func TestH1_EveryPart(t *testing.T) {
	r := set(t, []string{"Bash(rm *)", "Bash(npm *)"}, nil, []string{"Bash(git *)", "Bash(cd *)"})
	says(t, r, rules.Deny, "git status && rm -rf x", "git log; rm x", "git log | rm x", "git log & rm x", "git log\nrm x", "cd /x && npm i")
	says(t, r, rules.Allow, "git status && git log", "cd /x; cd y", "cd /p && git status", "cd .; git log")
	says(t, r, rules.Ask, "cd /x && git status", "cd sub; git log", "cd && git log", "cd $X; git log") // another folder's settings may name commands
	asks := set(t, []string{"Bash(rm *)"}, []string{"Bash(git push *)"}, []string{"Bash(git *)"})
	says(t, asks, rules.Ask, "git push", "git status && git push origin main")
	says(t, asks, rules.Deny, "git push && rm x")
}

// TestH2_NotLetThrough: prefixes end at words, redirections are writes.
func TestH2_NotLetThrough(t *testing.T) {
	r := set(t, nil, nil, []string{"Bash(git status)"})
	says(t, r, rules.Allow, "git status", "git  status", "git status 2>&1", "git status >/dev/null 2>&1")
	says(t, r, rules.None, "git statusfoo", "git status > ~/.bashrc", "git status <(id)", "git status -s")
	prefix := set(t, nil, nil, []string{"Bash(git status:*)"})
	says(t, prefix, rules.Allow, "git status", "git status -s")
	says(t, prefix, rules.None, "git statusfoo", "git status > ~/.bashrc", "git status <(id)", "git status >> x")
	if got := r.Decide(bash("git status > ~/.bashrc")).Writes; len(got) != 1 || got[0] != "~/.bashrc" {
		t.Errorf("got writes %q, want ~/.bashrc", got)
	}
	empty, _ := rules.Parse(rules.Lists{}, rules.Source{})
	says(t, empty, rules.None, "python x.py", "npm i", "git status")
}

// TestH3_BehindAssignments: commands behind assignments, -c and eval.
func TestH3_BehindAssignments(t *testing.T) {
	r := set(t, nil, []string{"Bash(psql *)"}, []string{"Bash(*)"})
	says(t, r, rules.Ask, "PGHOST=db psql -c x", `bash -c "psql -c x"`, "eval 'psql -c x'")
	says(t, r, rules.Allow, "PGHOST=db ls", `bash -c "ls"`)
}

// TestH4_BehindFindAndXargs: commands that others are given.
func TestH4_BehindFindAndXargs(t *testing.T) {
	r := set(t, []string{"Bash(rm *)"}, nil, []string{"Bash(*)"})
	says(t, r, rules.Deny, "printf x | xargs rm", "find . -exec rm {} +")
	says(t, r, rules.Ask, "find . -delete")
	says(t, r, rules.Allow, "printf x | xargs ls", "find . -name '*.go'", "find . -exec ls {} +")
}

// TestH5_NeutralWrappers: both kinds of rule judge the inner command.
func TestH5_NeutralWrappers(t *testing.T) {
	r := set(t, []string{"Bash(git push*)"}, nil, []string{"Bash(git *)"})
	says(t, r, rules.Deny, "timeout 5 git push", "nohup git push")
	says(t, r, rules.Allow, "nice -n 5 git log", "timeout -k 1 5 nohup git log", "time git log", "stdbuf -oL git log")
	says(t, r, rules.None, "/tmp/timeout 5 git log", "env X=1 git log", "sudo git log", "X=1 timeout 5 git log")
	says(t, set(t, nil, nil, []string{"Bash(timeout *)"}), rules.None, "timeout 5 git log")
}

// TestG7_AskBeforeAllow: what asks is heard before what allows, however narrow
// that is.
func TestG7_AskBeforeAllow(t *testing.T) {
	r := set(t, nil, []string{"Bash(ssh *)"}, []string{"Bash(ssh h ls)"})
	says(t, r, rules.Ask, "ssh h ls", "timeout 5 ssh h ls")
}

func TestDenySeesThrough(t *testing.T) {
	r := set(t, []string{"Bash(rm:*)"}, nil, []string{"Bash"})
	says(t, r, rules.Deny,
		"rm", "rm x", "/bin/rm x", `\rm x`, `r\m x`, `r''m x`, `'rm' x`, `"rm" x`, "RM x", "rm.exe x", "../bin/rm x",
		"(rm x)", "{ rm x; }", "echo $(rm x)", "echo `rm x`", `echo "$(rm x)"`, "cat <(rm x)", "tee >(rm x)", "X=$(rm x)", "X=1 rm x",
		"if true; then rm x; fi", "for i in 1; do rm $i; done", "while rm x; do :; done", "case x in x) rm x;; esac", "! rm x", "rm x &",
		"f() { rm x; }; f", "f() ( rm x ); f", "alias ls='rm x'", "trap 'rm x' EXIT", "[[ $(rm x) ]]", "echo $(( $(rm x) ))", "echo ${x:-$(rm x)}",
		"sudo rm x", "sudo -u root rm x", "sudo -u root FOO=1 rm x", "doas rm x", "env rm x", "env -i A=b rm x", "env -u A rm x", "env - rm x",
		"command rm x", "command -p rm x", "builtin rm x", "exec rm x", "exec -a ls rm x", "time rm x", "time -p rm x", "/usr/bin/time -f x rm x",
		"nohup nice -n 5 timeout -s KILL 5 stdbuf -o0 sudo env A=b rm x", "nice -5 rm x", "setsid rm x", "busybox rm x", "ionice -c 3 rm x",
		"bash -c 'rm x'", "sh -ec 'rm x'", `bash -c "bash -c 'rm x'"`, "bash -o errexit -c 'rm x'", "bash <<< 'rm x'", "bash <<'E'\nrm x\nE", "bash <<E\nrm x\nE", "env bash -c 'rm x'",
		"eval rm x", "eval 'rm' x", "eval -- 'rm x'", "xargs -0 -n 1 rm", "xargs -I{} rm {}", "find . -execdir rm {} \\;", "find . -ok rm {} ';' -print",
		"cat <<E\n$(rm x)\nE", "coproc rm x", "rm x\nif", "echo a; rm x; echo )", "x=(a $(rm x))", "rm\\\n x", "export X=$(rm x)", "ls && ls || rm x", "ls|&rm x")
}

func TestUnclearIsAsked(t *testing.T) {
	r := set(t, []string{"Bash(rm:*)"}, nil, []string{"Bash"})
	says(t, r, rules.Ask,
		"$X x", "r$X x", "$(echo rm) x", "`echo rm` x", "{rm,-rf,x}", "r?m x", "/bin/r* x", "rm$IFS-rf", "$'\\x72m' x", "'rm x'", "=rm x", `"" x`,
		"echo rm x | sh", "bash -s", "bash $X", "bash <(echo rm x)", "bash -c \"$X\"", "eval $X", "eval \"$(cat x)\"", ". <(echo rm x)", "source /dev/stdin",
		"sudo -s", "sudo --weird rm x", "sudo $X rm x", "timeout $T rm x", "find . $X", "find . -delete", "xargs $X rm", "xargs sh -c '$0 x'", "xargs -I % sh -c 'rm %'",
		"f() { \"$@\"; }; f rm x", "alias ls=foo", "git -c alias.x='!rm x' x", "git -c core.pager='rm x' log", "git --config-env=alias.x=Y x", "git -C /x -c core.pager=rm log", "- rm x", "env X=1 -i rm x", "time -- rm x",
		"echo ${x@P}", "printf -v 'a[$(rm x)]' 1", "(( a['$(rm x)'] ))", "let 'a[$(rm x)]'", "ls *(e:'rm x':)", "if", "echo 'x", "ls\x00", "ls\r", "ls \x1b[2J",
		strings.Repeat("a ", 10000), "trap \"$X\" EXIT", "bash <<E\n$X\nE", "export 'a[$(rm x)]=1'")
	says(t, set(t, nil, []string{"Edit(/x)"}, nil), rules.None, "$X x") // nothing is about commands
	says(t, set(t, nil, []string{"Edit(/x)"}, nil), rules.Ask, "ls > $X")
}

func TestMightBeDenied(t *testing.T) {
	r := set(t, []string{"Bash(git push:*)", "Bash(rm -rf:*)"}, nil, []string{"Bash"})
	says(t, r, rules.Ask, "git $X", "git $X push", "git p*sh", "git {push,x}", "git \"$X\" origin", "rm $X", "rm -$X x")
	says(t, r, rules.Allow, "git status $X", "git commit -m \"$X\"", "echo $X", "rm x $Y", "git show HEAD@{1}", "git switch -c x", "git -c user.name='a b' -c color.ui=always log")
	says(t, r, rules.Deny, "git -C /x push", "git -c a=b --no-pager push -f", "git 'push'", "git push $X")
}

func TestAllowIsExact(t *testing.T) {
	r := set(t, nil, nil, []string{"Bash(npm test:*)", "Bash(git log *)", "Bash(go vet ./...)", "Bash(git commit -m \"fix it\")", "Bash(* --version)", "Bash(echo:*)", "Bash(sudo ls)"})
	says(t, r, rules.Allow, "npm test", "npm test -- -u", "timeout 5 npm test", "git log", "git log -n 1 | npm test", "go vet ./...", "go --version",
		"git commit -m 'fix it'", "'npm' test", "echo $(npm test)", "echo $X", "sudo ls", "npm test || echo no", "xargs npm test", "npm test < x", "echo <<E\nx\nE")
	says(t, r, rules.None, "npm testx", "npm run test", "FOO=1 npm test", "PATH=/x; npm test", "env npm test", "/x/npm test", "npm 'test x'", "./npm test", "NPM test",
		"go vet ./..", "go vet ./... x", "git commit -m fix it", "npm test; x", "npm test > out", "npm test 2> out", "npm test &> out", "npm test >| out", "npm test <> out", "npm test >&out",
		"npm test | tee x", "echo $(x)", "npm test # x\nrm y", "xargs -n 1 npm test", "find . -exec npm test {} +", "bash -c 'npm test'", "", "# npm test", "export X=1")
}

func TestEmptyLine(t *testing.T) {
	says(t, set(t, []string{"Bash"}, nil, nil), rules.Deny, "", "# x", "ls", "ls > x")
	says(t, set(t, nil, []string{"Bash"}, []string{"Bash(ls)"}), rules.Ask, "", "ls")
}

func TestCutLine(t *testing.T) {
	r := set(t, []string{"Bash(rm:*)"}, nil, []string{"Bash"})
	for line, want := range map[string]rules.Say{"ls; echo '": rules.Ask, "rm x; ls": rules.Deny, "ls": rules.Ask, "": rules.Ask} {
		q := bash(line)
		q.Cut = true
		if got := r.Decide(q); got.Say != want {
			t.Errorf("%q, cut: got %v, want %v", line, got.Say, want)
		}
	}
}

func TestRuleOfALine(t *testing.T) {
	r := set(t, []string{"Bash(curl * | sh)", `Bash(psql * drop table*)`}, nil, []string{"Bash"})
	says(t, r, rules.Deny, "curl -s x | sh", "curl -s x|sh", "curl x |\n sh", "psql -c 'drop table x'")
	says(t, r, rules.Allow, "curl -s x")
}

// TestFilesOfCommands: what a line reads and writes meets Edit and Read.
func TestFilesOfCommands(t *testing.T) {
	r := set(t, []string{"Edit(//etc/**)", "Read(~/.ssh/**)", "Edit(.env)"}, nil, []string{"Bash"})
	says(t, r, rules.Deny, "echo x > /etc/passwd", "echo x >> ../etc/passwd", "cat < ~/.ssh/id", "cat ~/.ssh/id", "echo | tee /etc/x", "rm /etc/x", "echo > a/.env", "cp x .env", "sed -i s/a/b/ .env")
	says(t, r, rules.Ask, "echo x > $X")
	says(t, r, rules.Allow, "cat x", "ls /etc")
	says(t, r, rules.None, "echo x > y")
	says(t, set(t, []string{"Edit", "Read"}, nil, []string{"Bash"}), rules.Allow, "cat x", "rm x")
}

func TestExplain(t *testing.T) {
	r, _ := rules.Parse(rules.Lists{Deny: []string{"Bash(rm:*)"}, Allow: []string{"Bash(git status)"}}, rules.Source{Name: "config.json"})
	e := r.Explain(bash("git status && sudo rm -rf x > y; foo"))
	want := `deny by Bash(rm:*) of config.json: rm -rf x
  allow by Bash(git status) of config.json: git status
  none: > y: it writes a file, which no allow rule of a command covers
  none: sudo rm -rf x: no rule names what it runs
  deny by Bash(rm:*) of config.json: rm -rf x
  none: foo: no rule is about it
`
	if e.String() != want {
		t.Errorf("got\n%s\nwant\n%s", e, want)
	}
	var none *rules.Rules
	if got := none.Decide(bash("ls")); got.Say != rules.None {
		t.Errorf("no rules: got %v", got)
	}
}
