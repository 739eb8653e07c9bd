package fakeagent

import (
	"fmt"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"
)

// Script is a parsed script. It is never changed after Parse, so one Script
// may serve any number of agents at once.
type Script struct {
	Announced           // what initialize answers
	Offered             // what a new session offers
	Manners             // how the program behaves as a process
	Start     []Step    `json:"start"`   // run before anything is read
	On        Behaviors `json:"on"`      // by method: what happens around its answer
	Prompts   []Prompt  `json:"prompts"` // what the prompts lead to
}

// Announced is what the agent says of itself in the initialize answer.
type Announced struct {
	ProtocolVersion jsontext.Value `json:"protocolVersion"` // default 1; any JSON value, also a wrong one
	Agent           jsontext.Value `json:"agent"`           // agentInfo; default name "fake-agent"
	Capabilities    jsontext.Value `json:"capabilities"`    // agentCapabilities; default {}
	AuthMethods     jsontext.Value `json:"authMethods"`     // default []
	AuthRequired    bool           `json:"authRequired"`    // session/new answers -32000 until authenticate
}

// Offered is what the answers to session/new, load and resume carry.
type Offered struct {
	Modes         jsontext.Value `json:"modes"`
	Models        jsontext.Value `json:"models"`
	ConfigOptions jsontext.Value `json:"configOptions"`
	SessionPrefix string         `json:"sessionPrefix"` // default "fake-": ids are fake-1, fake-2, …
}

// Manners are properties of the whole process.
type Manners struct {
	Strict   bool     `json:"strict"`   // a message outside the ACP v1 types ends the agent with status 3
	Stubborn []string `json:"stubborn"` // "eof": outlives stdin; "term": ignores SIGTERM
}

// Prompt is what one prompt leads to.
type Prompt struct {
	Match string `json:"match"` // taken whenever this text is in the prompt; empty: taken in order, once
	Steps []Step `json:"steps"`
}

// Behaviors maps a method to what its calls lead to, first call first; the
// last entry serves all later calls.
type Behaviors map[string][]Behavior

// Behavior is what happens around the answer to a request that is not a prompt.
type Behavior struct {
	Before []Step  `json:"before"` // run before the answer
	Answer *Answer `json:"answer"` // nil: the polite answer
	After  []Step  `json:"after"`  // run after the answer
}

// Step is one step: its name and its arguments, not yet expanded.
type Step struct {
	Name string
	Args jsontext.Value
}

// Answer is how a request is answered. In a script it is a stop reason, the
// word "never", or an object with these fields.
type Answer struct {
	StopReason string         `json:"stopReason"` // default "end_turn", after a cancel "cancelled"
	Result     jsontext.Value `json:"result"`     // the whole result, instead of a stop reason
	Error      jsontext.Value `json:"error"`      // an error object instead of a result
	Raw        string         `json:"raw"`        // these bytes and a newline instead of a response
	Twice      bool           `json:"twice"`      // the same response a second time
	Never      bool           `json:"never"`      // no response at all
}

// UnmarshalJSON accepts one object or a list of them.
func (b *Behaviors) UnmarshalJSON(data []byte) error {
	var raw map[string]jsontext.Value
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*b = make(Behaviors, len(raw))
	for method, value := range raw {
		var list []Behavior
		var err error
		if value.Kind() == '[' {
			err = json.Unmarshal(value, &list)
		} else {
			list = make([]Behavior, 1)
			err = json.Unmarshal(value, &list[0])
		}
		if err != nil {
			return fmt.Errorf("reading on %s: %w", method, err)
		}
		(*b)[method] = list
	}
	return nil
}

// UnmarshalJSON reads the only member of a step's object.
func (s *Step) UnmarshalJSON(data []byte) error {
	var raw map[string]jsontext.Value
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	for name, args := range raw {
		s.Name, s.Args = name, args
	}
	return nil
}

// UnmarshalJSON accepts the short form, a string.
func (a *Answer) UnmarshalJSON(data []byte) error {
	if jsontext.Value(data).Kind() == '"' {
		var word string
		if err := json.Unmarshal(data, &word); err != nil {
			return err
		}
		if word == "never" {
			*a = Answer{Never: true}
		} else {
			*a = Answer{StopReason: word}
		}
		return nil
	}
	type plain Answer // without this method
	return json.Unmarshal(data, (*plain)(a))
}

// Load reads a script file. Its errors give file, line and remedy, see Parse.
func Load(path string) (*Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading script: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a script: JSON, comments and trailing commas allowed. name
// stands in the errors: "name:line: /pointer: what is wrong", one a line.
func Parse(name string, data []byte) (*Script, error) {
	tree, err := hujson.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	plain := tree.Clone()
	plain.Standardize() // keeps all offsets
	text := plain.Pack()
	if err := validate(name, &tree, text); err != nil {
		return nil, err
	}
	var s Script
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &s, nil
}

// behavior is what the nth call (from 0) of a method leads to.
func (s *Script) behavior(method string, nth int) Behavior {
	list := s.On[method]
	if len(list) == 0 {
		return Behavior{}
	}
	return list[min(nth, len(list)-1)]
}
