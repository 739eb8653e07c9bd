package config

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed schema.json
var configSchema []byte

//go:embed project.schema.json
var projectSchema []byte

// Schema gives the JSON Schema of config.json, as it is shipped.
func Schema() []byte { return bytes.Clone(configSchema) }

// ProjectSchema gives the JSON Schema of .sallyport.json, as it is shipped.
func ProjectSchema() []byte { return bytes.Clone(projectSchema) }

// schema is one of ours, compiled when the first file needs it: it costs milliseconds.
type schema struct {
	raw     any // as decoded, to look up what may stand where
	checker *jsonschema.Schema
	wider   *schema // the user's, of a project's: its other keys would loosen; else nil
}

var (
	userRules    = sync.OnceValues(func() (*schema, error) { return compile(configSchema) })
	projectRules = sync.OnceValues(func() (*schema, error) {
		wider, err := userRules()
		if err != nil {
			return nil, err
		}
		s, err := compile(projectSchema)
		if err == nil {
			s.wider = wider
		}
		return s, err
	})
)

// onlyTighten is why a project's file cannot have its way.
const onlyTighten = "a project file may only tighten what the user's configuration grants"

func compile(text []byte) (*schema, error) {
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading the shipped schema: %w", err)
	}
	root, ok := raw.(map[string]any)
	if !ok {
		return nil, errors.New("reading the shipped schema: it is no object")
	}
	id, _ := root["$id"].(string)
	c := jsonschema.NewCompiler()
	if err := c.AddResource(id, raw); err != nil {
		return nil, fmt.Errorf("reading the shipped schema: %w", err)
	}
	checker, err := c.Compile(id)
	if err != nil {
		return nil, fmt.Errorf("compiling the shipped schema: %w", err)
	}
	return &schema{raw: raw, checker: checker}, nil
}

// check gives what the schema finds wrong in standard JSON that was made of src.
func (s *schema) check(src *source, standard []byte) []Problem {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(standard))
	if err != nil {
		return []Problem{src.at(nil, false, err.Error(), "")}
	}
	err = s.checker.Validate(value)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return []Problem{src.at(nil, false, err.Error(), "")}
	}
	problems := s.explain(src, invalid, nil)
	slices.SortStableFunc(problems, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return problems
}

func (s *schema) explain(src *source, e *jsonschema.ValidationError, list []Problem) []Problem {
	at := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			p := src.at(append(slices.Clone(at), name), true, "unknown key", remove(name))
			if s.wider != nil && slices.Contains(s.wider.keys(at), name) {
				p.Message, p.Remedy = "only the user's own configuration may set this", onlyTighten
				list = append(list, p)
				continue
			}
			if near := nearest(name, s.keys(at)); near != "" {
				p.Remedy = "did you mean " + near + "?"
			}
			p.Warning = true
			list = append(list, p)
		}
	case *kind.Enum:
		p := src.at(at, false, "must be "+choices(k.Want), "")
		if s.wider != nil {
			p.Remedy = onlyTighten
		}
		if got, ok := k.Got.(string); ok {
			if near := nearest(got, texts(k.Want)); near != "" {
				p.Remedy = "did you mean " + strconv.Quote(near) + "?"
			}
		}
		list = append(list, p)
	case *kind.Type:
		list = append(list, src.at(at, false, fmt.Sprintf("must be %s, not %s", strings.Join(k.Want, " or "), k.Got), ""))
	case *kind.PropertyNames:
		p := src.at(append(slices.Clone(at), k.Property), true, "not a good name", "use letters, digits, '.', '_' and '-'")
		return append(list, p)
	case *kind.MinLength:
		list = append(list, src.at(at, false, "must not be empty", ""))
	case *kind.UniqueItems:
		list = append(list, src.at(append(slices.Clone(at), strconv.Itoa(k.Duplicates[1])), false, "stands here twice", "remove one"))
	case *kind.Pattern: // its own words would print the value
		p := src.at(at, false, "must match "+k.Want, "")
		if s.wider != nil {
			p.Message, p.Remedy = `must not begin with "!"`, onlyTighten
		}
		list = append(list, p)
	default:
		if len(e.Causes) == 0 {
			list = append(list, src.at(at, false, k.LocalizedString(message.NewPrinter(language.English)), ""))
		}
	}
	for _, cause := range e.Causes {
		list = s.explain(src, cause, list)
	}
	return list
}

// keys gives what may stand in the object at path.
func (s *schema) keys(path []string) []string {
	node := s.raw
	for _, part := range path {
		m, ok := s.deref(node).(map[string]any)
		if !ok {
			return nil
		}
		properties, _ := m["properties"].(map[string]any)
		switch {
		case properties[part] != nil:
			node = properties[part]
		case m["additionalProperties"] != nil:
			node = m["additionalProperties"]
		default:
			node = m["items"]
		}
	}
	m, _ := s.deref(node).(map[string]any)
	properties, _ := m["properties"].(map[string]any)
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// deref follows one "#/$defs/name", the only kind of reference in our schemas.
func (s *schema) deref(node any) any {
	m, _ := node.(map[string]any)
	ref, _ := m["$ref"].(string)
	name, ok := strings.CutPrefix(ref, "#/$defs/")
	if !ok {
		return node
	}
	root, _ := s.raw.(map[string]any)
	defs, _ := root["$defs"].(map[string]any)
	return defs[name]
}

func remove(name string) string { return "remove " + strconv.Quote(name) + ", it has no effect" }

func texts(values []any) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = fmt.Sprint(v)
	}
	return list
}

// choices is `"a", "b" or "c"`.
func choices(values []any) string {
	list := make([]string, len(values))
	for i, v := range values {
		if s, ok := v.(string); ok {
			list[i] = strconv.Quote(s)
		} else {
			list[i] = fmt.Sprint(v)
		}
	}
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}
