package config

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// each calls visit for every property in the schema.
func each(s *schema, node any, path string, visit func(path string, property map[string]any)) {
	m, _ := s.deref(node).(map[string]any)
	properties, _ := m["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p, _ := properties[name].(map[string]any)
		visit(path+"/"+name, p)
		each(s, p, path+"/"+name, visit)
	}
	for _, key := range []string{"additionalProperties", "items"} {
		if _, ok := m[key].(map[string]any); ok {
			each(s, m[key], path+"/*", visit)
		}
	}
}

func TestSchemaSaysEverything(t *testing.T) {
	for name, rules := range map[string]func() (*schema, error){"config": userRules, "project": projectRules} {
		s, err := rules()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		each(s, s.raw, "", func(path string, p map[string]any) {
			n++
			if text, _ := p["description"].(string); text == "" {
				t.Errorf("%s: %s has no description", name, path)
			}
			if _, ok := p["default"]; !ok {
				t.Errorf("%s: %s has no default", name, path)
			}
			if _, ok := p["enum"]; !ok && p["type"] == nil {
				t.Errorf("%s: %s has no type", name, path)
			}
		})
		if n < 9 {
			t.Errorf("%s: only %d properties were seen", name, n)
		}
	}
}

// The schema's defaults, written to a file, are the defaults of the code.
func TestSchemaDefaults(t *testing.T) {
	var raw any
	if err := json.Unmarshal(configSchema, &raw); err != nil {
		t.Fatal(err)
	}
	var defaults func(node any) map[string]any
	defaults = func(node any) map[string]any {
		out := map[string]any{}
		m, _ := node.(map[string]any)
		properties, _ := m["properties"].(map[string]any)
		for name, p := range properties {
			property, _ := p.(map[string]any)
			out[name] = property["default"]
			if property["properties"] != nil {
				out[name] = defaults(property)
			}
		}
		return out
	}
	text, err := json.Marshal(defaults(raw))
	if err != nil {
		t.Fatal(err)
	}
	c, problems, err := Load(write(t, string(text)))
	if err != nil || len(problems) > 0 {
		t.Fatalf("Load(%s): %v, %v", text, problems, err)
	}
	empty := cmp.FilterValues(func(a, b []string) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore())
	none := cmp.FilterValues(func(a, b map[string]Agent) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore())
	checks := cmp.FilterValues(func(a, b []Check) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore())
	programs := cmp.FilterValues(func(a, b []Decider) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore())
	if diff := cmp.Diff(Default(), c, empty, none, checks, programs); diff != "" {
		t.Error(diff)
	}
	if c.Fences.Unreadable != nil {
		t.Error("unreadable: null is not the built-in list")
	}
}

// Every field of the types is in the schema: what is not would be an unknown key.
func TestSchemaKnowsTheTypes(t *testing.T) {
	yes := true
	c := Default()
	c.Custom = map[string]Agent{"a": {FS: &yes, Modes: map[Mode]string{Plan: "x"}}}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	_, problems, err := Load(write(t, string(text)))
	for _, p := range problems {
		if p.Warning {
			t.Errorf("%v", p)
		}
	}
	if err != nil && len(problems) == 0 {
		t.Error(err)
	}
	p, err := json.Marshal(&Project{})
	if err != nil {
		t.Fatal(err)
	}
	_, problems, _ = parseProject("f", p)
	for _, p := range problems {
		if p.Message == "unknown key" || p.Remedy == onlyTighten && p.Message == "only the user's own configuration may set this" {
			t.Errorf("%v", p)
		}
	}
}

func TestSchemasAreCopies(t *testing.T) {
	Schema()[0], ProjectSchema()[0] = 'x', 'x'
	if Schema()[0] != '{' || ProjectSchema()[0] != '{' {
		t.Error("a caller can change the shipped schema")
	}
}

func BenchmarkLoad(b *testing.B) {
	if _, err := userRules(); err != nil {
		b.Fatal(err)
	}
	text := []byte(fmt.Sprintf(`{"agent": "a", "fences": {"private": [%q]}}`, b.TempDir()))
	for b.Loop() {
		if _, problems, err := parse("f", text, userRules, Default()); err != nil || len(problems) > 0 {
			b.Fatal(problems, err)
		}
	}
}
