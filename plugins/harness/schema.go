package harness

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

//go:embed schema.json
var schemaJSON []byte

// Schema is the JSON Schema (draft 2020-12) of a manifest, as shipped.
func Schema() []byte { return bytes.Clone(schemaJSON) }

// rules is the compiled schema with its source, for remedies.
type rules struct {
	schema *jsonschema.Schema
	source *document
}

// compiled compiles the schema on first use: a start without installed
// manifests never pays for it.
var compiled = sync.OnceValues(func() (*rules, error) {
	source, err := parseTree(schemaJSON)
	if err != nil {
		return nil, fmt.Errorf("reading the manifest schema: %w", err)
	}
	const url = "urn:sallyport:schema:harness-manifest:1"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource(url, source.root.value()); err != nil {
		return nil, fmt.Errorf("reading the manifest schema: %w", err)
	}
	schema, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("compiling the manifest schema: %w", err)
	}
	return &rules{schema, source}, nil
})

// finding is one violation of the schema.
type finding struct {
	path    []string // of the offending value, or of the one that lacks a member
	missing bool     // the last step of path is a member that is not there
	unknown bool     // the last step of path is a member that the format does not have
	Problem          // Code, Message and Remedy
}

// check validates a document. The findings come in no particular order.
func (r *rules) check(d *document) ([]finding, error) {
	err := r.schema.Validate(d.root.value())
	var invalid *jsonschema.ValidationError
	if err == nil {
		return nil, nil
	}
	if !errors.As(err, &invalid) {
		return nil, fmt.Errorf("validating: %w", err)
	}
	return r.leaves(nil, invalid), nil
}

func (r *rules) leaves(out []finding, e *jsonschema.ValidationError) []finding {
	at := e.InstanceLocation
	add := func(path []string, missing bool, code, message, remedy string) {
		out = append(out, finding{path: path, missing: missing, unknown: code == "unknown-field",
			Problem: Problem{Code: code, Message: message, Remedy: remedy}})
	}
	subject := "the manifest"
	if len(at) > 0 {
		subject = subjectOf(at)
	}
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			add(append(slices.Clone(at), name), false, "unknown-field", fmt.Sprintf("the format has no field %s here", quoted(name)), r.unknownRemedy(e, name))
		}
	case *kind.Required:
		for _, name := range k.Missing {
			add(append(slices.Clone(at), name), true, "missing-field", fmt.Sprintf("%s lacks %q", subject, name), r.missingRemedy(e, name))
		}
	case *kind.DependentRequired:
		for _, name := range k.Missing {
			add(append(slices.Clone(at), name), true, "missing-field", fmt.Sprintf("%s has %q but lacks %q", subject, k.Prop, name), r.missingRemedy(e, name))
		}
	case *kind.Type:
		add(at, false, "wrong-type", fmt.Sprintf("%s is %s, not %s", subject, typeName(k.Got), typeNames(k.Want)), r.remedy(e, "write "+typeNames(k.Want)))
	case *kind.Const:
		add(at, false, "wrong-value", fmt.Sprintf("%s is %s, not %s", subject, show(k.Got), show(k.Want)), "write "+show(k.Want))
	case *kind.Enum:
		var want []string
		for _, v := range k.Want {
			want = append(want, show(v))
		}
		add(at, false, "wrong-value", fmt.Sprintf("%s is %s", subject, show(k.Got)), "write one of "+strings.Join(want, ", "))
	case *kind.Pattern:
		add(at, false, "wrong-form", fmt.Sprintf("%s is %s", subject, show(k.Got)), r.remedy(e, "match "+k.Want))
	case *kind.MinLength, *kind.MinItems, *kind.MinProperties:
		add(at, false, "empty", subject+" is empty", r.remedy(e, "fill it in"))
	case *kind.MaxLength:
		add(at, false, "too-long", fmt.Sprintf("%s has %d characters", subject, k.Got), fmt.Sprintf("write at most %d", k.Want))
	case *kind.MaxItems:
		add(at, false, "too-long", fmt.Sprintf("%s has %d entries", subject, k.Got), fmt.Sprintf("write at most %d", k.Want))
	case *kind.MaxProperties:
		add(at, false, "too-long", fmt.Sprintf("%s has %d fields", subject, k.Got), fmt.Sprintf("write at most %d", k.Want))
	default:
		if len(e.Causes) == 0 { // a keyword that the schema did not use when this was written
			add(at, false, "invalid", subject+" is not valid", r.remedy(e, "compare it with the schema"))
		}
	}
	for _, cause := range e.Causes {
		out = r.leaves(out, cause)
	}
	return out
}

// subjectOf names a value by the end of its path: env.KEY, names[0],
// harnesses[0].id.
func subjectOf(path []string) string {
	from := max(len(path)-2, 0)
	if from > 0 && isIndex(path[from]) {
		from--
	}
	var b strings.Builder
	for i, step := range path[from:] {
		switch {
		case isIndex(step) && i > 0:
			fmt.Fprintf(&b, "[%s]", step)
		case i > 0:
			b.WriteString("." + visible(step))
		default:
			b.WriteString(visible(step))
		}
	}
	return b.String()
}

func isIndex(step string) bool {
	return step != "" && strings.Trim(step, "0123456789") == ""
}

func typeName(t string) string {
	switch t {
	case "string":
		return "text"
	case "object", "array", "integer":
		return "an " + t
	case "number":
		return "a number"
	case "boolean":
		return "true or false"
	default:
		return t // null
	}
}

func typeNames(want []string) string {
	var names []string
	for _, t := range want {
		names = append(names, typeName(t))
	}
	return strings.Join(names, " or ")
}

func show(v any) string {
	if s, ok := v.(string); ok {
		return quoted(s)
	}
	return visible(fmt.Sprint(v))
}
