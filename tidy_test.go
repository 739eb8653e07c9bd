package sallyport_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// files are the project's files by slashed path: those that git knows, or all
// where this is no git checkout.
func files(t *testing.T) []string {
	t.Helper()
	if out, err := exec.Command("git", "ls-files", "-z").Output(); err == nil && len(out) > 0 {
		var all []string
		for _, name := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() { // or just being removed
				all = append(all, name)
			}
		}
		return all
	}
	var all []string
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || name == "bin"):
			return filepath.SkipDir
		case d.Type().IsRegular():
			all = append(all, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// packages are the Go files by package folder, the root and testdata left out.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, name := range files(t) {
		dir := path.Dir(name)
		if strings.HasSuffix(name, ".go") && dir != "." && !strings.Contains("/"+dir+"/", "/testdata/") {
			all[dir] = append(all[dir], name)
		}
	}
	return all
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

const longest = 400 // lines of a Go file

func TestFilesAreShort(t *testing.T) {
	for _, list := range packages(t) {
		for _, name := range list {
			data := read(t, name)
			if strings.HasSuffix(name, "_test.go") || generated.Match(data) {
				continue
			}
			if n := bytes.Count(data, []byte("\n")); n > longest {
				t.Errorf("%s: got %d lines, want at most %d: split it by noun", name, n, longest)
			}
		}
	}
}

func TestPackagesAreDocumented(t *testing.T) {
	for pkg, list := range packages(t) {
		doc := pkg + "/doc.go"
		var name string
		code := false
		for _, f := range list {
			code = code || !strings.HasSuffix(f, "_test.go")
			if f == doc || path.Base(pkg) == "sallyport" && f == pkg+"/main.go" {
				name = f
			}
		}
		if !code {
			continue // only tests: their names say what for
		}
		if name == "" {
			t.Errorf("%s: doc.go is missing", pkg)
			continue
		}
		if text := string(read(t, name)); path.Base(pkg) != "sallyport" && !strings.Contains(strings.ToLower(text), "invariants") {
			t.Errorf("%s: the invariants are missing", name)
		}
	}
}

// forbidden is what no file holds. The patterns are put together so that this
// file does not hold them either.
var forbidden = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`registry\.` + `(npmjs|yarnpkg)|proxy\.` + `golang\.org|deb\.` + `debian\.org|pypi\.` + `org|crates\.` + `io/api`), "registries are named by the machine, not by us"},
	{regexp.MustCompile(`(^|[\s"'=(:` + "`" + `])/(wo` + `rk/(main|shared|scratch)|ro` + `ot/)`), "a path of somebody's machine"},
	{regexp.MustCompile(`\.\./` + `shared`), "the repository stands alone"},
	{regexp.MustCompile(`(?m)^(<{7} |>{7} |={7}$)`), "a conflict marker"},
}

func TestForbiddenTexts(t *testing.T) {
	for _, name := range files(t) {
		data := read(t, name)
		if !utf8.Valid(data) {
			continue
		}
		for _, f := range forbidden {
			if at := f.pattern.FindIndex(data); at != nil {
				line := 1 + bytes.Count(data[:at[1]], []byte("\n"))
				t.Errorf("%s:%d: %q: %s", name, line, data[at[0]:at[1]], f.why)
			}
		}
	}
}

func TestLicense(t *testing.T) {
	text := string(read(t, "LICENSE"))
	if !strings.Contains(text, "Apache License") || !strings.Contains(text, "Version 2.0, January 2004") {
		t.Error("LICENSE is not the Apache License 2.0")
	}
}
