package config

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

func open(t *testing.T, file string) (*Store, chan State) {
	t.Helper()
	states := make(chan State, 16)
	s := Open(Paths{Config: file}, nil, func(s State) { states <- s })
	t.Cleanup(s.Close)
	return s, states
}

// next waits for the state that want accepts.
func next(t *testing.T, states chan State, want func(State) bool) State {
	t.Helper()
	for {
		select {
		case s := <-states:
			if want(s) {
				return s
			}
		case <-t.Context().Done():
			t.Fatal("the store found no change")
		}
	}
}

func put(t *testing.T, file, text string) {
	t.Helper()
	temp := file + ".new"
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temp, file); err != nil {
		t.Fatal(err)
	}
}

// N1 for this file: it is replaced by rename, twice, and both are noticed; a broken file
// keeps the last good configuration.
func TestStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sub", "config.json")
	s, states := open(t, file)
	if st := s.State(); st.Config.Mode != Ask || !st.Known || st.Err != nil {
		t.Fatalf("without a file: %+v", st)
	}
	put(t, file, `{"mode": "plan"}`)
	next(t, states, func(s State) bool { return s.Config.Mode == Plan })
	put(t, file, `{"mode": "plam"}`)
	st := next(t, states, func(s State) bool { return s.Err != nil })
	var broken *Broken
	if !errors.As(st.Err, &broken) || st.Config.Mode != Plan || len(st.Problems) != 1 || !st.Known {
		t.Errorf("a broken file: %+v; want the last good one and a problem", st)
	}
	put(t, file, `{"mode": "acceptEdits"}`)
	next(t, states, func(s State) bool { return s.Err == nil && s.Config.Mode == AcceptEdits })
	if err := os.WriteFile(file, []byte(`{"mode": "plan" }`), 0o600); err != nil { // in place
		t.Fatal(err)
	}
	next(t, states, func(s State) bool { return s.Err == nil && s.Config.Mode == Plan })
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	next(t, states, func(s State) bool { return s.Config.Mode == Ask })
	if s.Current().Mode != Ask {
		t.Errorf("Current: %+v", s.Current())
	}
}

func TestStoreFollowsLink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	real := filepath.Join(dir, "real", "dotfile")
	put(t, real, `{}`)
	if err := os.Mkdir(filepath.Join(dir, "config"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "config", "config.json")
	if err := os.Symlink(real, file); err != nil {
		t.Skip(err)
	}
	_, states := open(t, file)
	put(t, real, `{"mode": "plan"}`)
	next(t, states, func(s State) bool { return s.Config.Mode == Plan })
}

func TestStoreNeverGood(t *testing.T) {
	paths := write(t, `{"fences": {"private": "/q"}}`)
	s, states := open(t, paths.Config)
	if st := s.State(); st.Known || st.Err == nil || st.Config.Mode != Ask {
		t.Errorf("%+v; want the defaults, not known", st)
	}
	put(t, paths.Config, `{"fences": {"private": ["/q"]}}`)
	if st := next(t, states, func(s State) bool { return s.Err == nil }); !st.Known {
		t.Errorf("%+v; want known", st)
	}
}

func TestStoreReload(t *testing.T) {
	paths := write(t, `{}`)
	s := Open(paths, nil, nil)
	defer s.Close()
	put(t, paths.Config, `{"mode": "plan"}`)
	if st := s.Reload(); st.Config.Mode != Plan {
		t.Errorf("Reload: %+v", st)
	}
}

// A burst of events is one reload, after it is over.
func TestStoreDebounces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		paths := write(t, `{}`)
		events := make(chan fsnotify.Event)
		done := make(chan struct{})
		loads := 0
		s := &Store{paths: paths, log: slog.New(slog.DiscardHandler), changed: func(State) { loads++ }}
		go func() {
			defer close(done)
			s.follow(t.Context(), events, nil)
		}()
		for i := range 10 {
			put(t, paths.Config, `{"maxAgents": `+string(rune('1'+i%9))+`}`)
			events <- fsnotify.Event{Name: paths.Config, Op: fsnotify.Write}
			time.Sleep(settle / 2)
		}
		events <- fsnotify.Event{Name: paths.Config, Op: fsnotify.Chmod} // means nothing
		time.Sleep(2 * settle)
		synctest.Wait()
		if loads != 1 || s.Current().MaxAgents != 1 {
			t.Errorf("%d loads, maxAgents %d; want one load of the last text", loads, s.Current().MaxAgents)
		}
		close(events)
		<-done
	})
}

func TestStoreUnwatchable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s := Open(Paths{Config: filepath.Join(file, "config.json")}, slog.New(slog.NewTextHandler(&log, nil)), nil)
	s.Close()
	if !strings.Contains(log.String(), "not watched") {
		t.Errorf("log %q; want a warning", log.String())
	}
}

func TestCreate(t *testing.T) {
	paths := Paths{Config: filepath.Join(t.TempDir(), "a", "config.json")}
	if made, err := Create(paths); !made || err != nil {
		t.Fatalf("Create = %v, %v", made, err)
	}
	if made, err := Create(paths); made || err != nil {
		t.Errorf("second Create = %v, %v", made, err)
	}
	if _, problems, err := Load(paths); err != nil || len(problems) > 0 {
		t.Errorf("Load of what was created: %v, %v", problems, err)
	}
	info, err := os.Stat(paths.Config)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v; want 0600", info.Mode())
	}
}

func TestExposed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes there")
	}
	paths := write(t, `{}`)
	if err := os.Chmod(paths.Config, 0o666); err != nil {
		t.Fatal(err)
	}
	_, problems, err := Load(paths)
	if err != nil || len(problems) != 1 || !problems[0].Warning {
		t.Errorf("Load: %v, %v; want a warning", problems, err)
	}
}
