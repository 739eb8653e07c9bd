package bridge

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"sallyport/plugins/rules"
)

// maxSettings is the largest file of Claude Code's settings that is read.
const maxSettings = 1 << 20

// importedRules are the rules in files of Claude Code's settings that the user
// named: all of a file that is named from / on, and what forbids and asks of one
// that is named from the session's folder on, which is as much as a project may
// say. Nothing is written there.
//
// A rule that cannot be read is an error, unless it would only allow; so is a file
// that is not there, unless it is a project's.
func importedRules(files []string, folder string) ([]*rules.Rules, error) {
	var all []*rules.Rules
	for _, name := range files {
		path, mine := name, filepath.IsAbs(name)
		if !mine {
			path = filepath.Join(folder, name)
		}
		data, err := readSettings(path)
		if err != nil && !mine && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the permissions: %w", err)
		}
		r, problems := rules.ParseClaude(data, rules.Source{Name: name, Root: filepath.Dir(filepath.Dir(path))})
		for _, p := range problems {
			if p.List != rules.Allow.String() {
				p.Why += " (in " + path + ")"
				return nil, &RuleError{p}
			}
		}
		if !mine {
			r = r.Without(rules.Allow)
		}
		all = append(all, r)
	}
	return all, nil
}

// readSettings reads a regular file of a bounded size.
func readSettings(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe would wait for ever
		return nil, fmt.Errorf("%s is no file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err == nil && len(data) > maxSettings {
		err = fmt.Errorf("%s is longer than %d KiB", path, maxSettings>>10)
	}
	return data, err
}
