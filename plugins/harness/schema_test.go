package harness

import (
	"slices"
	"strings"
	"testing"
)

// TestSchemaIsWhole: the shipped schema compiles, describes each field, and
// has the quirk-free promise that a reader can rely on: closed objects.
func TestSchemaIsWhole(t *testing.T) {
	r, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n *node, path string)
	walk = func(n *node, path string) {
		for _, group := range []string{"properties", "patternProperties"} {
			members := n.kid(group)
			if members == nil {
				continue
			}
			for _, m := range members.kids {
				if d := r.described(m); d == "" {
					t.Errorf("%s/%s has no description", path, m.name)
				}
			}
			if n.kid("additionalProperties") == nil && !strings.HasSuffix(path, "/permissions") {
				t.Errorf("%s does not say what else it may hold", path)
			}
		}
		for _, k := range n.kids {
			if k.kind == '{' {
				walk(k, path+"/"+k.name)
			}
		}
	}
	walk(r.source.root, "")
}

// described is the description of a schema, or of what it refers to.
func (r *rules) described(n *node) string {
	if d := n.kid("description"); d != nil {
		return d.text
	}
	if ref := n.kid("$ref"); ref != nil {
		if d := r.subschema(ref.text).kid("description"); d != nil {
			return d.text
		}
	}
	return ""
}

// TestSchemaAndTypesAgree: what the schema allows in a harness, the types
// hold; a field that only one of them has would be lost silently.
func TestSchemaAndTypesAgree(t *testing.T) {
	r, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	for def, held := range map[string][]string{
		"harness":   fieldsOf[Harness](t),
		"acp":       fieldsOf[ACP](t),
		"sallyport": fieldsOf[Own](t),
	} {
		unused := []string{"efforts", "keyVar", "closeGraceMs", "framing", "closeLine", "opens", "relaunches", "stderrLeavesOut", "memory"}
		var allowed []string
		for _, m := range r.subschema("#/$defs/" + def).kid("properties").kids {
			if def == "harness" && slices.Contains(unused, m.name) {
				continue
			}
			allowed = append(allowed, m.name)
		}
		slices.Sort(allowed)
		slices.Sort(held)
		if !slices.Equal(allowed, held) {
			t.Errorf("%s: schema has %q\ntypes have %q", def, allowed, held)
		}
	}
}
