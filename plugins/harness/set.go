package harness

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Sources says where harnesses come from besides the built-in ones.
type Sources struct {
	Dir  string     // our folder of installed plugins: Dir/*/escouade-plugin.json; "": none
	User []*Harness // from the user's configuration, made by FromCommand
}

// Set is every harness known at one moment. It does not change: when a file
// or the configuration does, load another one. A zero Set is empty.
type Set struct {
	all    []*Harness
	short  map[string][]*Harness // by short id, the one that is meant first
	global map[string]*Harness
}

// Load gathers the harnesses. Whatever is wrong with a source costs only that
// source, and is among the problems.
//
// Who wins: for a global id the installed manifest over the built-in one. For
// a short id the user's own, then the built-in one, then an installed one; two
// installed ones are ambiguous and must be named by their global ids.
func Load(s Sources) (*Set, []Problem, error) {
	builtin, err := BuiltIn()
	if err != nil {
		return nil, nil, err
	}
	installed, problems := loadDir(s.Dir)
	set := &Set{short: map[string][]*Harness{}, global: map[string]*Harness{}}
	replaced := map[string]bool{}
	for _, m := range installed {
		for _, h := range m.Contributes.Harnesses {
			replaced[h.Global()] = true
		}
	}
	for _, m := range builtin {
		for _, h := range m.Contributes.Harnesses {
			if !replaced[h.Global()] {
				set.add(h)
			}
		}
	}
	for _, m := range installed {
		for _, h := range m.Contributes.Harnesses {
			set.add(h)
		}
	}
	for _, h := range s.User {
		set.add(h)
	}
	return set, problems, nil
}

func (s *Set) add(h *Harness) {
	s.all = append(s.all, h)
	s.global[h.Global()] = h
	s.short[h.ID] = append(s.short[h.ID], h)
	slices.SortStableFunc(s.short[h.ID], func(a, b *Harness) int { return rank(a) - rank(b) })
}

// rank orders harnesses of one short id.
func rank(h *Harness) int {
	switch h.From.Origin {
	case User:
		return 0
	case Builtin:
		return 1
	default:
		return 2
	}
}

// All lists the harnesses: built-in, installed (by folder), the user's. The
// caller must not change it.
func (s *Set) All() []*Harness { return s.all }

// UnknownError says that no harness has an id.
type UnknownError struct {
	ID        string
	Absent    bool     // it names a plugin that is not here: its sessions stay, marked, until it comes back
	Ambiguous []string // several installed harnesses have this short id: their global ids
	Near      string   // the id that was probably meant, or ""
	Known     []string // the short ids that exist
}

func (e *UnknownError) Error() string {
	switch {
	case len(e.Ambiguous) > 0:
		return fmt.Sprintf("several agents are called %s: name one of %s", quoted(e.ID), strings.Join(e.Ambiguous, ", "))
	case e.Absent:
		return fmt.Sprintf("harness absent: no plugin here gives %s", quoted(e.ID))
	case e.Near != "":
		return fmt.Sprintf("no agent is called %s; did you mean %q?", quoted(e.ID), e.Near)
	case len(e.Known) == 0:
		return fmt.Sprintf("no agent is called %s: none is known", quoted(e.ID))
	default:
		return fmt.Sprintf("no agent is called %s; there are %s", quoted(e.ID), strings.Join(e.Known, ", "))
	}
}

// Get finds a harness by its short id (gemini) or its global one
// (plugin:dev.sallyport.gemini:gemini, user:mine). The error is an
// *UnknownError.
func (s *Set) Get(id string) (*Harness, error) {
	if h, ok := s.global[id]; ok {
		return h, nil
	}
	found := s.short[id]
	if len(found) == 1 || len(found) > 1 && rank(found[0]) < rank(found[1]) {
		return found[0], nil
	}
	if len(found) > 1 && found[0].From.Origin == User {
		return found[0], nil // the configuration cannot have two of one id
	}
	unknown := &UnknownError{ID: id}
	for _, h := range found {
		unknown.Ambiguous = append(unknown.Ambiguous, h.Global())
	}
	if _, err := ParseGlobalID(id); err == nil {
		unknown.Absent = true
	}
	for _, h := range s.all {
		if !slices.Contains(unknown.Known, h.ID) {
			unknown.Known = append(unknown.Known, h.ID)
		}
	}
	unknown.Near = Nearest(id, unknown.Known)
	return nil, unknown
}

// ByAgentInfo finds the harness of an agent that announced itself by name in
// its answer to initialize: a custom command may start a known agent, whose
// quirks then hold.
func (s *Set) ByAgentInfo(name string) (*Harness, bool) {
	for _, h := range s.all {
		if slices.Contains(h.Own.AgentInfo, name) {
			return h, true
		}
	}
	return nil, false
}

// loadDir reads dir/*/escouade-plugin.json in the order of the folders' names.
// A folder without the file is not a plugin and passes unsaid.
func loadDir(dir string) ([]*Manifest, []Problem) {
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []Problem{unreadable(dir, err)}
	}
	var all []*Manifest
	var problems []Problem
	plugins := map[string]string{} // id to folder
	for _, entry := range entries {
		file := filepath.Join(dir, entry.Name(), FileName)
		data, err := readManifest(file)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoFolder) {
			continue
		}
		if err != nil {
			problems = append(problems, unreadable(file, err))
			continue
		}
		m, found, err := Parse(file, data)
		problems = append(problems, found...)
		if err != nil {
			continue // found says why
		}
		if first, ok := plugins[m.ID]; ok {
			problems = append(problems, Problem{Place: Place{File: file, Line: 1, Column: 1, Field: "/id"}, Code: "duplicate-id",
				Message: fmt.Sprintf("the plugin %s is already in the folder %s", m.ID, first),
				Remedy:  "remove one of the two folders", Severity: Error, Consequence: Refused})
			continue
		}
		plugins[m.ID] = entry.Name()
		all = append(all, m)
	}
	return all, problems
}

func unreadable(file string, err error) Problem {
	return Problem{Place: Place{File: file}, Code: "unreadable", Message: "the file cannot be read: " + err.Error(),
		Remedy: "check that it is an ordinary file that you may read", Severity: Error, Consequence: Refused}
}

var errNoFolder = errors.New("not a folder")

// readManifest reads a manifest of any size up to one byte over the limit,
// which Parse then refuses. What is no regular file is not opened: a pipe
// would wait for its writer.
func readManifest(file string) ([]byte, error) {
	if info, err := os.Stat(filepath.Dir(file)); err == nil && !info.IsDir() {
		return nil, errNoFolder
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSize+1))
}
