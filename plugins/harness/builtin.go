package harness

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
)

//go:embed builtin/*.json
var builtinFiles embed.FS

// builtinOrder is the order in which agents are shown: those that are tested
// end to end, those only described, the demo.
var builtinOrder = []string{"claude", "codex", "codex-zed", "gemini", "opencode", "qwen", "goose", "demo"}

// BuiltIn decodes the manifests that are part of the program. They are not
// validated again: a test does that, so that starting costs no schema. An
// error is a bug of the build.
func BuiltIn() ([]*Manifest, error) {
	var all []*Manifest
	for _, name := range builtinOrder {
		file := "builtin/" + name + ".json"
		data, err := fs.ReadFile(builtinFiles, file)
		if err != nil {
			return nil, fmt.Errorf("reading built-in manifest: %w", err)
		}
		m, err := decode(file, data, Builtin)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// BuiltInSource is the text of a built-in manifest, by its harness's short id:
// what a person can copy to write their own.
func BuiltInSource(id string) ([]byte, error) {
	if !slices.Contains(builtinOrder, id) {
		return nil, fmt.Errorf("no built-in harness is called %s", quoted(id))
	}
	return fs.ReadFile(builtinFiles, "builtin/"+id+".json")
}
