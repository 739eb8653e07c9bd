package home

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"sallyport/bridge"
	"sallyport/plugins/harness"
	"sallyport/workspace/config"
)

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
	return h.User().Agent
}

// gather makes all that depends on the configuration c. Nothing is locked: it
// reads the manifests that are installed.
func (h *Home) gather(c *config.Config) known {
	user := *c
	if h.Override != nil {
		h.Override(&user)
	}
	k := known{from: c, user: &user}
	own, bad := customs(user.Custom, filepath.Dir(h.Paths.Config))
	k.bad = bad
	set, problems, err := harness.Load(harness.Sources{Dir: filepath.Join(h.Paths.Data, "harnesses"), User: own})
	if err != nil { // the built-in manifests are part of the program
		h.log.Error("loading harnesses", "err", err)
		set = &harness.Set{}
	}
	k.set, k.manifests = set, problems
	for _, p := range problems {
		k.bad = append(k.bad, Problem{Text: p.String(), Error: p.Severity == harness.Error})
	}
	return k
}

// customs makes the harnesses of the user's configuration, by id.
func customs(agents map[string]config.Agent, dir string) (all []*harness.Harness, bad []Problem) {
	known, _, err := harness.Load(harness.Sources{})
	if err != nil {
		known = &harness.Set{}
	}
	for _, id := range slices.Sorted(maps.Keys(agents)) {
		made, err := custom(id, agents[id], known, dir)
		if err != nil {
			bad = append(bad, Problem{Text: err.Error(), Error: true})
			continue
		}
		all = append(all, made)
	}
	return all, bad
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
		return override(like.With(settings), a, dir)
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

// override is a known harness with what the user says of it.
func override(like *harness.Harness, a config.Agent, dir string) (*harness.Harness, error) {
	args := slices.Concat(like.ACP.Args, a.Args)
	if like.Own.Self { // only a built-in one is found without a program
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding ourselves: %w", err)
		}
		made, err := harness.FromCommand(harness.Command{ID: like.ID, Name: a.Name, Args: append([]string{self}, args...), Like: like, Dir: dir})
		if err != nil {
			return nil, err
		}
		return changed(made, a), nil
	}
	out := changed(like, a)
	out.ACP.Args = args
	if a.Name != "" {
		out.Name = a.Name
	}
	return out, nil
}

// changed applies what the user says of an agent's abilities.
func changed(h *harness.Harness, a config.Agent) *harness.Harness {
	out := *h
	out.From.Origin = harness.User // so that it is meant by its id
	if a.FS != nil {
		out.ACP.FS = *a.FS
	}
	if len(a.Modes) > 0 {
		modes := maps.Clone(h.ACP.Switches.Modes)
		if modes == nil {
			modes = map[string]string{}
		}
		for ours, theirs := range a.Modes {
			modes[string(ours)] = theirs
		}
		out.ACP.Switches.Modes = modes
	}
	return &out
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
	name := ""
	if len(words) > 0 {
		name = filepath.Base(words[0])
	}
	return harness.FromCommand(harness.Command{ID: harness.CustomID, Name: name, Args: words, Dir: dir, FS: true})
}
