package decider

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestManifest(t *testing.T) {
	for _, test := range []struct{ text, program, want string }{
		{`{"id":"dev.x.rules","name":"Rules","version":"1","command":["node","a.mjs"],"permissions":{"decide":true},"more":1}`, "node", ""},
		{`{"id":"dev.x.rules","command":["./bin/rules"],"permissions":{"decide":true}}`, "FOLDER/bin/rules", ""},
		{`{"id":"dev.x.rules","command":["./../rules"],"permissions":{"decide":true}}`, "", "outside"},
		{`{"id":"dev.x.rules","command":["/bin/sh"],"permissions":{"decide":true}}`, "", "looked up on PATH"},
		{`{"id":"dev.x.rules","command":["a\\b"],"permissions":{"decide":true}}`, "", "looked up on PATH"},
		{`{"id":"dev.x.rules","command":[""],"permissions":{"decide":true}}`, "", "looked up on PATH"},
		{`{"id":"dev.x.rules","command":[],"permissions":{"decide":true}}`, "", "name the program"},
		{`{"id":"dev.x.rules","command":["node"]}`, "", "decide"},
		{`{"id":"rules","command":["node"],"permissions":{"decide":true}}`, "", "reverse domain"},
		{`{"id":"dev.x.rules","name":"a\nb","command":["node"],"permissions":{"decide":true}}`, "", "one line"},
		{`{"id":"dev.x.rules","id":"dev.y.rules","command":["node"],"permissions":{"decide":true}}`, "", "duplicate"},
		{`no`, "", "invalid"},
		{strings.Repeat(" ", maxManifest+1), "", "longer than"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ManifestName), []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := ReadManifest(dir)
		switch {
		case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%.100s: got %v, want %q", test.text, err, test.want)
		case err == nil && filepath.ToSlash(m.Program()) != strings.ReplaceAll(test.program, "FOLDER", filepath.ToSlash(dir)):
			t.Errorf("%s: got %s, want %s", test.text, m.Program(), test.program)
		case err == nil && m.Name == "":
			t.Errorf("%s: it has no name", test.text)
		}
	}
	if _, err := ReadManifest(t.TempDir()); err == nil {
		t.Error("a folder without a manifest is read")
	}
}
