package rules_test

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"sallyport/plugins/rules"
)

// runs lets an interpreter run a line in which no program does anything, and
// says which commands it started. Programs that start others are played.
func runs(t *testing.T, line string) (commands [][]string) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	var mu sync.Mutex // the commands of a pipe run at once
	note := func(args []string) bool {
		mu.Lock()
		defer mu.Unlock()
		commands = append(commands, slices.Clone(args))
		return len(commands) < 1000
	}
	var run func(args []string)
	var nested atomic.Int32
	shell := func(text string) {
		defer nested.Add(-1)
		if nested.Add(1) > 8 {
			return
		}
		file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
		if err != nil {
			return
		}
		r, err := interp.New(interp.Env(expand.ListEnviron("PATH=/bin", "HOME=/home/u")), interp.StdIO(strings.NewReader(""), io.Discard, io.Discard),
			interp.OpenHandler(func(context.Context, string, int, os.FileMode) (io.ReadWriteCloser, error) { return nullFile{}, nil }),
			interp.ReadDirHandler2(func(context.Context, string) ([]fs.DirEntry, error) { return nil, nil }),
			interp.StatHandler(func(context.Context, string, bool) (fs.FileInfo, error) { return nil, fs.ErrNotExist }),
			interp.CallHandler(func(ctx context.Context, args []string) ([]string, error) {
				if interp.HandlerCtx(ctx).Env.Get("PATH").String() != "/bin" {
					run([]string{"PATH changed"}) // whatever runs now may be another program
				}
				run(args)
				return args, nil
			}),
			interp.ExecHandlers(func(interp.ExecHandlerFunc) interp.ExecHandlerFunc {
				return func(_ context.Context, args []string) error { run(args); return nil }
			}))
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Run(ctx, file) // whatever it says: what it ran counts
	}
	run = func(args []string) {
		for rest := args; note(rest); {
			switch name := path.Base(rest[0]); {
			case len(rest) > 1 && (name == "nohup" || name == "setsid" || name == "exec" || name == "builtin" || name == "command" || name == "busybox"):
				rest = rest[1:]
			case len(rest) > 2 && name == "timeout" && !strings.HasPrefix(rest[1], "-"):
				rest = rest[2:]
			case len(rest) > 3 && name == "nice" && rest[1] == "-n":
				rest = rest[3:]
			case len(rest) > 1 && (name == "env" || name == "sudo"):
				for rest = rest[1:]; len(rest) > 1 && strings.Contains(rest[0], "="); rest = rest[1:] {
				}
			case len(rest) > 1 && (name == "xargs") && !strings.HasPrefix(rest[1], "-"):
				rest = rest[1:]
			case len(rest) > 3 && name == "find" && slices.Contains(rest, "-exec") && rest[len(rest)-1] != "-exec":
				rest = rest[slices.Index(rest, "-exec")+1:]
			case len(rest) > 2 && (name == "sh" || name == "bash") && rest[1] == "-c":
				shell(rest[2])
				return
			default:
				return
			}
		}
	}
	shell(line)
	mu.Lock()
	defer mu.Unlock()
	return commands
}

// TestTheOtherOpinion: the interpreter sees what it is there for.
func TestTheOtherOpinion(t *testing.T) {
	for _, line := range []string{"rm x", "X=rm; $X x", "eval 'r''m x'", "nohup sudo A=b rm x", "bash -c 'bash -c \"rm x\"'", "f() { \"$@\"; }; f rm x", "echo $(rm x) > y", "{rm,x}", "xargs rm", "ls | (rm x)"} {
		found := false
		for _, args := range runs(t, line) {
			found = found || args[0] == "rm"
		}
		if !found {
			t.Errorf("%q runs rm, which is not seen", line)
		}
	}
	if got := runs(t, "for PATH in /x; do ls; done"); len(got) == 0 || got[0][0] != "PATH changed" {
		t.Errorf("got %q, want that PATH was changed", got)
	}
}

type nullFile struct{}

func (nullFile) Read([]byte) (int, error)    { return 0, io.EOF }
func (nullFile) Write(b []byte) (int, error) { return len(b), nil }
func (nullFile) Close() error                { return nil }

// FuzzNoDeniedPartIsAllowed: no set of rules allows a line of which some part
// is denied. The other opinion is an interpreter's: what it starts is what the
// line does.
func FuzzNoDeniedPartIsAllowed(f *testing.F) {
	for _, line := range []string{
		"rm x", "ls; rm x", "ls && (rm x)", "X=rm; $X x", "echo $(rm x)", "r''m x", "r\\m x", "eval 'rm x'", "bash -c 'rm x'", "f() { \"$@\"; }; f rm x",
		"nohup timeout 5 rm x", "env A=b sudo rm x", "xargs rm", "for i in rm; do $i x; done", "{rm,x}", "cat <<E\n$(rm x)\nE", "case x in *) rm x;; esac",
		"IFS=,; X=rm,x; $X", "set -- rm x; \"$@\"", "git $X", "git push -f", "git -C x push", "git p\"u\"sh x", "X='push -f'; git $X", "${X:-rm} x",
		"if rm x; then :; fi", "while rm x; do break; done", "command rm x", "exec rm x", "/bin/rm x", "echo `rm x`", "a=b rm x", "rm x &", "[[ $(rm x) ]]", "$'rm' x", "\\\nrm x", "! rm",
		"find . -exec rm {} +", "for x in '; -exec rm {}'; do find . -exec ls $x \\;; done", "for x in '1 rm'; do env A=$x ls; done", "for x in '. push'; do git -C $x status; done", "bash -s a <<< 'rm x'", "git --shallow-file x push",
	} {
		f.Add(line, "rm:*", "git push*")
	}
	f.Fuzz(func(t *testing.T, line, first, second string) {
		if len(line) > 500 || len(first)+len(second) > 200 {
			return
		}
		deny := []string{"Bash(rm:*)", "Bash(git push:*)", "Bash(" + first + ")", "Bash(" + second + ")"}
		r, _ := rules.Parse(rules.Lists{Deny: deny, Allow: []string{"Bash", "Bash(" + first + ")"}}, rules.Source{})
		e := r.Explain(bash(line))
		if e.Say != rules.Allow {
			return
		}
		for _, p := range e.Parts {
			if p.Say != rules.Allow {
				t.Fatalf("%q is allowed, its part %q is not", line, p.Text)
			}
		}
		for _, args := range runs(t, line) {
			name := path.Base(args[0])
			if name == "rm" || name == "git" && len(args) > 1 && args[1] == "push" {
				t.Fatalf("%q is allowed and runs %q\n%v", line, args, e)
			}
		}
	})
}

// FuzzNothingElseIsAllowed: rules that allow a few programs let no other one run,
// and none after PATH was changed.
func FuzzNothingElseIsAllowed(f *testing.F) {
	for _, line := range []string{
		"ls", "for PATH in /x; do ls; done", "echo $((PATH=1)); ls", "echo ${PATH:=x}", "ls && echo $(cat x)", "f() { ls; }; f", "ls() { echo; }; ls", "timeout 5 ls", "xargs ls", "find . -exec rm {} +", "for x in rm; do $x; done",
		"nohup nice -n 5 ls", "env ls", "command ls", "bash -c ls", "echo `ls`", "cat <<E\n$(ls)\nE", "ls {PATH}>/dev/null; ls", "PATH=/x ls", "X=1", "if ls; then cat x; fi", "case x in x) ls;; esac", "{ ls; }", "ls | cat", "timeout 5 rm", "builtin echo",
	} {
		f.Add(line)
	}
	allow := []string{"ls", "echo", "cat", "find", "printf", "read", "xargs"}
	neutral := []string{"timeout", "nohup", "nice", "stdbuf", "command", "builtin", "noglob"}
	var lists rules.Lists
	for _, name := range allow {
		lists.Allow = append(lists.Allow, "Bash("+name+":*)")
	}
	r, _ := rules.Parse(lists, rules.Source{})
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > 500 || r.Decide(bash(line)).Say != rules.Allow {
			return
		}
		for _, args := range runs(t, line) {
			if !slices.Contains(allow, args[0]) && !slices.Contains(neutral, args[0]) {
				t.Fatalf("%q is allowed and runs %q\n%v", line, args, r.Explain(bash(line)))
			}
		}
	})
}

// FuzzParse: no rule, settings or request makes anything panic, and every rule
// that is left out is named.
func FuzzParse(f *testing.F) {
	for _, rule := range []string{"Bash(rm:*)", "Edit(/src/**)", "Read(~/.ssh/**)", "WebFetch(domain:*.x)", "mcp__a__*", "Bash(\\*)", "Edit([a)", "Bash(*:*)", "Edit(../..)", "Bash( )", "Edit(//)"} {
		f.Add(rule, "a")
	}
	f.Fuzz(func(t *testing.T, rule, about string) {
		r, problems := rules.Parse(rules.Lists{Deny: []string{rule}, Ask: []string{rule}, Allow: []string{rule}}, rules.Source{})
		for _, p := range problems {
			if p.Rule != rule || p.Why == "" {
				t.Fatalf("%q: got the problem %v", rule, p)
			}
		}
		if r.Len()+len(problems) != 3 {
			t.Fatalf("%q: got %d rules and %d problems, want 3", rule, r.Len(), len(problems))
		}
		for _, kind := range []string{rules.Command, rules.Edit, rules.Read, rules.Fetch, rules.MCP, rules.Tool, ""} {
			q := rules.Request{Kind: kind, Tool: about, Command: about, Paths: []string{about}, URL: about, Folder: "/p", Home: "/h"}
			_ = r.Explain(q).String()
		}
		rules.ParseClaude([]byte(about), rules.Source{})
	})
}
