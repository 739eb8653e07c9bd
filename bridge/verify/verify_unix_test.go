//go:build unix

package verify_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sallyport/bridge/process"
	"sallyport/bridge/verify"
	"sallyport/workspace/receipt"
)

func options(t *testing.T) verify.Options {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return verify.Options{Dir: dir, Environ: []string{"PATH=" + os.Getenv("PATH"), "SECRET_KEY=hunter2", "HOME=/nowhere"},
		Output: filepath.Join(t.TempDir(), "receipts", "p"), Turn: "t1", Start: unfenced}
}

func unfenced(ctx context.Context, s process.Spec, _ verify.Fence) (verify.Started, error) {
	p, err := process.Start(ctx, s)
	return verify.Started{Process: p, Close: func() error { return nil }}, err
}

func sh(script string) verify.Check {
	return verify.Check{Name: "check", Argv: []string{"/bin/sh", "-c", script}}
}

func one(t *testing.T, c verify.Check, o verify.Options) receipt.Verdict {
	t.Helper()
	got := verify.Run(t.Context(), []verify.Check{c}, o)
	if len(got) != 1 {
		t.Fatalf("got %d verdicts", len(got))
	}
	return got[0]
}

func output(t *testing.T, v receipt.Verdict, o verify.Options) string {
	t.Helper()
	if v.Output == "" {
		return ""
	}
	data, err := os.ReadFile(filepath.Join(o.Output, filepath.FromSlash(v.Output)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRun(t *testing.T) {
	zero, three := 0, 3
	tests := []struct {
		name  string
		check verify.Check
		want  receipt.Verdict
		out   string
	}{
		{"passed", sh("true"), receipt.Verdict{Outcome: receipt.Passed, Exit: &zero}, ""},
		{"failed", sh("echo out; echo err >&2; exit 3"), receipt.Verdict{Outcome: receipt.Failed, Exit: &three, Output: "output/t1-1-check.txt"},
			"out\n[standard error]\nerr\n"},
		{"killed", sh("kill -9 $$"), receipt.Verdict{Outcome: receipt.Failed, Why: "ended by signal: killed"}, ""},
		{"no shell reads the line", verify.Check{Name: "check", Argv: []string{"echo", "$HOME; exit 1", "*"}},
			receipt.Verdict{Outcome: receipt.Passed, Exit: &zero, Output: "output/t1-1-check.txt"}, "$HOME; exit 1 *\n"},
		{"missing", verify.Check{Name: "check", Argv: []string{"no-such-program"}},
			receipt.Verdict{Outcome: receipt.NotRun, Why: "program no-such-program not found"}, ""},
		{"no command", verify.Check{Name: "check"}, receipt.Verdict{Outcome: receipt.NotRun, Why: "it has no command"}, ""},
		{"fault", verify.Check{Name: "check", Fault: "f", Argv: []string{"true"}}, receipt.Verdict{Outcome: receipt.NotRun, Why: "f"}, ""},
		{"its input is empty", sh("cat; echo end"), receipt.Verdict{Outcome: receipt.Passed, Exit: &zero, Output: "output/t1-1-check.txt"}, "end\n"},
		{"scrubbed environment", sh(`echo "$SECRET_KEY,$HOME"`), receipt.Verdict{Outcome: receipt.Passed, Exit: &zero, Output: "output/t1-1-check.txt"}, ",/nowhere\n"},
		{"passed environment", verify.Check{Name: "check", Argv: []string{"/bin/sh", "-c", `echo "$SECRET_KEY"`}, Pass: []string{"SECRET_KEY"}},
			receipt.Verdict{Outcome: receipt.Passed, Exit: &zero, Output: "output/t1-1-check.txt"}, "hunter2\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t)
			got := one(t, tt.check, o)
			tt.want.Name = "check"
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(receipt.Verdict{}, "Seconds")); diff != "" {
				t.Error(diff)
			}
			if got := output(t, got, o); got != tt.out {
				t.Errorf("output %q, want %q", got, tt.out)
			}
		})
	}
}

func TestFolder(t *testing.T) {
	o := options(t)
	if err := os.WriteFile(filepath.Join(o.Dir, "check.sh"), []byte("#!/bin/sh\npwd -P\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	got := one(t, verify.Check{Name: "a/../b c", Argv: []string{"./check.sh"}}, o)
	if got.Outcome != receipt.Passed || output(t, got, o) != o.Dir+"\n" || got.Output != "output/t1-1-a----b-c.txt" {
		t.Errorf("got %+v, %q", got, output(t, got, o))
	}
	info, err := os.Stat(filepath.Join(o.Output, got.Output))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestOutputIsBounded(t *testing.T) {
	o := options(t)
	got := one(t, sh(`head -c 3000000 /dev/zero | tr '\0' x; echo; echo last`), o)
	text := output(t, got, o)
	if got.Omitted != 3000006-768<<10 || len(text) > 1<<20 || !strings.HasSuffix(text, "xx\nlast\n") || !strings.HasPrefix(text, "[the first ") {
		t.Errorf("omitted %d, %d bytes kept, …%q", got.Omitted, len(text), text[max(0, len(text)-20):])
	}
}

func TestOutputGoesThroughNoLink(t *testing.T) {
	o := options(t)
	log := filepath.Join(o.Output, "2026-11.jsonl")
	name := filepath.Join(o.Output, "output", "t1-1-check.txt")
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(log, []byte("log"), 0o600), os.Symlink(log, name)); err != nil {
		t.Fatal(err)
	}
	got := one(t, sh("echo out"), o)
	if data, err := os.ReadFile(log); err != nil || string(data) != "log" || output(t, got, o) != "out\n" {
		t.Errorf("the log is %q, %v; the output %q", data, err, output(t, got, o))
	}
}

func TestOldOutputsGo(t *testing.T) {
	o := options(t)
	dir := filepath.Join(o.Output, "output")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 250 {
		name := filepath.Join(dir, fmt.Sprintf("old%03d.txt", i))
		at := time.Unix(int64(1e9+i), 0)
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chtimes(name, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	one(t, sh("echo out"), o)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 200 || left[0].Name() != "old051.txt" || left[199].Name() != "t1-1-check.txt" {
		t.Errorf("%d outputs are left, %v", len(left), err)
	}
}

// alive reads a process id from a file and says whether it lives.
func alive(t *testing.T, file string) bool {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return syscall.Kill(pid, 0) == nil
}

// A child that ignores TERM, and one in a session of its own, are gone when Run returns.
const stubborn = `trap '' TERM
sh -c 'trap "" TERM; echo $$ >self; exec sleep 300' &
if command -v setsid >/dev/null; then setsid sh -c 'trap "" TERM HUP; echo $$ >daemon; exec sleep 300' & else echo 999999 >daemon; fi
while [ ! -s daemon ] || [ ! -s self ]; do :; done
`

func TestTimeout(t *testing.T) {
	o := options(t)
	c := sh(stubborn + "echo waiting; while :; do sleep 1; done")
	c.Limit = 700 * time.Millisecond
	got := one(t, c, o)
	if got.Outcome != receipt.TimedOut || got.Why != "it took longer than 700ms" || got.Exit != nil || got.Seconds < 0.7 {
		t.Errorf("got %+v", got)
	}
	if text := output(t, got, o); text != "waiting\n" {
		t.Errorf("output %q", text)
	}
	for _, name := range []string{"self", "daemon"} {
		if alive(t, filepath.Join(o.Dir, name)) {
			t.Errorf("%s is left", name)
		}
	}
}

func TestLeftBehind(t *testing.T) {
	o := options(t)
	got := one(t, sh(stubborn+"exit 0"), o)
	if got.Outcome != receipt.Passed {
		t.Errorf("got %+v", got)
	}
	for _, name := range []string{"self", "daemon"} {
		if alive(t, filepath.Join(o.Dir, name)) {
			t.Errorf("%s is left", name)
		}
	}
}

func TestCancel(t *testing.T) {
	o := options(t)
	ctx, cancel := context.WithCancel(t.Context())
	var names []string
	o.Progress = func(name string) {
		names = append(names, name)
		go func() {
			for ctx.Err() == nil {
				if _, err := os.Stat(filepath.Join(o.Dir, "ready")); err == nil {
					cancel()
				}
			}
		}()
	}
	first := sh(stubborn + "touch ready; sleep 300")
	first.Name = "first"
	got := verify.Run(ctx, []verify.Check{first, sh("true")}, o)
	want := []receipt.Verdict{{Name: "first", Outcome: receipt.Cancelled}, {Name: "check", Outcome: receipt.Cancelled}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(receipt.Verdict{}, "Seconds")); diff != "" {
		t.Error(diff)
	}
	if !cmp.Equal(names, []string{"first"}) {
		t.Errorf("begun: %q", names)
	}
	for _, name := range []string{"self", "daemon"} {
		if alive(t, filepath.Join(o.Dir, name)) {
			t.Errorf("%s is left", name)
		}
	}
}

// A check is started as the caller says, and what holds it is taken away.
func TestStart(t *testing.T) {
	o := options(t)
	var closed bool
	o.Start = func(ctx context.Context, s process.Spec, f verify.Fence) (verify.Started, error) {
		s.Args = []string{"-c", "echo inside " + f.State[0]}
		p, err := process.Start(ctx, s)
		return verify.Started{Process: p, Kernel: "full", Close: func() error { closed = true; return nil }}, err
	}
	check := sh("echo outside")
	check.Fence.State = []string{"/cache"}
	if got := one(t, check, o); output(t, got, o) != "inside /cache\n" || got.Kernel != "full" || !closed {
		t.Errorf("got %q, %+v, closed %v", output(t, got, o), got, closed)
	}
	o.Start = func(context.Context, process.Spec, verify.Fence) (verify.Started, error) {
		return verify.Started{}, errors.New("no fence here")
	}
	if got := one(t, sh("true"), o); got.Outcome != receipt.NotRun || got.Why != "no fence here" || got.Kernel != "" {
		t.Errorf("got %+v", got)
	}
}

// Where the output cannot be kept the verdict stands all the same.
func TestOutputCannotBeKept(t *testing.T) {
	o := options(t)
	if err := os.MkdirAll(filepath.Dir(o.Output), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.Output, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := one(t, sh("echo out"), o); got.Outcome != receipt.Passed || got.Output != "" {
		t.Errorf("got %+v", got)
	}
}
