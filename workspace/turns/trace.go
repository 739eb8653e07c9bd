package turns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/checkpoint/pack"
	"sallyport/workspace/receipt"
)

// trace is what undoing needs of a record. Who undoes it swaps before and after.
type trace struct {
	Version int          `json:"version"`
	Turn    string       `json:"turnId"`
	Kind    receipt.Kind `json:"kind"`
	Takes   string       `json:"takes,omitzero"` // the very record that an undo took back
	Roots   [][]byte     `json:"roots"`          // all folders, the session's first
	// Rest says that an undo left something of what it takes back.
	Rest bool `json:"rest,omitzero"`
	// Texts are ids of checkpoints that hold texts of Buffers beside those of Pairs.
	Texts []string `json:"texts,omitzero"`
	what
}

func (t *trace) project() project { return projectOf(t.Roots) }

// what is what a record changed.
type what struct {
	Pairs   []pair   `json:"pairs"`
	Changes []change `json:"changes"` // by root and path
	Buffers []buffer `json:"buffers,omitzero"`
}

// pair is two checkpoints that are compared: one that holds what stood there before, and one after.
type pair struct {
	Before string `json:"before"`
	After  string `json:"after"`
}

// change is a path that a record changed on the disk.
type change struct {
	Root []byte                `json:"root"` // paths are bytes
	Path []byte                `json:"path"` // slashed, relative to Root
	Kind checkpoint.ChangeKind `json:"kind"`
	By   receipt.Attribution   `json:"by"`
	Pair int                   `json:"pair,omitzero"` // which holds its states
}

// buffer is a document whose unsaved text a record changed.
type buffer struct {
	Path   []byte              `json:"path"` // absolute
	By     receipt.Attribution `json:"by"`
	Before version             `json:"before"`
	After  version             `json:"after"`
}

// version is a document's text.
type version struct {
	Text  checkpoint.Hash `json:"text"`
	Clean bool            `json:"clean,omitzero"` // the disk had it too
}

const traceVersion = 1

func key(root, path string) string { return root + "\x00" + path }

func (c *change) key() string { return key(string(c.Root), string(c.Path)) }

// mine says whether a change is taken back, by force at least.
func mine(by receipt.Attribution) bool { return by != receipt.ByUser }

// empty says whether a record changed nothing: a turn, or an undo of what was back already.
func (t *trace) empty() bool { return len(t.Changes)+len(t.Buffers) == 0 }

// takeable counts what an undo could take back.
func (t *trace) takeable() (n int) {
	for _, c := range t.Changes {
		if mine(c.By) && c.Kind != checkpoint.Unknown {
			n++
		}
	}
	for _, b := range t.Buffers {
		if mine(b.By) {
			n++
		}
	}
	return n
}

// needs are the checkpoints without which it cannot be taken back.
func (t *trace) needs() []string {
	var out []string
	for _, p := range t.Pairs {
		out = append(out, p.Before, p.After)
	}
	return append(out, t.Texts...)
}

// save writes a trace; it is whole or absent.
func (s *Store) saveTrace(t *trace) error {
	t.Version = traceVersion
	data, err := json.Marshal(t, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("writing trace: %w", err)
	}
	dir := s.tracesOf(t.project().folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("writing trace: %w", err)
	}
	if err := pack.Replace(filepath.Join(dir, t.Turn), data, s.config.Step); err != nil {
		return fmt.Errorf("writing trace: %w", err)
	}
	return nil
}

// errNoTrace says that nothing is kept of a record but its receipt.
var errNoTrace = errors.New("nothing is kept to take it back with")

// trace reads the trace of a record. Error: errNoTrace, also for one that is damaged or of a later version.
func (s *Store) trace(folder, turn string) (*trace, error) {
	return readTrace(filepath.Join(s.tracesOf(folder), turn))
}

func readTrace(name string) (*trace, error) {
	if !validID(filepath.Base(name)) {
		return nil, errNoTrace
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoTrace
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoTrace, err)
	}
	var t trace
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoTrace, err)
	}
	if t.Version != traceVersion || t.Turn != filepath.Base(name) || !t.whole() {
		return nil, errNoTrace
	}
	return &t, nil
}

// whole says whether all parts of a trace fit each other.
func (t *trace) whole() bool {
	if !absoluteRoots(t.Roots) {
		return false
	}
	for _, c := range t.Changes {
		if c.Pair < 0 || c.Pair >= len(t.Pairs) {
			return false
		}
	}
	p := t.project()
	for _, b := range t.Buffers {
		if _, _, ok := p.place(string(b.Path)); !ok || !filepath.IsAbs(string(b.Path)) {
			return false
		}
	}
	return true
}

func rootsOf(c *checkpoint.Checkpoint) []string {
	var out []string
	for _, r := range c.Roots {
		out = append(out, r.Path)
	}
	return out
}
