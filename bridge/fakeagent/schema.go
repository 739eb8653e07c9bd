package fakeagent

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/tailscale/hujson"
	"golang.org/x/text/language"
	printer "golang.org/x/text/message"
)

// Schema is the JSON Schema of a script, as text.
//
//go:embed script.schema.json
var Schema string

// shownProblems is how many problems of a script are named at once.
const shownProblems = 5

// compiled is the schema, compiled when first needed.
var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(Schema))
	if err != nil {
		return nil, fmt.Errorf("reading the script schema: %w", err)
	}
	// Not a file's name: that would be resolved against the working folder,
	// whose name may hold a "%".
	const url = "urn:sallyport:schema:script:1"
	c := jsonschema.NewCompiler()
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("reading the script schema: %w", err)
	}
	return c.Compile(url)
})

// validate checks text, the standard JSON of tree, against the schema.
func validate(name string, tree *hujson.Value, text []byte) error {
	schema, err := compiled()
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	err = schema.Validate(doc)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	var problems []string
	for _, leaf := range leaves(invalid) {
		if len(problems) == shownProblems {
			break
		}
		at := pointer(leaf)
		what := leaf.ErrorKind.LocalizedString(printer.NewPrinter(language.English))
		problems = append(problems, fmt.Sprintf("%s:%d: %s: %s", name, lineOf(tree, at), at, what))
	}
	return errors.New(strings.Join(problems, "\n"))
}

// leaves are the problems without causes of their own.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, c := range e.Causes {
		all = append(all, leaves(c)...)
	}
	return all
}

// pointer is the JSON pointer of the offending value: of the member itself
// when it is one that should not be there.
func pointer(e *jsonschema.ValidationError) string {
	parts := e.InstanceLocation
	if more, ok := e.ErrorKind.(*kind.AdditionalProperties); ok && len(more.Properties) > 0 {
		parts = append(parts[:len(parts):len(parts)], more.Properties[0])
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("/" + escape.Replace(p))
	}
	return b.String()
}

// lineOf is the line, from 1, on which the value at a pointer starts.
func lineOf(tree *hujson.Value, pointer string) int {
	v := tree.Find(pointer)
	if v == nil {
		return 1
	}
	return 1 + bytes.Count(tree.Pack()[:v.StartOffset], []byte("\n"))
}
