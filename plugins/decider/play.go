package decider

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// CasesFolder is where a decider's own cases are, in its folder: files of JSON,
// each one case or an array of them.
const CasesFolder = "decisions"

const (
	maxCases     = 10_000
	maxCasesFile = 8 << 20
)

// Case is one question of a bench, and what its author wants for it. What is
// left out of the question is filled in: the kind by the tool, ids by a number.
type Case struct {
	Name     string `json:"name"` // default: the tool and what it aims at
	Question `json:",inline"`
	Want     Want `json:"want"` // the zero value: any answer in time will do
}

// Want is what a case wants.
type Want struct {
	Decision string `json:"decision"` // allow, deny, ask; empty: any
	Message  string `json:"message"`  // empty: any
}

// Played is a case with the answer to it.
type Played struct {
	Case   Case
	Answer Answer
	Wrong  string // what is wrong with the answer; empty: nothing
}

// Cases reads the cases in a decider's folder; without any it gives the built-in
// ones, which want an answer in time and nothing else.
func Cases(folder string) ([]Case, error) {
	names, err := filepath.Glob(filepath.Join(escaped(folder), CasesFolder, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("looking for cases: %w", err)
	}
	if len(names) == 0 {
		return builtin(), nil
	}
	slices.Sort(names)
	var all []Case
	for _, name := range names {
		data, err := readSmall(name)
		if err != nil {
			return nil, fmt.Errorf("reading cases: %w", err)
		}
		some, err := ParseCases(data)
		if err != nil {
			return nil, fmt.Errorf("reading cases in %s: %w", name, err)
		}
		if all = append(all, some...); len(all) > maxCases {
			return nil, fmt.Errorf("reading cases: more than %d", maxCases)
		}
	}
	return all, nil
}

// escaped is a folder's name as a part of a glob.
func escaped(folder string) string {
	return strings.NewReplacer("*", `[*]`, "?", `[?]`, "[", `[[]`).Replace(folder)
}

func readSmall(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxCasesFile:
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it is no file of at most %d MiB", maxCasesFile>>20)}
	}
	return os.ReadFile(name)
}

// ParseCases reads one case or an array of them.
func ParseCases(data []byte) ([]Case, error) {
	data = []byte(strings.TrimSpace(string(data)))
	var all []Case
	var err error
	if len(data) > 0 && data[0] == '[' {
		err = json.Unmarshal(data, &all, json.RejectUnknownMembers(true))
	} else {
		all = make([]Case, 1)
		err = json.Unmarshal(data, &all[0], json.RejectUnknownMembers(true))
	}
	if err != nil {
		return nil, err
	}
	for i := range all {
		if err := all[i].fill(i + 1); err != nil {
			return nil, fmt.Errorf("case %d: %w", i+1, err)
		}
	}
	return all, nil
}

// fill completes a case.
func (c *Case) fill(number int) error {
	r := &c.Request
	switch {
	case r.Tool == "":
		return errors.New("request.tool is missing")
	case !slices.Contains([]string{"", "allow", "deny", "ask"}, c.Want.Decision):
		return errors.New("want.decision is allow, deny or ask")
	case len(r.Input) > 0 && r.Input.Kind() != '{':
		return errors.New("request.input is no object")
	}
	if len(r.Input) == 0 {
		r.Input = jsontext.Value("{}")
	}
	if err := r.Input.Compact(); err != nil { // a message is one line
		return err
	}
	if kind := KindOf(r.Tool); r.Kind == "" {
		r.Kind = kind
	}
	set := func(s *string, value string) {
		if *s == "" {
			*s = value
		}
	}
	set(&r.ID, fmt.Sprint("bench-", number))
	set(&c.Project.ID, "bench")
	set(&c.Project.Name, "bench")
	set(&c.Agent.ID, "bench")
	set(&c.Agent.Name, "bench")
	set(&c.Name, strings.TrimSpace(r.Tool+" "+r.Target()))
	return nil
}

// KindOf is the kind of a tool.
func KindOf(tool string) string {
	switch tool {
	case "Bash":
		return "command"
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		return "edit"
	case "Read", "Grep", "Glob", "LS":
		return "read"
	case "WebFetch", "WebSearch":
		return "fetch"
	}
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok && strings.Contains(rest, "__") {
		return "mcp"
	}
	return "tool"
}

// builtin are cases of every kind, with the oddities that agents send.
func builtin() []Case {
	var all []Case
	for i, r := range []Request{
		{Tool: "Bash", Input: jsontext.Value(`{"command":"npm test"}`)},
		{Tool: "Bash", Input: jsontext.Value(`{"command":"rm -rf build","description":"Removes the build folder"}`)},
		{Tool: "Bash", Input: jsontext.Value(`{"command":"git status && rm -rf \"$HOME\""}`)},
		{Tool: "Bash", Input: jsontext.Value(`{"command":"printf 'unclosed"}`)},
		{Tool: "Bash", Input: jsontext.Value(`{"command":"cat <<'E'\nl\u00edne\nE"}`)},
		{Tool: "Bash", Input: jsontext.Value(`{"command":"echo ` + strings.Repeat("x", 4000) + `… [cut by Sallyport: 9000 bytes in all]","sallyport_cut":{"command":9000}}`)},
		{Tool: "Bash", Input: jsontext.Value(`{}`)},
		{Tool: "Edit", Input: jsontext.Value(`{"file_path":"/project/src/main.go","old_string":"a","new_string":"b"}`)},
		{Tool: "Write", Input: jsontext.Value(`{"file_path":"/project/a b.txt","content":"x"}`)},
		{Tool: "Read", Input: jsontext.Value(`{"file_path":"/project/.env"}`)},
		{Tool: "Grep", Input: jsontext.Value(`{"pattern":"TODO","path":"/project"}`)},
		{Tool: "WebFetch", Input: jsontext.Value(`{"url":"https://example.com/page"}`)},
		{Tool: "mcp__server__tool", Input: jsontext.Value(`{"anything":[1,{"deep":null}]}`)},
		{Tool: "Something new", Input: jsontext.Value(`{"input":"text"}`)},
	} {
		c := Case{Question: Question{Request: r}}
		if err := c.fill(i + 1); err != nil {
			continue // they are part of the program, and a test looks
		}
		all = append(all, c)
	}
	return all
}

// Play asks a decider that is ready one case and judges the answer.
func Play(ctx context.Context, d *Decider, c Case) (Played, error) {
	a, err := d.Decide(ctx, &c.Question)
	if err != nil {
		return Played{}, err
	}
	p := Played{Case: c, Answer: a}
	switch {
	case a.Why != "":
		p.Wrong = a.Why
	case c.Want.Decision != "" && a.Say.String() != c.Want.Decision:
		p.Wrong = fmt.Sprintf("it says %s, and %s is wanted", a.Say, c.Want.Decision)
	case c.Want.Message != "" && a.Message != c.Want.Message:
		p.Wrong = fmt.Sprintf("its message is %q, and %q is wanted", a.Message, c.Want.Message)
	}
	return p, nil
}

// PlayTogether asks for all cases at once, at most 16 at a time, and gives the
// answers in their order: agents ask for several things at once, too.
func PlayTogether(ctx context.Context, d *Decider, cases []Case) ([]Played, error) {
	all := make([]Played, len(cases))
	for start := 0; start < len(cases); start += 16 {
		some := cases[start:min(start+16, len(cases))]
		errs := make(chan error, len(some))
		for i, c := range some {
			go func() { // ends with the answer or ctx, and is waited for below
				var err error
				all[start+i], err = Play(ctx, d, c)
				errs <- err
			}()
		}
		var err error
		for range some {
			err = errors.Join(err, <-errs)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
