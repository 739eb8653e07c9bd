package answers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/workspace/checkpoint/pack"
)

// Bounds of what is kept.
const (
	Most    = 1000    // answers of one project
	maxFile = 1 << 20 // bytes of one file

	// Lasts is how long an answer that allows holds.
	Lasts = 90 * 24 * time.Hour
)

// What an answer says.
const (
	Allow = "allow"
	Deny  = "deny"
)

// Answer is one rule that a person's answer became.
type Answer struct {
	Say   string    `json:"say"`            // Allow or Deny
	Rule  string    `json:"rule"`           // in the syntax of the rules: Bash(npm test)
	Agent string    `json:"agent"`          // id of the harness that it is for
	Kept  time.Time `json:"kept"`           // when it was given
	Until time.Time `json:"until,omitzero"` // when it ends; zero: never
}

// Holds reports whether the answer has not ended.
func (a Answer) Holds(now time.Time) bool { return a.Until.IsZero() || now.Before(a.Until) }

// Same reports whether two answers are about the same: a later one of them stands
// for both.
func (a Answer) Same(b Answer) bool { return a.Rule == b.Rule && a.Agent == b.Agent }

// New is the answer that a person gives now.
func New(say, rule, agent string, now time.Time) Answer {
	a := Answer{Say: say, Rule: rule, Agent: agent, Kept: now.UTC().Truncate(time.Second)}
	if say == Allow {
		a.Until = a.Kept.Add(Lasts)
	}
	return a
}

// version is the only one there is of the file.
const version = 1

type file struct {
	Version int      `json:"version"`
	Project string   `json:"project"`
	Answers []Answer `json:"answers"`
}

// Store is the folder of all projects' answers. Its methods may be called from any
// goroutine, and by several processes.
type Store struct{ Dir string }

// File is where the answers of a project are.
func (s Store) File(project string) string {
	sum := sha256.Sum256([]byte(project))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:16])+".json")
}

// List is every answer of a project that still holds, the oldest first. Where
// there is no file there are none.
func (s Store) List(project string) ([]Answer, error) {
	all, _, err := s.read(project)
	return all, err
}

// read is List with the file that was read; nil where there is none.
func (s Store) read(project string) ([]Answer, fs.FileInfo, error) {
	name := s.File(project)
	data, info, err := readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, info, fmt.Errorf("reading remembered answers: %w", err)
	}
	var f file
	err = json.Unmarshal(data, &f, json.RejectUnknownMembers(true))
	switch {
	case err != nil:
	case f.Version != version:
		err = fmt.Errorf("its version is %d, and only %d is known here", f.Version, version)
	case f.Project != project:
		err = fmt.Errorf("it is about another project, %q", f.Project)
	case len(f.Answers) > Most:
		err = fmt.Errorf("it holds more than %d answers", Most)
	default:
		for _, a := range f.Answers {
			if a.Say != Allow && a.Say != Deny || a.Rule == "" || a.Agent == "" {
				err = fmt.Errorf("an answer is not complete: %q %q for %q", a.Say, a.Rule, a.Agent)
			}
		}
	}
	if err != nil {
		return nil, info, fmt.Errorf("reading remembered answers: %s: %w; who removes the file forgets all answers in it", name, err)
	}
	now := time.Now()
	return slices.DeleteFunc(f.Answers, func(a Answer) bool { return !a.Holds(now) }), info, nil
}

// readFile reads a regular file of a bounded size.
func readFile(name string) ([]byte, fs.FileInfo, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() { // a pipe would wait for ever
		return nil, info, fmt.Errorf("%s is no file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, info, err
	}
	defer f.Close() // only read
	if info, err = f.Stat(); err != nil {
		return nil, info, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s is longer than %d KiB", name, maxFile>>10)
	}
	return data, info, err
}

// Keep adds an answer, in the place of one about the same.
func (s Store) Keep(ctx context.Context, project string, a Answer) error {
	return s.change(ctx, project, func(all []Answer) ([]Answer, error) {
		all = slices.DeleteFunc(all, a.Same)
		if len(all) >= Most {
			return nil, fmt.Errorf("%d answers are remembered in this project, which is the most", Most)
		}
		return append(all, a), nil
	})
}

// Forget takes back the answers of a project that match, and returns them.
func (s Store) Forget(ctx context.Context, project string, match func(Answer) bool) (gone []Answer, err error) {
	if all, err := s.List(project); err != nil || len(all) == 0 {
		return nil, err // nothing is made for a project that has none
	}
	err = s.change(ctx, project, func(all []Answer) ([]Answer, error) {
		gone = nil
		return slices.DeleteFunc(all, func(a Answer) bool {
			if !match(a) {
				return false
			}
			gone = append(gone, a)
			return true
		}), nil
	})
	if err != nil {
		return nil, err
	}
	return gone, nil
}

// change replaces the answers of a project by what f makes of them, alone among all
// processes. It waits for others as long as ctx lasts.
func (s Store) change(ctx context.Context, project string, f func([]Answer) ([]Answer, error)) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of remembered answers: %w", err)
	}
	unlock, err := pack.Lock(ctx, filepath.Join(s.Dir, "lock"), true)
	if err != nil {
		return fmt.Errorf("keeping answers: %w", err)
	}
	defer unlock()
	all, _, err := s.read(project)
	if err != nil {
		return err
	}
	if all, err = f(all); err != nil {
		return fmt.Errorf("keeping answers: %w", err)
	}
	var b bytes.Buffer
	err = json.MarshalWrite(&b, file{Version: version, Project: project, Answers: all}, jsontext.WithIndent("  "))
	if err == nil && b.Len() > maxFile {
		err = fmt.Errorf("there are more than %d KiB of them", maxFile>>10)
	}
	if err != nil {
		return fmt.Errorf("keeping answers: %w", err)
	}
	b.WriteByte('\n')
	if err := pack.Replace(s.File(project), b.Bytes(), nil); err != nil {
		return fmt.Errorf("keeping answers: %w", err)
	}
	return nil
}
