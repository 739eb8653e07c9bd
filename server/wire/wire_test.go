package wire_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/server/wire"
)

const examples = "../../testdata/wire"

// example is one file of testdata/wire.
type example struct {
	Method  string         `json:"method"`
	From    wire.From      `json:"from"`
	Kind    string         `json:"kind"`
	Feature wire.Feature   `json:"feature,omitzero"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result,omitzero"`
}

func fileOf(method string) string {
	return strings.ReplaceAll(strings.TrimPrefix(method, "sallyport/"), "/", ".") + ".json"
}

func read(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(examples, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// sameAgain decodes raw strictly into v, encodes it, and demands the same JSON.
func sameAgain(t *testing.T, what string, raw jsontext.Value, v any) {
	t.Helper()
	if err := json.Unmarshal(raw, v, json.RejectUnknownMembers(true)); err != nil {
		t.Errorf("%s: decoding: %v", what, err)
		return
	}
	again, err := json.Marshal(v)
	if err != nil {
		t.Errorf("%s: encoding: %v", what, err)
		return
	}
	got, want := jsontext.Value(again), raw.Clone()
	if err := got.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	if err := want.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: encoded again it differs\n got %s\nwant %s", what, got, want)
	}
}

func TestExamples(t *testing.T) {
	for _, m := range wire.Messages() {
		t.Run(m.Method, func(t *testing.T) {
			var e example
			read(t, fileOf(m.Method), &e)
			kind := "request"
			if m.Result == nil {
				kind = "notification"
			}
			if e.Method != m.Method || e.From != m.From || e.Feature != m.Feature || e.Kind != kind {
				t.Errorf("head is %s from %s (%s, %q), want %s from %s (%s, %q)",
					e.Method, e.From, e.Kind, e.Feature, m.Method, m.From, kind, m.Feature)
			}
			sameAgain(t, "params", e.Params, m.Params)
			if m.Result != nil {
				sameAgain(t, "result", e.Result, m.Result)
			}
		})
	}
}

// fields are the names of a message's members.
func fields(v any) (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v).Elem()) {
		if !f.Anonymous {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" {
				continue // no part of the message
			}
			names = append(names, name)
		}
	}
	return names
}

// Each field of each message must be seen at least once: an example that
// leaves a field out does not show how to decode it.
func TestExamplesShowEveryField(t *testing.T) {
	for _, m := range wire.Messages() {
		var e example
		read(t, fileOf(m.Method), &e)
		for part, raw := range map[string]jsontext.Value{"params": e.Params, "result": e.Result} {
			v := m.Params
			if part == "result" {
				v = m.Result
			}
			if v == nil {
				continue
			}
			var have map[string]jsontext.Value
			if err := json.Unmarshal(raw, &have); err != nil {
				t.Fatalf("%s: %v", m.Method, err)
			}
			for _, name := range fields(v) {
				if _, ok := have[name]; !ok {
					t.Errorf("%s: the example's %s do not show %q", m.Method, part, name)
				}
			}
		}
	}
}

func TestNoOtherExamples(t *testing.T) {
	known := map[string]bool{"initialize.json": true, "errors.json": true}
	for _, m := range wire.Messages() {
		known[fileOf(m.Method)] = true
	}
	entries, err := os.ReadDir(examples)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !known[e.Name()] {
			t.Errorf("%s belongs to no method", e.Name())
		}
	}
}

func TestInitializeExample(t *testing.T) {
	type options struct {
		Sallyport wire.Plugin `json:"sallyport"`
	}
	type experimental struct {
		Sallyport wire.Announcement `json:"sallyport"`
	}
	var e struct {
		Options      jsontext.Value `json:"initializationOptions"`
		Experimental jsontext.Value `json:"experimental"`
	}
	read(t, "initialize.json", &e)
	sameAgain(t, "initializationOptions", e.Options, new(options))
	var x experimental
	sameAgain(t, "experimental", e.Experimental, &x)
	if got := wire.EditorMethods(); !reflect.DeepEqual(got, x.Sallyport.Methods) {
		t.Errorf("the example announces %q, the code %q", x.Sallyport.Methods, got)
	}
}

func TestErrorExamples(t *testing.T) {
	var e struct {
		Errors []struct {
			Code    int64          `json:"code"`
			Message string         `json:"message"`
			Data    jsontext.Value `json:"data"`
		} `json:"errors"`
	}
	read(t, "errors.json", &e)
	seen := map[wire.ErrorKind]bool{}
	for _, x := range e.Errors {
		var d wire.ErrorData
		sameAgain(t, x.Message, x.Data, &d)
		seen[d.Kind] = true
	}
	for _, k := range wire.ErrorKinds() {
		if !seen[k] {
			t.Errorf("no example of an error of kind %q", k)
		}
	}
}

// Every method has a section of its own in docs/PROTOCOL.md, which names its
// example, its direction and its feature.
func TestProtocolDocument(t *testing.T) {
	b, err := os.ReadFile("../../docs/PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for s := range strings.SplitSeq(string(b), "\n### ") {
		head, body, _ := strings.Cut(s, "\n")
		sections[strings.Trim(head, "`")] = body
	}
	for _, m := range wire.Messages() {
		body, ok := sections[m.Method]
		if !ok {
			t.Errorf("docs/PROTOCOL.md has no section %q", m.Method)
			continue
		}
		wants := []string{"testdata/wire/" + fileOf(m.Method)}
		switch {
		case m.From == wire.FromEditor:
			wants = append(wants, "editor → server")
		default:
			wants = append(wants, "server → editor", "`"+string(m.Feature)+"`")
		}
		for _, name := range fields(m.Params) {
			wants = append(wants, "`"+name+"`")
		}
		for _, w := range wants {
			if !strings.Contains(body, w) {
				t.Errorf("docs/PROTOCOL.md, section %s, does not say %q", m.Method, w)
			}
		}
	}
	for _, k := range wire.ErrorKinds() {
		if !strings.Contains(string(b), "`"+string(k)+"`") {
			t.Errorf("docs/PROTOCOL.md does not name error kind %q", k)
		}
	}
}
