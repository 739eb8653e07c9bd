package harness

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
)

// Programs that came with npm are links (Unix) or small scripts (Windows, and
// some package managers) beside node_modules. The package.json they lead to
// tells two adapters with one program name apart, and has the version of those
// that cannot print it.

// packageOf is the package that the program at path belongs to; zero when it
// belongs to none, or that cannot be told.
func (h *Harness) packageOf(path string) Package {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Package{}
	}
	if p := packageAbove(real); p.Name != "" {
		return p
	}
	return h.packageOfScript(real)
}

// packageAbove climbs from a file inside node_modules to its package.json.
func packageAbove(file string) Package {
	for dir := filepath.Dir(file); strings.Contains(filepath.ToSlash(dir), "/node_modules/"); dir = filepath.Dir(dir) {
		if base := filepath.Base(dir); base == "node_modules" || base == ".bin" {
			break
		}
		if p := readPackage(filepath.Join(dir, "package.json")); p.Name != "" {
			return p
		}
	}
	return Package{}
}

// packageOfScript asks which of the packages that the manifest names is
// mentioned by a launcher script and is there beside it.
func (h *Harness) packageOfScript(script string) Package {
	text, err := readSmall(script, 16<<10)
	if err != nil || h.Own.Package.Npm == "" {
		return Package{}
	}
	mentions := strings.ReplaceAll(string(text), `\`, "/")
	modules := filepath.Join(filepath.Dir(script), "node_modules")
	if filepath.Base(filepath.Dir(script)) == ".bin" {
		modules = filepath.Dir(filepath.Dir(script))
	}
	for _, name := range append([]string{h.Own.Package.Npm}, h.Own.Package.NotNpm...) {
		if !strings.Contains(mentions, "/"+name+"/") {
			continue
		}
		if p := readPackage(filepath.Join(modules, filepath.FromSlash(name), "package.json")); p.Name == name {
			return p
		}
	}
	return Package{}
}

// readPackage reads the two fields; zero when the file has not both.
func readPackage(file string) Package {
	data, err := readSmall(file, 1<<20)
	if err != nil {
		return Package{}
	}
	var p struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if json.Unmarshal(data, &p) != nil || p.Name == "" || findVersion(p.Version) == "" {
		return Package{}
	}
	return Package{Name: visible(p.Name), Version: findVersion(p.Version)}
}

// readSmall reads a regular file of at most limit bytes.
func readSmall(file string, limit int64) ([]byte, error) {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return nil, os.ErrInvalid
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
