package home

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"sallyport/bridge"
	"sallyport/bridge/process"
	"sallyport/plugins/harness"
	"sallyport/workspace/config"
	"sallyport/workspace/fence"
)

// Home is the user's configuration and harnesses, kept current until Close.
// Its methods can be called from any goroutine.
type Home struct {
	Paths config.Paths
	// Override changes a copy of the user's configuration before it is used:
	// flags of a command line. Set before the first use; may be nil.
	Override func(*config.Config)
	// Default is the id of the harness used when none is named; empty: the
	// setting. Set before the first use.
	Default string

	store *config.Store
	log   *slog.Logger

	mu     sync.Mutex
	bridge *bridge.Bridge // who is told
	known  known
}

// known is what was made of the configuration and the manifests.
type known struct {
	from      *config.Config // what set was made from
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
	h.store = config.Open(paths, log, func(config.State) { h.told() })
	return h, nil
}

// Attach names the bridge that is told what is wrong with the configuration,
// now and after each change, and whose fences follow it.
func (h *Home) Attach(b *bridge.Bridge) {
	h.mu.Lock()
	h.bridge = b
	h.mu.Unlock()
	h.told()
}

func (h *Home) told() {
	problems := h.Problems()
	h.mu.Lock()
	b := h.bridge
	h.mu.Unlock()
	if b == nil {
		return
	}
	b.Refence()
	for _, p := range problems {
		n := bridge.Notice{Kind: bridge.NoticeConfig, Level: bridge.Warning, Text: p.Text}
		if p.Error {
			n.Level = bridge.Problem
		}
		b.Display.Notice(n)
	}
}

// Close stops the watch.
func (h *Home) Close() { h.store.Close() }

// Bridge is the home as a bridge wants it. version is Sallyport's.
func (h *Home) Bridge(version string) bridge.Home {
	environ := os.Environ()
	return bridge.Home{
		Harness: h.Harness,
		Config:  h.Config,
		Own:     fence.Own{State: []string{h.Paths.State}, Config: []string{filepath.Dir(h.Paths.Config), h.Paths.Data}},
		Finder:  &process.Finder{Host: environ},
		Environ: environ,
		Version: version,
	}
}

// Config is the configuration in effect for a session in folder: the user's,
// tightened by the project's file.
func (h *Home) Config(folder string) (*config.Config, error) {
	state := h.store.State()
	if !state.Known {
		return nil, fmt.Errorf("the configuration cannot be used, so its fences are not known: %w", explain(state.Problems, state.Err))
	}
	project, found, err := config.LoadProject(folder)
	if err != nil {
		return nil, fmt.Errorf("the project's configuration cannot be used, so its fences are not known: %w", explain(found, err))
	}
	user := *state.Config
	if h.Override != nil {
		h.Override(&user)
	}
	c, more := config.Effective(&user, project, folder)
	for _, p := range slices.Concat(found, more) {
		h.log.Warn("project configuration", "problem", p.String())
	}
	return c, nil
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

// User is the user's own configuration, the last good one.
func (h *Home) User() *config.Config { return h.store.Current() }

// Harness looks one up. An empty id is the user's default.
func (h *Home) Harness(id string) (*harness.Harness, error) {
	set := h.Set()
	if id == "" {
		if id = h.DefaultID(); id == "" {
			return nil, &bridge.UnknownAgentError{Known: ids(set), Hint: "name an agent, or set `agent` in " + h.Paths.Config}
		}
	}
	found, err := set.Get(id)
	if err != nil {
		return nil, &bridge.UnknownAgentError{Agent: id, Known: ids(set), Hint: err.Error()}
	}
	return found, nil
}

func ids(set *harness.Set) []string {
	var all []string
	for _, h := range set.All() {
		all = append(all, h.ID)
	}
	return all
}

// DefaultID is the harness used when none is named; empty: there is none.
func (h *Home) DefaultID() string {
	if h.Default != "" {
		return h.Default
	}
	return h.store.Current().Agent
}

// Set is every harness known now.
func (h *Home) Set() *harness.Set {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.store.Current()
	if h.known.set != nil && h.known.from == c {
		return h.known.set
	}
	h.known.bad = nil
	user := h.userLocked(c)
	set, problems, err := harness.Load(harness.Sources{Dir: filepath.Join(h.Paths.Data, "harnesses"), User: user})
	if err != nil { // the built-in manifests are part of the program
		h.log.Error("loading harnesses", "err", err)
		set = &harness.Set{}
	}
	h.known.manifests = problems
	for _, p := range problems {
		h.known.bad = append(h.known.bad, Problem{Text: p.String(), Error: p.Severity == harness.Error})
	}
	h.known.set, h.known.from = set, c
	return set
}

// userLocked makes the harnesses of the user's configuration.
func (h *Home) userLocked(c *config.Config) []*harness.Harness {
	known, _, err := harness.Load(harness.Sources{})
	if err != nil {
		known = &harness.Set{}
	}
	var user []*harness.Harness
	for id, a := range c.Custom {
		made, err := custom(id, a, known, filepath.Dir(h.Paths.Config))
		if err != nil {
			h.known.bad = append(h.known.bad, Problem{Text: err.Error(), Error: true})
			continue
		}
		user = append(user, made)
	}
	slices.SortFunc(user, func(a, b *harness.Harness) int { return strings.Compare(a.ID, b.ID) })
	return user
}

// custom makes one harness of the user's: a command of its own, or a known one
// with changes.
func custom(id string, a config.Agent, known *harness.Set, dir string) (*harness.Harness, error) {
	like, err := known.Get(id)
	if err != nil {
		like = nil
	}
	settings := harness.Settings{Env: a.Env, PassEnv: a.PassEnv, RemoveEnv: a.RemoveEnv}
	if a.Command == "" {
		if like == nil {
			return nil, fmt.Errorf("agents.%s has no command and is no known agent: give it a command", id)
		}
		return changed(like.With(settings), a), nil
	}
	line, err := harness.SplitLine(runtime.GOOS, a.Command)
	if err != nil {
		return nil, fmt.Errorf("agents.%s.command: %w", id, err)
	}
	fs := true
	if a.FS != nil {
		fs = *a.FS
	}
	made, err := harness.FromCommand(harness.Command{
		ID: id, Name: a.Name, Args: append(line, a.Args...), Like: like, Dir: dir, FS: fs, Settings: settings,
	})
	if err != nil {
		return nil, err
	}
	return changed(made, a), nil
}

// changed applies what the user says of an agent's abilities.
func changed(h *harness.Harness, a config.Agent) *harness.Harness {
	out := *h
	out.From.Origin = harness.User
	if a.FS != nil {
		out.ACP.FS = *a.FS
	}
	if len(a.Modes) > 0 {
		modes := make(map[string]string, len(a.Modes))
		for ours, theirs := range a.Modes {
			modes[string(ours)] = theirs
		}
		out.ACP.Switches.Modes = modes
	}
	return &out
}

// Problems lists what is wrong with the configuration and the manifests now.
func (h *Home) Problems() []Problem {
	h.Set()
	h.mu.Lock()
	all := slices.Clone(h.known.bad)
	h.mu.Unlock()
	state := h.store.State()
	for _, p := range state.Problems {
		all = append(all, Problem{Text: p.String(), Error: !p.Warning})
	}
	if state.Err != nil && len(state.Problems) == 0 {
		all = append(all, Problem{Text: state.Err.Error(), Error: true})
	}
	return all
}

// Command makes a harness of a command line from the user's terminal.
func Command(line string) (*harness.Harness, error) {
	words, err := harness.SplitLine(runtime.GOOS, line)
	if err != nil {
		return nil, fmt.Errorf("reading the command line: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return harness.FromCommand(harness.Command{ID: "custom", Name: filepath.Base(first(words)), Args: words, Dir: dir, FS: true})
}

func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
