package zed

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sallyport/plugins/harness"
)

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Every entry starts what it says, and every agent that we know has one.
func TestSettings(t *testing.T) {
	plain := regexp.MustCompile(`(?m)^\s*//.*$`).ReplaceAllString(read(t, "settings.json"), "")
	var settings struct {
		Servers map[string]struct {
			Type, Command string
			Args          []string
			Env           map[string]string
		} `json:"agent_servers"`
	}
	if err := json.Unmarshal([]byte(plain), &settings); err != nil {
		t.Fatal(err)
	}
	set, _, err := harness.Load(harness.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for name, s := range settings.Servers {
		if s.Type != "custom" || s.Command != "sallyport" || len(s.Args) == 0 || s.Args[0] != "acp" || s.Env == nil {
			t.Errorf("%s: %+v", name, s)
			continue
		}
		if i := slices.Index(s.Args, "--agent"); i > 0 {
			if _, err := set.Get(s.Args[i+1]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			named = append(named, s.Args[i+1])
		}
	}
	for _, id := range []string{"claude", "codex", "gemini", "opencode", "qwen", "goose"} {
		if !slices.Contains(named, id) {
			t.Errorf("%s has no entry", id)
		}
	}
}

// The entry fits the registry's schema and its other rules: the folder is the id,
// every system has a build, and the icon is square, small and of one colour.
func TestRegistryEntry(t *testing.T) {
	c := jsonschema.NewCompiler()
	rule, err := jsonschema.UnmarshalJSON(strings.NewReader(read(t, "testdata/agent.schema.json")))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("agent.schema.json", rule); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("agent.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	text := read(t, "registry/sallyport/agent.json")
	entry, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(entry); err != nil {
		t.Error(err)
	}
	var said struct {
		ID           string
		Distribution struct {
			Binary map[string]struct{ Args []string }
		}
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		t.Fatal(err)
	}
	if said.ID != "sallyport" {
		t.Errorf("id %q is not the folder's name", said.ID)
	}
	systems := map[string]bool{}
	for target, b := range said.Distribution.Binary {
		system, _, _ := strings.Cut(target, "-")
		systems[system] = true
		if !slices.Equal(b.Args, []string{"acp"}) {
			t.Errorf("%s is started with %v", target, b.Args)
		}
	}
	if len(systems) != 3 {
		t.Errorf("builds for %v only", systems)
	}
	icon := read(t, "registry/sallyport/icon.svg")
	for _, m := range regexp.MustCompile(`(?:fill|stroke)="([^"]*)"`).FindAllStringSubmatch(icon, -1) {
		if m[1] != "currentColor" && m[1] != "none" {
			t.Errorf("the icon has a colour of its own: %s", m[0])
		}
	}
	if !strings.Contains(icon, `width="16" height="16"`) || !strings.Contains(icon, "currentColor") {
		t.Error("the icon is not 16 by 16 in currentColor")
	}
}
