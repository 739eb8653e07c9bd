package decider

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
)

// ManifestName is the file in a decider's folder that says what it is.
const ManifestName = "decider.json"

const maxManifest = 64 << 10

// Manifest describes a decider.
type Manifest struct {
	ID          string      `json:"id"` // reverse domain, such as dev.example.team-rules
	Name        string      `json:"name"`
	Version     string      `json:"version"`
	Command     []string    `json:"command"` // a program's name on PATH, or ./file in the folder, and its arguments
	Permissions Permissions `json:"permissions"`

	Folder string `json:"-"` // where it is, absolute
}

// Permissions are what a decider asks its user for.
type Permissions struct {
	Decide bool `json:"decide"`
}

// ReadManifest reads the manifest in a folder. Unknown members are ignored.
func ReadManifest(folder string) (Manifest, error) {
	var m Manifest
	folder, err := filepath.Abs(folder)
	if err != nil {
		return m, fmt.Errorf("reading %s: %w", ManifestName, err)
	}
	f, err := os.Open(filepath.Join(folder, ManifestName))
	if err != nil {
		return m, fmt.Errorf("reading a decider: %w", err)
	}
	defer f.Close() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	switch {
	case err != nil:
		return m, fmt.Errorf("reading a decider: %w", err)
	case len(data) > maxManifest:
		return m, fmt.Errorf("reading %s: it is longer than %d KiB", f.Name(), maxManifest>>10)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	if err := m.check(); err != nil {
		return m, fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	m.Folder = folder
	return m, nil
}

func (m *Manifest) check() error {
	switch {
	case !validID(m.ID):
		return errors.New("id: write a reverse domain, such as dev.example.team-rules")
	case !m.Permissions.Decide:
		return errors.New(`permissions: write { "decide": true }: without it no decider is asked`)
	case len(m.Command) == 0:
		return errors.New("command: name the program, such as [\"node\", \"decide.mjs\"]")
	case m.Name != oneLine(m.Name, 80):
		return errors.New("name: write one line of at most 80 bytes")
	case m.Version != oneLine(m.Version, 40):
		return errors.New("version: write one line of at most 40 bytes")
	}
	if m.Name == "" {
		m.Name = m.ID
	}
	program := m.Command[0]
	if rest, inside := strings.CutPrefix(program, "./"); inside {
		if !filepath.IsLocal(filepath.FromSlash(rest)) {
			return errors.New("command: the program lies outside of the folder")
		}
		return nil
	}
	if program == "" || strings.ContainsAny(program, `/\:`) {
		return errors.New("command: write a program's name, which is looked up on PATH, or ./file in the folder")
	}
	return nil
}

// Program is the file to look up: a name on PATH, or an absolute path in the
// folder.
func (m *Manifest) Program() string {
	if rest, inside := strings.CutPrefix(m.Command[0], "./"); inside {
		return filepath.Join(m.Folder, filepath.FromSlash(rest))
	}
	return m.Command[0]
}

// validID reports whether a text is a reverse domain: labels of letters, digits
// and hyphens, at least two, in lower case. No such id is a path or has a colon.
func validID(id string) bool {
	if len(id) > 128 || !strings.Contains(id, ".") {
		return false
	}
	for label := range strings.SplitSeq(id, ".") {
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if c := label[i]; !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-') {
				return false
			}
		}
	}
	return true
}
