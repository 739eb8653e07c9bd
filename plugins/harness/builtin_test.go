package harness

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

func builtins(t testing.TB) map[string]*Harness {
	t.Helper()
	all, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]*Harness{}
	for _, m := range all {
		for _, h := range m.Contributes.Harnesses {
			by[h.ID] = h
		}
	}
	return by
}

// TestBuiltInsAreManifests: each one passes the schema and every check without
// a word, gives what the quick way gives, and survives being written and read.
func TestBuiltInsAreManifests(t *testing.T) {
	quick, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range builtinOrder {
		data, err := BuiltInSource(id)
		if err != nil {
			t.Fatal(err)
		}
		m, problems, err := parse("builtin/"+id+".json", data, Builtin)
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: %v, problems %v", id, err, problems)
			continue
		}
		if diff := cmp.Diff(m, quick[i]); diff != "" {
			t.Errorf("%s: read with and without the schema differ:\n%s", id, diff)
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		back, problems, err := parse("builtin/"+id+".json", again, Builtin)
		if err != nil || len(problems) > 0 {
			t.Errorf("%s written again: %v, problems %v", id, err, problems)
			continue
		}
		if diff := cmp.Diff(m, back); diff != "" {
			t.Errorf("%s does not survive being written:\n%s", id, diff)
		}
		if n := len(m.Contributes.Harnesses); n != 1 || m.Contributes.Harnesses[0].ID != id {
			t.Errorf("%s has %d harnesses, the first %q", id, n, m.Contributes.Harnesses[0].ID)
		}
	}
	entries, err := os.ReadDir("builtin")
	if err != nil || len(entries) != len(builtinOrder) {
		t.Errorf("builtin/ has %d files, the list %d (%v)", len(entries), len(builtinOrder), err)
	}
	if _, err := BuiltInSource("../schema"); err == nil {
		t.Error("BuiltInSource gives files that are no manifests")
	}
}

// TestBuiltInGooseIsTheAuthors: ours says what the published one says, with
// nothing but x-sallyport beside it.
func TestBuiltInGooseIsTheAuthors(t *testing.T) {
	theirs, _, err := parse("x", goose(t), Builtin)
	if err != nil {
		t.Fatal(err)
	}
	data, err := BuiltInSource("goose")
	if err != nil {
		t.Fatal(err)
	}
	ours, _, err := parse("x", data, Builtin)
	if err != nil {
		t.Fatal(err)
	}
	ours.Contributes.Harnesses[0].Own = Own{}
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("goose differs from its author's:\n%s", diff)
	}
}

// TestBuiltInsMatchRecordings: name, version, modes and options are those that
// the real agents announced (testdata/announced.json, from recorded sessions).
func TestBuiltInsMatchRecordings(t *testing.T) {
	data, err := os.ReadFile("testdata/announced.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]struct {
		AgentInfo     struct{ Name, Version string } `json:"agentInfo"`
		Sessions      []string                       `json:"sessions"`
		Images        bool                           `json:"images"`
		Modes         []string                       `json:"modes"`
		ConfigOptions map[string][]string            `json:"configOptions"`
		Models        bool                           `json:"models"`
	}
	if err := json.Unmarshal(data, &all, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	for id, h := range builtins(t) {
		said, ok := all[id]
		if !ok {
			if id != "goose" && id != "demo" {
				t.Errorf("%s: no recording", id)
			}
			continue
		}
		if !slices.Contains(h.Own.AgentInfo, said.AgentInfo.Name) {
			t.Errorf("%s announces itself as %q, the manifest says %q", id, said.AgentInfo.Name, h.Own.AgentInfo)
		}
		if h.Program.Tested != (Tested{said.AgentInfo.Version, said.AgentInfo.Version}) {
			t.Errorf("%s: tested %v, recorded %s", id, h.Program.Tested, said.AgentInfo.Version)
		}
		if h.Caps.Images != said.Images {
			t.Errorf("%s: images %v, recorded %v", id, h.Caps.Images, said.Images)
		}
		modes := said.Modes
		if h.Own.ModeOption != "" {
			modes = said.ConfigOptions[h.Own.ModeOption]
		}
		for ours, theirs := range h.ACP.Switches.Modes {
			if !slices.Contains(modes, theirs) {
				t.Errorf("%s: mode %s is %q, which the agent does not have: %q", id, ours, theirs, modes)
			}
		}
		if read := h.ACP.Switches.ReadOnlyMode; read != "" && !slices.Contains(modes, read) {
			t.Errorf("%s: readOnlyMode is %q, which the agent does not have: %q", id, read, modes)
		}
		if _, ok := said.ConfigOptions[h.ACP.Switches.ModelOption]; h.ACP.Switches.ModelOption != "" && !ok || h.ACP.Switches.ModelOption == "" && !said.Models {
			t.Errorf("%s: modelOption %q, recorded options %v, models %v", id, h.ACP.Switches.ModelOption, said.ConfigOptions, said.Models)
		}
		slices.Sort(said.Sessions)
		if id == "qwen" { // announced, and answered with "method not found" (transcript qwen/load)
			said.Sessions = slices.DeleteFunc(said.Sessions, func(s string) bool { return s == "resume" })
		}
		if got := slices.Sorted(slices.Values(h.Own.Reach.Sessions)); !slices.Equal(got, said.Sessions) {
			t.Errorf("%s: sessions %q, recorded %q", id, got, said.Sessions)
		}
	}
}

// TestBuiltInVariables: the variables that the requirements name are passed on
// (C023, C024), and nothing else of the user's is (C025).
func TestBuiltInVariables(t *testing.T) {
	by := builtins(t)
	for id, want := range map[string][]string{
		"claude": {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR"},
		"gemini": {"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"},
		"codex":  {"OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_HOME", "MODEL_PROVIDER"},
		"qwen":   {"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"},
	} {
		for _, name := range want {
			if !slices.Contains(by[id].Own.PassEnv, name) {
				t.Errorf("%s is not passed %s", id, name)
			}
		}
	}
	for id, h := range by {
		for _, name := range h.Own.PassEnv {
			for _, foreign := range []string{"AWS_", "GITHUB_", "SSH_", "NPM_"} {
				if strings.HasPrefix(name, foreign) {
					t.Errorf("%s is passed %s", id, name)
				}
			}
		}
	}
	if got := by["demo"].Own.PassEnv; len(got) > 0 {
		t.Errorf("demo is passed %q", got)
	}
}

// TestBuiltInsAsk: agents that would not ask are started so that they do.
func TestBuiltInsAsk(t *testing.T) {
	by := builtins(t)
	if got := by["codex"].ACP.Environment.Env["INITIAL_AGENT_MODE"]; got != "read-only" {
		t.Errorf("codex starts in mode %q", got)
	}
	var config struct {
		Permission map[string]string `json:"permission"`
	}
	if err := json.Unmarshal([]byte(by["opencode"].ACP.Environment.Env["OPENCODE_CONFIG_CONTENT"]), &config); err != nil {
		t.Fatal(err)
	}
	if config.Permission["edit"] != "ask" || config.Permission["bash"] != "ask" {
		t.Errorf("opencode is started with %v", config.Permission)
	}
	for _, id := range []string{"claude", "gemini", "opencode", "qwen"} {
		modes := by[id].ACP.Switches.Modes
		if modes["acceptEdits"] != modes["default"] || modes["bypassPermissions"] != modes["default"] {
			t.Errorf("%s stops asking in some mode: %v", id, modes)
		}
	}
	for id, only := range map[string]string{"claude": "default", "codex-zed": "read-only"} {
		for mode, own := range by[id].ACP.Switches.Modes {
			if own != only {
				t.Errorf("%s is sent into its mode %s in %s: it does not ask there, or not afterwards", id, own, mode)
			}
		}
	}
}

// TestBuiltInsSayFS: fs is what was seen on the wire (H031, H032).
func TestBuiltInsSayFS(t *testing.T) {
	for id, h := range builtins(t) {
		if want := id == "gemini" || id == "qwen" || id == "demo"; h.ACP.FS != want {
			t.Errorf("%s: fs is %v, want %v", id, h.ACP.FS, want)
		}
	}
}

// TestBuiltInsAreHonest: each mode of each agent has a meaning in English and
// French that is no promise without its limit (H024 to H026).
func TestBuiltInsAreHonest(t *testing.T) {
	for id, h := range builtins(t) {
		for _, m := range h.Caps.Modes {
			if len(m.Meaning["en"]) < 40 || len(m.Meaning["fr"]) < 40 {
				t.Errorf("%s, %s: meaning %v", id, m.ID, m.Meaning)
			}
			if m.ID == "bypassPermissions" && id != "demo" && !strings.Contains(m.Meaning["en"], "whole disk") {
				t.Errorf("%s: bypassPermissions does not say how far it reaches: %s", id, m.Meaning["en"])
			}
		}
		if h.ACP.FS || id == "goose" {
			continue
		}
		if got := h.Caps.Modes[0].Meaning["en"]; !strings.Contains(got, "the disk itself") || !strings.Contains(got, "unsaved text is not seen") {
			t.Errorf("%s writes the disk itself and default does not say so: %s", id, got)
		}
	}
}

// TestBuiltInsInstall: each has a line for both kinds of system, but the demo.
func TestBuiltInsInstall(t *testing.T) {
	for id, h := range builtins(t) {
		for _, goos := range []string{"windows", "linux", "darwin"} {
			if line := h.Install.Lines.For(goos); (line == "") != (id == "demo") {
				t.Errorf("%s: install line for %s is %q", id, goos, line)
			}
		}
	}
}
