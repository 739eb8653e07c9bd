package main

import (
	"fmt"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/plugins/rules"
)

// team are the rules of a team.
type team struct {
	rules    *rules.Rules
	messages map[string]string // by the text of the rule
}

// entry is one of rules.json: a text, or an object.
type entry struct{ Command, Message string }

func (e *entry) UnmarshalJSON(data []byte) error {
	if jsontext.Value(data).Kind() == '"' {
		return json.Unmarshal(data, &e.Command)
	}
	var object struct {
		Command string `json:"command"`
		Message string `json:"message"`
	}
	err := json.Unmarshal(data, &object, json.RejectUnknownMembers(true))
	e.Command, e.Message = object.Command, object.Message
	return err
}

func readTeam(name string) (*team, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var file struct {
		Deny  []entry `json:"deny"`
		Allow []entry `json:"allow"`
	}
	if err := json.Unmarshal(data, &file, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	t := &team{messages: map[string]string{}}
	list := func(entries []entry) (texts []string) {
		for _, e := range entries {
			text := "Bash(" + e.Command + ":*)"
			t.messages[text] = e.Message
			texts = append(texts, text)
		}
		return texts
	}
	var problems []rules.Problem
	t.rules, problems = rules.Parse(rules.Lists{Deny: list(file.Deny), Allow: list(file.Allow)}, rules.Source{})
	for _, p := range problems {
		return nil, fmt.Errorf("reading %s: %w", name, p)
	}
	return t, nil
}

// decision is the answer to permissions/decide.
type decision struct {
	Decision string `json:"decision"`
	Message  string `json:"message,omitzero"`
}

// decide judges a request; whatever cannot be read is left to the user.
func (t *team) decide(params jsontext.Value) decision {
	var p struct {
		Request struct {
			Kind  string `json:"kind"`
			Input struct {
				Command string           `json:"command"`
				Cut     map[string]int64 `json:"sallyport_cut"` // what is not here as a whole
			} `json:"input"`
		} `json:"request"`
	}
	if json.Unmarshal(params, &p) != nil || p.Request.Kind != "command" {
		return decision{Decision: "ask"}
	}
	q := rules.Request{Kind: rules.Command, Tool: "Bash", Command: p.Request.Input.Command}
	_, q.Cut = p.Request.Input.Cut["command"]
	v := t.rules.Decide(q)
	switch v.Say {
	case rules.Deny:
		message := t.messages[v.Rule.Text]
		if message == "" {
			message = "the team's rules forbid it: " + v.Why
		}
		return decision{"deny", message}
	case rules.Allow:
		return decision{Decision: "allow"}
	default:
		return decision{Decision: "ask"}
	}
}
