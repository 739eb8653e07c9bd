package home

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"sallyport/bridge"
	"sallyport/bridge/decide"
	"sallyport/bridge/process"
	"sallyport/bridge/sandbox"
	"sallyport/plugins/harness"
	"sallyport/workspace/answers"
	"sallyport/workspace/config"
	"sallyport/workspace/fence"
)

// Home is the user's configuration and harnesses, kept current until Close.
// Its methods can be called from any goroutine.
type Home struct {
	Paths config.Paths
	// Override changes the user's configuration before it is used: flags of a
	// command line. It gets a copy, of which it must replace lists and maps
	// rather than change them. Set before the first use; may be nil.
	Override func(*config.Config)
	// Default is the id of the harness used when none is named; empty: the
	// setting. Set before the first use.
	Default string

	log *slog.Logger
	programs

	mu    sync.Mutex
	store *config.Store
	known known
	voice voice
	turns opened
}

// programs are the deciders. Home.mu guards version.
type programs struct {
	pool    decide.Pool
	kernel  *sandbox.Launcher // that holds them
	version string            // Sallyport's
}

// known is what was made of the configuration and the manifests.
type known struct {
	from      *config.Config // of the store, what all was made from
	user      *config.Config // with Override
	set       *harness.Set
	manifests []harness.Problem
	bad       []Problem
}

// Problem is something wrong with a configuration file or a manifest, as one
// line for a person.
type Problem struct {
	Text  string
	Error bool // it costs something; otherwise a warning
}

// Open reads the user's configuration and begins to watch it. log may be nil.
func Open(log *slog.Logger) (*Home, error) {
	paths, err := config.UserPaths()
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	h := &Home{Paths: paths, log: log}
	h.pool.Starter, h.pool.Journals, h.pool.Log = h.starter, h.Journals(), log
	h.pool.Renew = h.syncDeciders
	h.kernel = &sandbox.Launcher{Dir: filepath.Join(paths.State, "fence"), Environ: os.Environ(), Log: log}
	h.mu.Lock() // a change that comes at once waits until the store is known
	defer h.mu.Unlock()
	h.store = config.Open(paths, log, func(config.State) { h.changed() })
	return h, nil
}

// Close stops the watch, and closes the store of turns: after every bridge that
// has it.
func (h *Home) Close() {
	h.state().Close()
	h.pool.Close()
	h.mu.Lock()
	store := h.turns.store
	h.turns = opened{closed: true}
	h.mu.Unlock()
	if store == nil {
		return
	}
	if err := store.Close(); err != nil {
		h.log.Warn("closing the record of turns", "err", err)
	}
}

// state is the store, which Open has set.
func (h *Home) state() *config.Store {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.store
}

// Bridge is the home as a bridge wants it. version is Sallyport's.
func (h *Home) Bridge(version string) bridge.Home {
	environ := os.Environ()
	h.mu.Lock()
	h.version = version
	h.mu.Unlock()
	return bridge.Home{
		Harness:  h.Harness,
		Config:   h.Config,
		Private:  func() []string { return h.User().Fences.Private },
		Own:      fence.Own{State: []string{h.Paths.State}, Config: []string{filepath.Dir(h.Paths.Config), h.Paths.Data}},
		Kernel:   &sandbox.Launcher{Dir: filepath.Join(h.Paths.State, "fence"), Environ: environ, Log: h.log},
		Finder:   &process.Finder{Host: environ},
		Deciders: h.pool.For,
		Answers:  h.Answers(),
		Environ:  environ,
		Version:  version,
	}
}

// Config is the configuration in effect for a session in folder: the user's,
// tightened by the project's file. What is wrong with the project's file and
// does not matter to its fences is told.
func (h *Home) Config(folder string) (*config.Config, error) {
	if state := h.state().State(); !state.Known {
		return nil, fmt.Errorf("the configuration cannot be used, so its fences are not known: %w", explain(state.Problems, state.Err))
	}
	project, found, err := config.LoadProject(folder)
	if err != nil {
		return nil, fmt.Errorf("the project's configuration cannot be used, so its fences are not known: %w", explain(found, err))
	}
	c, more := config.Effective(h.User(), project, folder)
	h.tell(ofConfig(slices.Concat(found, more)), false)
	return c, nil
}

// Answers is where a person's lasting answers are.
func (h *Home) Answers() answers.Store {
	return answers.Store{Dir: filepath.Join(h.Paths.State, "answers")}
}

// explain is the first thing that is wrong with a file, where that is known.
func explain(problems []config.Problem, err error) error {
	for _, p := range problems {
		if !p.Warning {
			return errors.New(p.String())
		}
	}
	return err
}

// User is the user's own configuration, the last good one, with Override.
func (h *Home) User() *config.Config { return h.current().user }

// Set is every harness known now.
func (h *Home) Set() *harness.Set { return h.current().set }

// current is made anew when the configuration was read again.
func (h *Home) current() known {
	c := h.state().Current()
	h.mu.Lock()
	k := h.known
	h.mu.Unlock()
	if k.from == c {
		return k
	}
	k = h.gather(c)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known.from != c { // the first of those who came together
		h.known = k
	}
	return h.known
}

// Problems lists what is wrong with the configuration and the manifests now.
func (h *Home) Problems() []Problem {
	all := slices.Clone(h.current().bad)
	state := h.state().State()
	all = append(all, ofConfig(state.Problems)...)
	if state.Err != nil && len(state.Problems) == 0 {
		all = append(all, Problem{Text: state.Err.Error(), Error: true})
	}
	return all
}

func ofConfig(problems []config.Problem) []Problem {
	all := make([]Problem, len(problems))
	for i, p := range problems {
		all[i] = Problem{Text: p.String(), Error: !p.Warning}
	}
	return all
}
