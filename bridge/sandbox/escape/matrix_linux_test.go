package escape

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sallyport/bridge/sandbox"
)

// rows of the whole table.
func rows() []row { return slices.Concat(writing, private, later, links, around, sockets, behaving) }

// beside is how many scenes are played beside each other, at least: they wait
// more than they work.
const beside = "4"

// TestMatrix plays every row for every backend and user, and asks those through
// fs/* that can be.
func TestMatrix(t *testing.T) {
	if n := flag.Lookup("test.parallel"); len(n.Value.String()) == 1 && n.Value.String() < beside {
		was := n.Value.String()
		defer func() { _ = flag.Set("test.parallel", was) }()
		if err := flag.Set("test.parallel", beside); err != nil {
			t.Fatal(err)
		}
	}
	seen := &sheet{}
	for name, alone := range map[string]bool{"rows": false, "alone": true} {
		t.Run(name, func(t *testing.T) { // waits for those that run beside each other
			for _, r := range rows() {
				if r.alone == alone {
					t.Run(strings.ReplaceAll(r.id, " ", "-"), func(t *testing.T) { playAll(t, seen, r) })
				}
			}
		})
	}
	seen.settle(t)
}

// playAll plays a row for every backend and user.
func playAll(t *testing.T, seen *sheet, r row) {
	if !r.alone {
		t.Parallel()
	}
	for _, u := range users() {
		for _, backend := range backends {
			t.Run(backend+"/"+u.name, func(t *testing.T) {
				if !r.alone {
					t.Parallel()
				}
				playRow(t, seen, r, backend, u)
			})
		}
		if len(r.fs) > 0 {
			t.Run("fs/"+u.name, func(t *testing.T) {
				t.Parallel()
				askRow(t, seen, r, u)
			})
		}
	}
}

// scopes is the first ABI of Landlock that closes signals and abstract sockets.
const scopes = 6

// missing ends a test of a backend that does not work here. In CI it has to.
func missing(t *testing.T, backend string) {
	t.Helper()
	l := sandbox.Launcher{}
	found := l.Probe(t.Context())
	why := ""
	switch {
	case backend == bubblewrap && found.Best != sandbox.Bubblewrap:
		why = found.Refused
	case backend != none && found.Landlock < scopes:
		why = fmt.Sprintf("the rows are written for a Landlock of ABI %d, this kernel has %d", scopes, found.Landlock)
	}
	if why != "" && os.Getenv("CI") == "true" {
		t.Fatalf("%s, and CI needs it", why)
	}
	if why != "" {
		t.Skip(why)
	}
}

func playRow(t *testing.T, seen *sheet, r row, backend string, u user) {
	missing(t, backend)
	if r.not != nil {
		if why := r.not(backend, u); why != "" {
			seen.notRun(r, backend, u, why)
			t.Skip(why)
		}
	}
	s := newScene(t, r, backend, u)
	if r.play != nil {
		r.play(s)
	} else {
		s.play()
	}
	got, what := s.outcome()
	if want := r.want.of(backend, u); got != want {
		t.Errorf("%s is %s (%s), want %s: %s\n%s", r.id, got, what, want, r.sh, s.result)
	}
	if s.gone(processesEnd); s.left != "" {
		t.Errorf("left: %s", s.left)
	}
	seen.put(r, backend, u, got)
}

// askRow asks a row through fs/*: it is held, whatever the backend.
func askRow(t *testing.T, seen *sheet, r row, u user) {
	s := newScene(t, r, "fs", u)
	s.ask()
	got, what := s.outcome()
	want := held
	if r.work {
		want = allowed
	}
	if got != want {
		t.Errorf("%s through fs/* is %s (%s), want %s: %v\n%s", r.id, got, what, want, r.fs, s.result)
	}
	seen.put(r, "fs", u, got)
}
