package facade_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"sallyport/bridge/bridgetest"
)

// official is one of ACP's own schemas, as the official TypeScript SDK ships it.
type official struct {
	defs  map[string]any
	raw   any
	rules map[string]*jsonschema.Schema
}

// schema reads v1, stable or unstable.
func schema(t testing.TB, name string) *official {
	t.Helper()
	path := filepath.Join(bridgetest.Peers(t), "clients", "node_modules", "@agentclientprotocol", "sdk", "schema", "v1", name)
	raw, err := os.ReadFile(path)
	if err != nil {
		bridgetest.Missing(t, "@agentclientprotocol/sdk", "testdata/peers/clients.sh")
	}
	o := &official{rules: map[string]*jsonschema.Schema{}}
	if err := json.Unmarshal(raw, &o.raw); err != nil {
		t.Fatal(err)
	}
	o.defs = o.raw.(map[string]any)["$defs"].(map[string]any)
	return o
}

// check validates a JSON text against one definition.
func (o *official) check(def, text string) error {
	rule := o.rules[def]
	if rule == nil {
		c := jsonschema.NewCompiler()
		if err := c.AddResource("acp.json", o.raw); err != nil {
			return err
		}
		var err error
		if rule, err = c.Compile("acp.json#/$defs/" + def); err != nil {
			return err
		}
		o.rules[def] = rule
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return rule.Validate(value)
}

// generator makes JSON texts that fit a schema, with what readers like to lose:
// unknown members, nulls, empty lists, odd numbers, any order, custom words.
type generator struct {
	*official
	*rand.Rand
	depth int
	fixed map[string]string // members that always have this value
}

// of makes a text that fits a definition.
func (g *generator) of(def string) string { return g.value(g.defs[def].(map[string]any)) }

func (g *generator) value(s map[string]any) string {
	g.depth++
	defer func() { g.depth-- }()
	if ref, ok := s["$ref"].(string); ok {
		return g.of(strings.TrimPrefix(ref, "#/$defs/"))
	}
	if c, ok := s["const"]; ok {
		return encoded(c)
	}
	if list, ok := s["enum"].([]any); ok {
		return encoded(list[g.IntN(len(list))])
	}
	if members := g.members(s, 0); members != nil {
		return g.object(members)
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		if list, ok := s[key].([]any); ok {
			return g.value(list[g.IntN(len(list))].(map[string]any))
		}
	}
	if list, ok := s["allOf"].([]any); ok && len(list) > 0 {
		return g.value(list[0].(map[string]any))
	}
	switch kind := g.kind(s); kind {
	case "string":
		return g.text()
	case "integer":
		return strconv.Itoa(g.IntN(1000))
	case "number":
		return g.number()
	case "boolean":
		return strconv.FormatBool(g.IntN(2) == 0)
	case "null":
		return "null"
	case "array":
		items, _ := s["items"].(map[string]any)
		var all []string
		for range g.IntN(3) {
			all = append(all, g.value(items))
		}
		return "[" + strings.Join(all, g.comma()) + "]"
	case "object":
		return g.anything(true)
	default:
		return g.anything(false)
	}
}

func (g *generator) kind(s map[string]any) string {
	switch k := s["type"].(type) {
	case string:
		return k
	case []any:
		return k[g.IntN(len(k))].(string)
	}
	return ""
}

// members collects what an object of a schema has; nil when it is no object.
func (g *generator) members(s map[string]any, deep int) map[string]string {
	if deep > 8 {
		return nil
	}
	if ref, ok := s["$ref"].(string); ok {
		return g.members(g.defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any), deep+1)
	}
	var out map[string]string
	add := func(more map[string]string) {
		for k, v := range more {
			if out == nil {
				out = map[string]string{}
			}
			out[k] = v
		}
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		if list, ok := s[key].([]any); ok {
			add(g.members(list[g.IntN(len(list))].(map[string]any), deep+1))
		}
	}
	if list, ok := s["allOf"].([]any); ok {
		for _, one := range list {
			add(g.members(one.(map[string]any), deep+1))
		}
	}
	props, ok := s["properties"].(map[string]any)
	if !ok {
		return out
	}
	required, _ := s["required"].([]any)
	for name, p := range props {
		if !slices.Contains(required, any(name)) && (g.depth > 6 || g.IntN(2) == 0) {
			continue
		}
		if v, ok := g.fixed[name]; ok {
			add(map[string]string{name: v})
			continue
		}
		add(map[string]string{name: g.value(p.(map[string]any))})
	}
	if out == nil {
		out = map[string]string{}
	}
	return out
}

func (g *generator) object(members map[string]string) string {
	if g.IntN(3) == 0 {
		members["x"+strconv.Itoa(g.IntN(100))] = g.anything(false)
	}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var all []string
	for _, name := range names {
		all = append(all, quote(name)+":"+members[name])
	}
	return "{" + strings.Join(all, g.comma()) + "}"
}

func (g *generator) comma() string { return []string{",", ", ", " ,"}[g.IntN(3)] }

func (g *generator) number() string {
	return []string{"0", "-0", "1.0", "1.50", "1e2", "2E+3", "9007199254740993", "12345678901234567890", "-3.14159265358979323846", "0.10"}[g.IntN(10)]
}

func (g *generator) text() string {
	return []string{`""`, `"plain"`, `"é"`, `"\u00e9\ud83d\ude00"`, `"<&>\/"`, `"a\\b\"c"`, `"line\nbreak\t"`, `"/etc/x"`, `"_custom"`, `"null"`,
		`"` + strings.Repeat("long ", g.IntN(200)) + `"`}[g.IntN(11)]
}

func (g *generator) anything(object bool) string {
	n := g.IntN(7)
	if object {
		n = 5
	}
	switch {
	case g.depth > 9 && !object:
		return "null"
	case n == 0:
		return "null"
	case n == 1:
		return g.number()
	case n == 2:
		return g.text()
	case n == 3:
		return "[]"
	case n == 4:
		return "{}"
	case n == 5 && g.depth <= 9:
		g.depth++
		defer func() { g.depth-- }()
		return fmt.Sprintf(`{%s:%s,"_z":%s}`, quote("k"+strconv.Itoa(g.IntN(9))), g.anything(false), g.anything(false))
	case n == 5:
		return "{}"
	default:
		g.depth++
		defer func() { g.depth-- }()
		return "[" + g.anything(false) + "," + g.anything(false) + "]"
	}
}

func encoded(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(raw)
}
