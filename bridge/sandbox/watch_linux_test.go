package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// awaits gives what is told of path.
func (p *place) awaits(f *Fence, path string) Event {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	found := Event{}
	f.Watch(ctx, func(all []Event) {
		for _, e := range all {
			if e.Path == path {
				found = e
				cancel()
			}
		}
	})
	if found.Path == "" {
		p.t.Fatalf("nothing was told of %s", path)
	}
	return found
}

// TestWatch: masks that go, aliases that come, and reserved files that appear.
func TestWatch(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(p *place) error
		path string
		lost bool
	}{
		"an editor saves a closed file": {func(p *place) error {
			if err := os.WriteFile(p.region+"/.git/new", []byte("[core]\n"), 0o644); err != nil {
				return err
			}
			return os.Rename(p.region+"/.git/new", p.region+"/.git/config")
		}, "home/p/.git/config", true},
		"a private project is made anew": {func(p *place) error {
			return errors.Join(os.RemoveAll(p.dir+"/home/secret"), os.Mkdir(p.dir+"/home/secret", 0o755))
		}, "home/secret", true},
		"a private project is mounted elsewhere": {func(p *place) error {
			alias := filepath.Join(p.dir, "home/alias")
			if err := os.Mkdir(alias, 0o755); err != nil {
				return err
			}
			err := unix.Mount(p.dir+"/home/secret", alias, "", unix.MS_BIND, "")
			if errors.Is(err, unix.EPERM) {
				p.t.Skip("mounting needs root")
			}
			p.t.Cleanup(func() { _ = unix.Unmount(alias, unix.MNT_DETACH) })
			return err
		}, "home/alias", true},
		"a reserved file is made": {func(p *place) error {
			return os.WriteFile(p.region+"/.mcp.json", []byte("{}"), 0o644)
		}, "home/p/.mcp.json", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			f := p.start(p.request(Bubblewrap, "cat"))
			if err := tt.do(p); err != nil {
				t.Fatal(err)
			}
			if got := p.awaits(f, filepath.Join(p.dir, tt.path)); got.Lost != tt.lost {
				t.Errorf("told %+v, want lost %v", got, tt.lost)
			}
		})
	}
}

// TestWatch_IsQuiet: what users do all day is no loss.
func TestWatch_IsQuiet(t *testing.T) {
	p := newPlace(t)
	f := p.start(p.request(Bubblewrap, "cat"))
	p.write("home/p/a.go", "package b\n")
	p.write("home/p/new/x", "x")
	p.write("home/secret/more", "x")
	if err := os.Rename(p.dir+"/home/secret", p.dir+"/home/secret2"); err != nil { // its mask goes with it
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*often)
	defer cancel()
	f.Watch(ctx, func(all []Event) { t.Errorf("told %+v", all) })
}

// TestRegionOfAll: there is no fence around everything.
func TestRegionOfAll(t *testing.T) {
	each(t, func(t *testing.T, p *place, b Backend) {
		r := p.request(b, "true")
		r.Layout.Writable = []string{"/"}
		var setup *SetupError
		if _, err := p.Start(t.Context(), r); !errors.As(err, &setup) {
			t.Errorf("got %v", err)
		}
	})
}

// TestAskedToEnd: what is in a fence is asked to end before it is killed, also where asking the fence itself would kill it.
func TestAskedToEnd(t *testing.T) {
	each(t, func(t *testing.T, p *place, b Backend) {
		f := p.start(p.request(b, `trap 'echo bye > bye; exit 3' TERM; echo up; while :; do sleep 0.05; done`))
		if _, err := f.Stdout.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := f.Stop(t.Context(), 2*time.Second); err != nil {
			t.Fatal(err)
		}
		if got := p.read("home/p/bye"); got != "bye\n" || f.Exit().Code != 3 {
			t.Errorf("it left %q and ended with %v", got, f.Exit())
		}
	})
}
