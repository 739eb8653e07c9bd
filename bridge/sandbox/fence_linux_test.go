package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sallyport/bridge/process"
	"sallyport/workspace/fence"
)

// place is a project with a private one beside it, not below /tmp.
type place struct {
	t      testing.TB
	dir    string
	region string
	*Launcher
}

func newPlace(t testing.TB) *place {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "sallyport-fence-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := removeAll(dir); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("HOME", filepath.Join(dir, "home"))
	p := &place{t: t, dir: dir, region: filepath.Join(dir, "home/p"), Launcher: &Launcher{Dir: filepath.Join(dir, "home/state/fence")}}
	for name, text := range map[string]string{
		"home/p/.git/hooks/pre-commit": "user's\n", "home/p/.git/config": "[core]\n", "home/p/.vscode/settings.json": "{}\n",
		"home/p/a.go": "package a\n", "home/p/sub/.vscode/tasks.json": "{}\n", "home/p/.env": "KEY=1\n",
		"home/secret/key.txt": "TOPSECRET\n", "home/other/f.txt": "OTHER\n", "home/.ssh/id_rsa": "PRIVATE\n", "home/.ssh/config": "Host x\n",
		"home/state/receipts/r": "RECEIPT\n",
	} {
		p.write(name, text)
	}
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// read is a file's text, "" when there is none.
func (p *place) read(name string) string {
	p.t.Helper()
	raw, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(raw)
}

func (p *place) layout() *fence.Layout {
	p.t.Helper()
	policy, err := fence.New(p.region, fence.Rules{
		Private: []string{filepath.Join(p.dir, "home/secret")}, Own: fence.Own{State: []string{filepath.Join(p.dir, "home/state")}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	l, err := policy.Layout(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return l
}

// request is for a shell's script.
func (p *place) request(backend Backend, script string) Request {
	return Request{Backend: backend, Layout: p.layout(), Program: process.Spec{
		Path: "/bin/sh", Args: []string{"-c", "exec 2>&1; " + script}, Dir: p.region,
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + filepath.Join(p.dir, "home"), "TMPDIR=/nowhere"},
	}}
}

// start starts a script; the fence is closed at the end of the test.
func (p *place) start(r Request) *Fence {
	p.t.Helper()
	if works := p.Probe(p.t.Context()); r.Backend == Bubblewrap && works.Refused != "" || r.Backend == Landlock && works.Landlock < abiFiles {
		p.t.Skipf("%s does not work here: %+v", r.Backend, works)
	}
	f, err := p.Start(p.t.Context(), r)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := errors.Join(f.Stop(context.Background(), 0), f.Close()); err != nil {
			p.t.Error(err)
		}
	})
	return f
}

// run runs a script to its end.
func (p *place) run(backend Backend, script string) (string, *Fence) {
	p.t.Helper()
	f := p.start(p.request(backend, script))
	out, err := io.ReadAll(f.Stdout)
	if err != nil {
		p.t.Fatal(err)
	}
	<-f.Gone()
	return string(out), f
}

var backends = []Backend{Bubblewrap, Landlock}

// each runs a test for each backend.
func each(t *testing.T, f func(t *testing.T, p *place, b Backend)) {
	for _, b := range backends {
		t.Run(string(b), func(t *testing.T) { f(t, newPlace(t), b) })
	}
}

// TestHeld: what every backend holds, and what it lets through, seen from outside.
func TestHeld(t *testing.T) {
	each(t, func(t *testing.T, p *place, b Backend) {
		out, f := p.run(b, `cat ../secret/key.txt ../state/receipts/r ~/.ssh/id_rsa; cat ../other/f.txt ~/.ssh/config
			echo x > ../other/n; echo x >> ../secret/key.txt; rm ../other/f.txt; echo x > n; echo x > $(mktemp)`)
		for _, secret := range []string{"TOPSECRET", "RECEIPT", "PRIVATE"} {
			if strings.Contains(out, secret) {
				t.Errorf("%s was read:\n%s", secret, out)
			}
		}
		if !strings.Contains(out, "OTHER") {
			t.Errorf("what is not closed was not read:\n%s", out)
		}
		if got := p.read("home/p/n"); got != "x\n" {
			t.Errorf("the region was not written: %q\n%s", got, out)
		}
		if p.read("home/other/n") != "" || p.read("home/other/f.txt") != "OTHER\n" || p.read("home/secret/key.txt") != "TOPSECRET\n" {
			t.Errorf("something outside was written:\n%s", out)
		}
		if r := f.Report; !r.Reads || !r.Writes || r.Reserved != (b == Bubblewrap) || (r.Level == Full) != (b == Bubblewrap) {
			t.Errorf("report %+v", r)
		}
	})
}

// TestReserved: what acts later stays as it is, by whatever trick.
func TestReserved(t *testing.T) {
	p := newPlace(t)
	out, _ := p.run(Bubblewrap, `echo evil > .git/hooks/post-commit; echo evil >> .git/config; echo ../.evil > .git/commondir; mkdir .idea/x
		mv .git g2 && cp -r g2 .git; mv .git/hooks .git/h2; echo evil > .vscode/tasks.json; rm -rf .vscode; echo evil > sub/.vscode/tasks.json
		echo evil > .git/info/attributes; cat .env; mv .env e2`)
	left, err := filepath.Glob(p.region + "/.git/hooks/*")
	if err != nil || len(left) != 1 {
		t.Errorf("hooks are %v, %v\n%s", left, err, out)
	}
	for name, want := range map[string]string{
		"home/p/.git/config": "[core]\n", "home/p/.git/hooks/pre-commit": "user's\n", "home/p/.vscode/settings.json": "{}\n",
		"home/p/.vscode/tasks.json": "", "home/p/sub/.vscode/tasks.json": "{}\n", "home/p/.env": "KEY=1\n", "home/p/.git/info/attributes": "",
	} {
		if got := p.read(name); got != want {
			t.Errorf("%s is %q, want %q\n%s", name, got, want, out)
		}
	}
	if strings.Contains(out, "KEY") {
		t.Errorf(".env was read:\n%s", out)
	}
}

// TestG14_NothingIsLeft: no ghost, no temporary folder; not after a clean end, not of a session that was killed once the
// next one comes, and not while another session needs it.
func TestG14_NothingIsLeft(t *testing.T) {
	p := newPlace(t)
	names := func() []string {
		entries, err := os.ReadDir(p.region)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, e := range entries {
			all = append(all, e.Name())
		}
		for _, name := range []string{"commondir", "info"} {
			if _, err := os.Lstat(p.region + "/.git/" + name); err == nil {
				all = append(all, name)
			}
		}
		return all
	}
	before := names()
	first, second := p.start(p.request(Bubblewrap, "cat")), p.start(p.request(Bubblewrap, "cat"))
	if len(names()) == len(before) {
		t.Fatal("nothing is held that was absent")
	}
	for _, f := range []*Fence{first, second} {
		if err := errors.Join(f.Stop(t.Context(), time.Minute), f.Close()); err != nil {
			t.Fatal(err)
		}
		if f == first && len(names()) == len(before) {
			t.Error("the end of one session took away what the other needs")
		}
	}
	if got := names(); !slices.Equal(got, before) {
		t.Errorf("left are %v, were %v", got, before)
	}
	if left, err := filepath.Glob(p.Dir + "/tmp/*"); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	// A killed session leaves its files, and no lock.
	p.write("home/state/fence/ghosts/0123", p.region+"/.idea")
	p.write("home/state/fence/tmp/9.lock", "")
	p.write("home/state/fence/tmp/9/x", "")
	if err := os.Mkdir(p.region+"/.idea", 0o755); err != nil {
		t.Fatal(err)
	}
	f := p.start(p.request(Bubblewrap, "true"))
	<-f.Gone()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := names(); !slices.Equal(got, before) {
		t.Errorf("left are %v, were %v", got, before)
	}
	if left, err := filepath.Glob(p.Dir + "/tmp/*"); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestProgram: status, signal, descriptors, capabilities, working folder and environment of what runs inside.
func TestProgram(t *testing.T) {
	each(t, func(t *testing.T, p *place, b Backend) {
		if _, f := p.run(b, "exit 42"); f.Exit() != (process.Exit{Code: 42}) {
			t.Errorf("P01: %v", f.Exit())
		}
		if _, f := p.run(b, "kill -9 $$"); f.Exit().Signal != "killed" {
			t.Errorf("P02: %v", f.Exit())
		}
		r := p.request(b, "")
		r.Program.Path = "/nowhere/program"
		var setup *SetupError
		if _, err := p.Start(t.Context(), r); !errors.Is(err, os.ErrNotExist) || errors.As(err, &setup) {
			t.Errorf("P03: %v", err)
		}
		out, _ := p.run(b, `grep -E 'NoNewPrivs|CapEff' /proc/self/status; pwd; for f in /proc/$$/fd/*; do echo fd ${f##*/}; done; env`)
		for _, want := range []string{"CapEff:\t0000000000000000\n", "NoNewPrivs:\t1\n", p.region + "\n", "fd 0\nfd 1\nfd 2\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is missing:\n%s", want, out)
			}
		}
		if strings.Contains(out, "fd 3\nfd 4") || strings.Contains(out, "/nowhere") {
			t.Errorf("descriptors or the user's temporary folder came along:\n%s", out)
		}
	})
}

// TestBrokenPromise: what does not hold inside the fence ends the start.
func TestBrokenPromise(t *testing.T) {
	each(t, func(t *testing.T, p *place, b Backend) {
		if found := p.Probe(t.Context()); b == Bubblewrap && found.Refused != "" {
			t.Skip(found.Refused)
		}
		dir, err := p.Launcher.dir()
		if err != nil {
			t.Fatal(err)
		}
		var u undo
		defer u.run()
		for what, broken := range map[string]test{
			"can be read": {readTest, "/etc/passwd", true}, "can be written": {writeTest, p.region, true}, "cannot be written": {allowedTest, "/proc", true},
		} {
			r := p.request(b, "echo ran")
			made, err := p.plan(b, r, dir, &u)
			if err != nil {
				t.Fatal(err)
			}
			o := &orders{Program: r.Program.Path, Args: r.Program.Args, Dir: p.region, Tests: []test{broken}}
			_, _, err = run(t.Context(), p.Probe(t.Context()).Program, made, o, b, r.Program)
			var setup *SetupError
			if !errors.As(err, &setup) || !strings.Contains(setup.Reason, broken.Path+" "+what) {
				t.Errorf("%s: got %v", what, err)
			}
		}
	})
}
