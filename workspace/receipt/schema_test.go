package receipt

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compiled is the shipped schema, or a strict one that also refuses members that it does not describe.
func compiled(t testing.TB, strict bool) *jsonschema.Schema {
	t.Helper()
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	if strict {
		each(raw, "", func(_ string, node map[string]any) {
			if node["properties"] != nil {
				node["additionalProperties"] = false
			}
		})
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("urn:test", raw); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("urn:test")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// each visits all objects of a schema.
func each(node any, path string, visit func(path string, node map[string]any)) {
	switch node := node.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(node)) {
			each(node[name], path+"/"+name, visit)
		}
		visit(path, node)
	case []any:
		for i, v := range node {
			each(v, fmt.Sprint(path, "/", i), visit)
		}
	}
}

func validate(t testing.TB, s *jsonschema.Schema, line []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%s\n%v", line, err)
	}
}

func TestSchemaSaysEverything(t *testing.T) {
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	each(raw, "", func(path string, node map[string]any) {
		properties, _ := node["properties"].(map[string]any)
		required, _ := node["required"].([]any)
		for name, p := range properties {
			property := p.(map[string]any)
			if property["$ref"] != nil {
				continue
			}
			n++
			if text, _ := property["description"].(string); len(text) < 5 {
				t.Errorf("%s: %s is not described", path, name)
			}
			if property["type"] == nil && property["enum"] == nil {
				t.Errorf("%s: %s has no type", path, name)
			}
			_, hasDefault := property["default"]
			text := property["description"].(string)
			if !slices.Contains(required, any(name)) && !hasDefault && !strings.Contains(text, "bsent when") {
				t.Errorf("%s: %s is optional: what does its absence mean?", path, name)
			}
		}
	})
	if n < 70 {
		t.Errorf("only %d members were seen", n)
	}
}

func TestSchemaOfRealReceipts(t *testing.T) {
	s := compiled(t, true)
	l := newLog(t)
	least := &Receipt{Head: Head{Turn: "t2"}, Where: Where{Folder: project}}
	for _, r := range []*Receipt{sample("t1"), least} {
		if err := l.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		validate(t, s, line)
	}
	for _, bad := range []string{`{}`, `[]`, `{"schema":1}`} {
		v, _ := jsonschema.UnmarshalJSON(strings.NewReader(bad))
		if s.Validate(v) == nil {
			t.Errorf("the schema takes %s", bad)
		}
	}
}

// Receipts of anything: each is appended, found as it was, and as the schema says.
func TestSchemaOfGeneratedReceipts(t *testing.T) {
	s := compiled(t, true)
	l := newLog(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 80 {
		r := &Receipt{}
		generate(random, reflect.ValueOf(r).Elem(), "")
		r.Schema, r.Folder = Version, project
		if err := l.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		validate(t, s, line)
		again := &Receipt{}
		if err := json.Unmarshal(line, again); err != nil {
			t.Fatal(err)
		}
		if line2, err := json.Marshal(again); err != nil || !bytes.Equal(line, line2) {
			t.Fatalf("got  %s\nwant %s", line2, line)
		}
	}
	l.sound(t, 80)
}

var words = []string{"", "a", "caf\xe9", "two\nlines", "\x1b[31mred", "日本", `"\`, "\x00", "a/b", "\u202e", strings.Repeat("long ", 200)}

// choices are the fields that a closed set or a pattern binds.
var choices = map[string][]string{
	"Kind":      nil, // by type, below
	"Reads":     {"", Enforced, Mediated, Observed},
	"Writes":    {"", Enforced, Mediated, Observed},
	"Commands":  {"", Enforced, Mediated, Observed},
	"Outcome":   {Passed, Failed, TimedOut, NotRun, Cancelled},
	"Mode":      {"", "0644", "4755"},
	"Hash":      {"", sum(nil)},
	"Before":    {"", sum(nil)},
	"After":     {"", sum(nil)},
	"Previous":  {""},
	"SchemaVer": nil,
}

func generate(random *rand.Rand, v reflect.Value, field string) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(random.Int64N(1<<40)-1<<39, random.Int64N(1e9))))
		return
	case reflect.TypeFor[Kind]():
		v.SetString([]string{"", "turn", "undo", "redo"}[random.IntN(4)])
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			generate(random, v.Field(i), v.Type().Field(i).Name)
		}
	case reflect.Pointer:
		if random.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			generate(random, v.Elem(), field)
		}
	case reflect.Slice:
		for range random.IntN(4) {
			e := reflect.New(v.Type().Elem()).Elem()
			generate(random, e, field)
			v.Set(reflect.Append(v, e))
		}
	case reflect.String:
		from := choices[field]
		if len(from) == 0 {
			from = words
		}
		v.SetString(from[random.IntN(len(from))])
	case reflect.Int, reflect.Int64:
		v.SetInt(random.Int64N(1 << 50))
	case reflect.Float64:
		v.SetFloat(random.Float64() * 1000)
	case reflect.Bool:
		v.SetBool(random.IntN(2) == 0)
	default:
		panic("no values for a field of kind " + v.Kind().String())
	}
}

func TestSchemaIsACopy(t *testing.T) {
	Schema()[0] = 'x'
	if Schema()[0] != '{' {
		t.Error("a caller can change the shipped schema")
	}
}
