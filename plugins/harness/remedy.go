package harness

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Remedies come from the schema itself: "x-remedy" says what to write for a
// value, "x-remedy-names" for the names in an object, "examples" shows it, and the members that an object has are what a
// misspelt one may have meant.

// remedy is what to do about a value that breaks the subschema of e.
func (r *rules) remedy(e *jsonschema.ValidationError, fallback string) string {
	at := r.subschema(e.SchemaURL)
	if at == nil {
		return fallback
	}
	if own := at.kid("x-remedy"); own != nil {
		return own.text
	}
	if example := exampleOf(at); example != "" {
		return fallback + ", for example " + example
	}
	return fallback
}

func (r *rules) missingRemedy(e *jsonschema.ValidationError, name string) string {
	if at := r.member(e, name); at != nil {
		if fixed := at.kid("const"); fixed != nil {
			return fmt.Sprintf("add %q: %s", name, fixed.appendJSON(nil))
		}
		if example := exampleOf(at); example != "" {
			return fmt.Sprintf("add %q: %s", name, example)
		}
	}
	return fmt.Sprintf("add %q", name)
}

func (r *rules) unknownRemedy(e *jsonschema.ValidationError, name string) string {
	at := r.subschema(e.SchemaURL)
	if at == nil {
		return "remove it"
	}
	if own := at.kid("x-remedy-names"); own != nil {
		return own.text
	}
	var known []string
	if members := at.kid("properties"); members != nil {
		for _, m := range members.kids {
			known = append(known, m.name)
		}
	}
	if near := Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "remove it"
}

func (r *rules) member(e *jsonschema.ValidationError, name string) *node {
	if at := r.subschema(e.SchemaURL); at != nil {
		if members := at.kid("properties"); members != nil {
			return members.kid(name)
		}
	}
	return nil
}

func exampleOf(schema *node) string {
	if all := schema.kid("examples"); all != nil && len(all.kids) > 0 {
		return string(all.kids[0].appendJSON(nil))
	}
	return ""
}

// subschema finds the source of a compiled schema by its URL.
func (r *rules) subschema(location string) *node {
	_, fragment, ok := strings.Cut(location, "#")
	if !ok {
		return r.source.root
	}
	path, err := url.PathUnescape(fragment)
	if err != nil {
		return nil
	}
	at := r.source.root
	for step := range jsontext.Pointer(path).Tokens() {
		if at = at.kid(step); at == nil {
			return nil
		}
	}
	return at
}
