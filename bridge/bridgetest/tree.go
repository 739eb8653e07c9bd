package bridgetest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Tree is a folder's contents: by slashed path the kind and mode, and the bytes
// or where a link leads.
type Tree map[string]string

// Look reads a folder, without what stands at some paths of it.
func Look(t testing.TB, dir string, without ...string) Tree {
	t.Helper()
	all := Tree{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch left := slices.Contains(without, name); {
		case left && d.IsDir():
			return filepath.SkipDir
		case left:
			return nil
		}
		all[name], err = lookAt(path, d)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func lookAt(path string, d fs.DirEntry) (string, error) {
	info, err := d.Info()
	if err != nil {
		return "", err
	}
	var content string
	switch {
	case info.Mode().IsRegular():
		raw, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		content = fmt.Sprintf(" %q", raw)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		content = " -> " + target
	}
	return info.Mode().String() + content, nil
}

// Changed are the paths in which two trees differ, sorted.
func (a Tree) Changed(b Tree) (names []string) {
	for name := range a {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// At is what stands at a path, in words.
func (a Tree) At(name string) string {
	if s := a[name]; s != "" {
		return s
	}
	return "nothing"
}
