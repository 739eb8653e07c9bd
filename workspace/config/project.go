package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Project is a project's own file. Its zero value tightens nothing.
type Project struct {
	// File is its absolute path, empty when there is none.
	File        string        `json:"-"`
	Mode        Mode          `json:"mode"`
	Permissions ProjectPermit `json:"permissions"`
	Fences      ProjectFences `json:"fences"`
	Kernel                    // what is demanded of the kernel, at least

	src *source // to say where a refused entry stands
}

// ProjectPermit is a project's stricter policy, and its further rules.
type ProjectPermit struct {
	Policy Policy   `json:"policy"`
	Deny   []string `json:"deny"`
	Ask    []string `json:"ask"`
}

// ProjectFences are a project's further rules on files. Paths are relative to the folder of
// its file.
type ProjectFences struct {
	Region     []string `json:"region"`
	Reserved   []string `json:"reserved"`
	CI         bool     `json:"ci"`
	Unreadable []string `json:"unreadable"`
}

// LoadProject reads the project file that is nearest to folder: in it or above it. Without
// one the project is the zero value. The error is a *Broken when the file has errors, keys
// that would loosen among them; the project's wishes are not known then, and a session
// should not start.
func LoadProject(folder string) (*Project, []Problem, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, nil, fmt.Errorf("finding the project file: %w", err)
	}
	for {
		file := filepath.Join(folder, ProjectFile)
		data, err := read(file)
		if err == nil {
			return parseProject(file, data)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("reading the project file: %w", err)
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return &Project{}, nil, nil
		}
		folder = parent
	}
}

func parseProject(file string, data []byte) (*Project, []Problem, error) {
	p := &Project{File: file}
	src, problems, err := parse(file, data, projectRules, p)
	if err != nil {
		return nil, problems, err
	}
	if n := errorsIn(problems); n > 0 {
		return nil, problems, &Broken{File: file, Errors: n}
	}
	p.src = src
	return p, problems, nil
}

func (p *Project) problem(message, remedy string, path ...string) Problem {
	if p.src == nil {
		return Problem{File: p.File, Field: fieldName(path), Message: message, Remedy: remedy}
	}
	return p.src.at(path, false, message, remedy)
}
