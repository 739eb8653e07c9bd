package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Broken: a file has errors, so it is not used. The problems beside it say where.
type Broken struct {
	File   string
	Errors int
}

func (b *Broken) Error() string {
	return fmt.Sprintf("%s is not used: it has %d %s", b.File, b.Errors, plural("error", b.Errors))
}

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// Load reads the user's configuration. A missing file is the default one. The error is a
// *Broken when the file has errors, which the problems list; the configuration is nil then,
// and whoever has no earlier one should refuse to start agents: the fences that the user
// wrote are not known.
func Load(paths Paths) (*Config, []Problem, error) {
	c, _, problems, err := load(paths.Config)
	return c, problems, err
}

// load also gives the file's bytes; nil when they could not be read.
func load(file string) (*Config, []byte, []Problem, error) {
	c := Default()
	data, err := read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil, nil, nil
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("reading the configuration: %w", err)
	}
	src, problems, err := parse(file, data, userRules, c)
	if err != nil {
		return nil, data, problems, err
	}
	if errorsIn(problems) == 0 {
		problems = append(problems, c.Turns.settle(src)...)
	}
	if n := errorsIn(problems); n > 0 {
		return nil, data, problems, &Broken{File: file, Errors: n}
	}
	if home, err := os.UserHomeDir(); err == nil {
		c.expand(home)
	}
	return c, data, append(problems, exposed(file)...), nil
}

// read reads a regular file, up to one byte more than maxSize. A pipe does not block it:
// what was opened is judged, not what had the name before.
func read(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return data, nil
}

// expand replaces a leading ~/ where a person writes paths.
func (c *Config) expand(home string) {
	for _, list := range [][]string{c.Fences.Region, c.Fences.Private, c.Fences.Unreadable, c.Fences.AlsoUnreadable, c.Untrusted, c.Permissions.ClaudeSettings} {
		for i, path := range list {
			list[i] = expand(home, path)
		}
	}
	for i := range c.Permissions.Deciders {
		d := &c.Permissions.Deciders[i]
		d.Folder = expand(home, d.Folder)
		for _, list := range [][]string{d.Off, d.Private} {
			for i, path := range list {
				list[i] = expand(home, path)
			}
		}
	}
	for _, check := range c.Verify {
		for i, path := range check.State {
			check.State[i] = expand(home, path)
		}
	}
	for id, agent := range maps.All(c.Custom) {
		agent.Cwd = expand(home, agent.Cwd)
		for i, path := range agent.State {
			agent.State[i] = expand(home, path)
		}
		c.Custom[id] = agent
	}
}

func expand(home, path string) string {
	if path == "~" {
		return home
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(home, rest)
	}
	return path
}
