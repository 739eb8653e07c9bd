package harness

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// install puts a manifest into a folder of installed plugins.
func install(t *testing.T, dir, folder, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, folder, FileName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, s Sources) (*Set, []Problem) {
	t.Helper()
	set, problems, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return set, problems
}

func TestSetFinds(t *testing.T) {
	dir := t.TempDir()
	install(t, dir, "probe", good)
	mine, err := FromCommand(Command{ID: "mine", Line: "x"})
	if err != nil {
		t.Fatal(err)
	}
	set, problems := load(t, Sources{Dir: dir, User: []*Harness{mine}})
	if len(problems) > 0 {
		t.Errorf("problems = %v", problems)
	}
	for id, want := range map[string]string{
		"gemini":                             "plugin:dev.sallyport.gemini:gemini",
		"plugin:dev.sallyport.gemini:gemini": "plugin:dev.sallyport.gemini:gemini",
		"plugin:dev.escouade.goose:goose":    "plugin:dev.escouade.goose:goose",
		"probe":                              "plugin:org.example.probe:probe",
		"mine":                               "user:mine",
		"user:mine":                          "user:mine",
	} {
		h, err := set.Get(id)
		if err != nil || h.Global() != want {
			t.Errorf("Get(%s) = %v, %v, want %s", id, h, err, want)
		}
	}
	if got := len(set.All()); got != len(builtinOrder)+2 {
		t.Errorf("%d harnesses", got)
	}
	if h, ok := set.ByAgentInfo("qwen-code"); !ok || h.ID != "qwen" {
		t.Errorf("ByAgentInfo(qwen-code) = %v, %v", h, ok)
	}
	if _, ok := set.ByAgentInfo(""); ok {
		t.Error("an agent without name is known")
	}
}

// TestUnknownAgent: the error names what was probably meant, or what there is.
func TestUnknownAgent(t *testing.T) {
	set, _ := load(t, Sources{})
	for _, tc := range []struct {
		id, want string
		absent   bool
	}{
		{"gemni", `no agent is called "gemni"; did you mean "gemini"?`, false},
		{"Codex", `no agent is called "Codex"; did you mean "codex"?`, false},
		{"open", `no agent is called "open"; did you mean "opencode"?`, false},
		{"zzz", `no agent is called "zzz"; there are claude, codex, codex-zed, gemini, opencode, qwen, goose, demo`, false},
		{"", `no agent is called ""; there are claude, codex, codex-zed, gemini, opencode, qwen, goose, demo`, false},
		{"plugin:org.example.probe:probe", `harness absent: no plugin here gives "plugin:org.example.probe:probe"`, true},
		{"plugin:a:b", `no agent is called "plugin:a:b"; there are claude, codex, codex-zed, gemini, opencode, qwen, goose, demo`, false},
	} {
		_, err := set.Get(tc.id)
		var unknown *UnknownError
		if !errors.As(err, &unknown) || err.Error() != tc.want || unknown.Absent != tc.absent {
			t.Errorf("Get(%q): error %v\nwant %s", tc.id, err, tc.want)
		}
	}
}

// TestHarnessAbsent: an uninstalled plugin's harness is absent, and is back
// when the plugin is (H055, H056).
func TestHarnessAbsent(t *testing.T) {
	dir := t.TempDir()
	const id = "plugin:org.example.probe:probe"
	absent := func() bool {
		set, _ := load(t, Sources{Dir: dir})
		_, err := set.Get(id)
		var unknown *UnknownError
		return errors.As(err, &unknown) && unknown.Absent
	}
	if !absent() {
		t.Error("it is there before it was installed")
	}
	install(t, dir, "probe", good)
	if absent() {
		t.Error("it is absent although installed")
	}
	if err := os.RemoveAll(filepath.Join(dir, "probe")); err != nil {
		t.Fatal(err)
	}
	if !absent() {
		t.Error("it is there after it was removed")
	}
}

// TestSetIsNarrow: one broken plugin costs only itself.
func TestSetIsNarrow(t *testing.T) {
	dir := t.TempDir()
	install(t, dir, "a-broken", "{")
	install(t, dir, "b-good", good)
	install(t, dir, "c-again", good)
	install(t, dir, "d-old", strings.Replace(good, `"api": "1"`, `"api": "0"`, 1))
	if err := os.MkdirAll(filepath.Join(dir, "e-folder", FileName), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "f-nothing"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "g-file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	set, problems := load(t, Sources{Dir: dir})
	if _, err := set.Get("probe"); err != nil {
		t.Error(err)
	}
	var got []string
	for _, p := range problems {
		rel, _ := filepath.Rel(dir, p.File)
		got = append(got, filepath.ToSlash(filepath.Dir(rel))+" "+p.Code)
	}
	want := []string{"a-broken syntax", "c-again duplicate-id", "d-old wrong-value", "e-folder unreadable"}
	if !slices.Equal(got, want) {
		t.Errorf("problems = %q, want %q", got, want)
	}
	set, problems = load(t, Sources{Dir: filepath.Join(dir, "nowhere")})
	if len(problems) > 0 || len(set.All()) != len(builtinOrder) {
		t.Errorf("a missing folder: problems %v", problems)
	}
}

// TestWhoWins: the user's own, then the built-in, then the installed, by
// short id; the installed one by global id.
func TestWhoWins(t *testing.T) {
	dir := t.TempDir()
	named := func(plugin, id string) string {
		return strings.NewReplacer("org.example.probe", plugin, `"id": "probe"`, `"id": "`+id+`"`).Replace(good)
	}
	install(t, dir, "a", named("org.example.a", "gemini"))
	install(t, dir, "b", named("org.example.b", "twin"))
	install(t, dir, "c", named("org.example.c", "twin"))
	install(t, dir, "d", named("dev.escouade.goose", "goose"))
	set, _ := load(t, Sources{Dir: dir})
	if h, err := set.Get("gemini"); err != nil || h.From.Origin != Builtin {
		t.Errorf("gemini is %v, %v", h, err)
	}
	if h, err := set.Get("plugin:org.example.a:gemini"); err != nil || h.From.Origin != Installed {
		t.Errorf("the installed gemini is %v, %v", h, err)
	}
	if h, err := set.Get("goose"); err != nil || h.From.Origin != Installed {
		t.Errorf("goose is %v, %v", h, err)
	}
	if got := len(set.All()); got != len(builtinOrder)+3 {
		t.Errorf("%d harnesses: the replaced one is still there", got)
	}
	_, err := set.Get("twin")
	if want := `several agents are called "twin": name one of plugin:org.example.b:twin, plugin:org.example.c:twin`; err == nil || err.Error() != want {
		t.Errorf("twin: %v, want %s", err, want)
	}
	mine, err := FromCommand(Command{ID: "gemini", Line: "x"})
	if err != nil {
		t.Fatal(err)
	}
	set, _ = load(t, Sources{Dir: dir, User: []*Harness{mine}})
	if h, err := set.Get("gemini"); err != nil || h.From.Origin != User {
		t.Errorf("gemini is %v, %v", h, err)
	}
}

func TestGlobalID(t *testing.T) {
	id, err := ParseGlobalID("plugin:dev.escouade.goose:goose")
	if err != nil || id != (GlobalID{"dev.escouade.goose", "goose"}) || id.String() != "plugin:dev.escouade.goose:goose" {
		t.Errorf("ParseGlobalID = %+v, %v", id, err)
	}
	for _, bad := range []string{"", "goose", "plugin:", "plugin::", "plugin:dev.x:", "plugin::goose", "plugin:dev.x:a:b", "Plugin:dev.x:a", " plugin:dev.x:a",
		"plugin:dev.x:a ", "plugin:dev:a", "plugin:Dev.x:a", "plugin:dev..x:a", "plugin:dev.x:.a", "plugin:dev.x:a b", "harness:dev.x:a"} {
		if id, err := ParseGlobalID(bad); err == nil {
			t.Errorf("ParseGlobalID(%q) = %+v", bad, id)
		}
	}
}

func TestTextIn(t *testing.T) {
	both := Text{"fr": "non", "en": "no"}
	for _, tc := range []struct {
		text Text
		in   []string
		want string
	}{
		{both, []string{"fr"}, "non"}, {both, []string{"fr-CA"}, "non"}, {both, []string{"FR_ca"}, "non"}, {both, []string{"de"}, "no"}, {both, nil, "no"},
		{both, []string{"de", "fr"}, "non"}, {Text{"pt-BR": "não"}, []string{"de"}, "não"}, {Text{"": "x"}, []string{"fr"}, "x"}, {nil, []string{"fr"}, ""},
	} {
		if got := tc.text.In(tc.in...); got != tc.want {
			t.Errorf("%v.In(%q) = %q, want %q", tc.text, tc.in, got, tc.want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"claude", "codex", "codex-zed", "gemini", "fs", "args"}
	for name, want := range map[string]string{
		"claud": "claude", "cluade": "claude", "GEMINI": "gemini", "gem": "gemini", "codec": "codex", "arg": "args", "f": "fs", "sf": "fs", "x": "", "goose": "", "": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
