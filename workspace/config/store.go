package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is the quiet time after the last change of the folder before the file is read: an
// editor that saves in several steps is not read in the middle of them.
const settle = 50 * time.Millisecond

// State is what a store holds at one moment. It is immutable.
type State struct {
	// Config is the last good configuration; the defaults when there was none.
	Config *Config
	// Problems of the file as it is now, warnings too.
	Problems []Problem
	// Err: the file as it is now cannot be used (a *Broken, or it cannot be read).
	Err error
	// Known: Config is what the user wrote at some time, or the user wrote none. While
	// false, the user's fences are not known and no agent should be started.
	Known bool
}

// Store holds the user's configuration and reads it again when it changes. Its methods may
// be called from any goroutine.
type Store struct {
	paths   Paths
	log     *slog.Logger
	changed func(State)

	mu    sync.Mutex
	state State
	seen  []byte // the file's bytes when it was loaded; nil when it could not be read

	first sync.Once // the first load
	stop  context.CancelFunc
	done  chan struct{} // closed when the owner goroutine has ended
}

// Open watches the configuration until Close. It is read when somebody first asks for it:
// that takes a millisecond or two, which an editor that starts us need not wait for. Errors
// of the file do not stop it: see State. changed may be nil; it is called from one goroutine,
// after each reload that found something new. A folder that cannot be watched is logged, and
// Reload still works.
func Open(paths Paths, log *slog.Logger, changed func(State)) *Store {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Store{paths: paths, log: log, changed: changed, done: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	watcher, err := watch(paths.Config) // before the first load, so that no change falls between
	if err != nil {
		log.Warn("the configuration is not watched", "file", paths.Config, "error", err)
		close(s.done)
		return s
	}
	go func() {
		defer close(s.done)
		defer watcher.Close()
		s.follow(ctx, watcher.Events, watcher.Errors)
	}()
	return s
}

// Close stops the watch and waits for it; changed is not called afterwards.
func (s *Store) Close() {
	s.stop()
	<-s.done
}

// Current gives the last good configuration, or the defaults.
func (s *Store) Current() *Config { return s.State().Config }

// State gives everything that is known.
func (s *Store) State() State {
	s.first.Do(func() { s.load() })
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Reload reads the file now and gives the state after it. It does not call changed.
func (s *Store) Reload() State {
	s.load()
	return s.State()
}

// load reports whether it found anything but what was loaded before.
func (s *Store) load() bool {
	c, data, problems, err := load(s.paths.Config)
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.state
	if old.Config != nil && bytes.Equal(data, s.seen) && fmt.Sprint(err) == fmt.Sprint(old.Err) {
		return false
	}
	s.seen = data
	s.state = State{Config: c, Problems: problems, Err: err, Known: err == nil || old.Known}
	switch {
	case err == nil:
	case old.Config == nil:
		s.state.Config = Default()
	default:
		s.state.Config = old.Config
	}
	return true
}

// follow reloads after each burst of events, until ctx ends.
func (s *Store) follow(ctx context.Context, events <-chan fsnotify.Event, errs <-chan error) {
	quiet := time.NewTimer(settle)
	quiet.Stop()
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-events:
			if !ok {
				return
			}
			if e.Op != fsnotify.Chmod {
				quiet.Reset(settle)
			}
		case err, ok := <-errs:
			if !ok {
				return
			}
			s.log.Warn("watching the configuration", "error", err)
			quiet.Reset(settle) // events may have been lost
		case <-quiet.C:
			s.reloaded()
		}
	}
}

func (s *Store) reloaded() {
	if !s.load() {
		return
	}
	state := s.State()
	if state.Err != nil {
		s.log.Warn("the configuration has errors; the last good one stays", "file", s.paths.Config, "error", state.Err)
	} else {
		s.log.Info("the configuration was read again", "file", s.paths.Config)
	}
	if s.changed != nil {
		s.changed(state)
	}
}

// watch watches the folder of file, and of what it links to: a file that is replaced is lost
// to a watch of itself.
func watch(file string) (*fsnotify.Watcher, error) {
	folders := []string{filepath.Dir(file)}
	if err := os.MkdirAll(folders[0], 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("making the configuration folder: %w", err)
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		folders = append(folders, filepath.Dir(real))
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watching the configuration: %w", err)
	}
	slices.Sort(folders)
	for _, folder := range slices.Compact(folders) {
		if err := w.Add(folder); err != nil {
			w.Close()
			return nil, fmt.Errorf("watching %s: %w", folder, err)
		}
	}
	return w, nil
}

// starter is the first configuration of a user: nothing but a pointer to what could stand.
var starter = []byte("// Sallyport's configuration; docs say what may stand here. Comments are allowed.\n{\n}\n")

// Create writes a first config.json, readable by its user only, where there is none. It
// reports whether it did.
func Create(paths Paths) (bool, error) {
	if err := os.MkdirAll(filepath.Dir(paths.Config), 0o700); err != nil {
		return false, fmt.Errorf("making the configuration folder: %w", err)
	}
	f, err := os.OpenFile(paths.Config, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("making the configuration: %w", err)
	}
	_, err = f.Write(bytes.Clone(starter))
	return true, errors.Join(err, f.Close())
}
