package rules

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ParseClaude reads the permission block of a .claude/settings.json: its lists
// deny, ask and allow, nothing else of it. from.Root is the folder that holds
// .claude. Nothing is ever written there.
//
// Problems are the rules that were left out, and lists that were.
func ParseClaude(data []byte, from Source) (*Rules, []Problem) {
	var settings struct {
		Permissions struct {
			Deny  jsontext.Value `json:"deny"`
			Ask   jsontext.Value `json:"ask"`
			Allow jsontext.Value `json:"allow"`
		} `json:"permissions"`
	}
	if err := json.Unmarshal(data, &settings); err != nil {
		return &Rules{}, []Problem{{Why: "reading the settings: " + err.Error()}}
	}
	var lists Lists
	var problems []Problem
	for _, list := range []struct {
		say  Say
		raw  jsontext.Value
		into *[]string
	}{
		{Deny, settings.Permissions.Deny, &lists.Deny},
		{Ask, settings.Permissions.Ask, &lists.Ask},
		{Allow, settings.Permissions.Allow, &lists.Allow},
	} {
		var entries []jsontext.Value
		if len(list.raw) == 0 {
			continue
		}
		if err := json.Unmarshal(list.raw, &entries); err != nil {
			problems = append(problems, Problem{Why: fmt.Sprintf("permissions.%s is no list of rules", list.say)})
			continue
		}
		for _, entry := range entries {
			var rule string
			if err := json.Unmarshal(entry, &rule); err != nil || entry.Kind() != '"' {
				problems = append(problems, Problem{List: list.say.String(), Rule: cut(string(entry)), Why: "it is no text"})
				continue
			}
			*list.into = append(*list.into, rule)
		}
	}
	r, bad := Parse(lists, from)
	return r, append(problems, bad...)
}

// Without is the set without one of its lists.
func (r *Rules) Without(say Say) *Rules {
	rest := Join(r)
	rest.commands[say], rest.files[say], rest.hosts[say], rest.tools[say] = commandRules{}, nil, nil, nil
	rest.count[say] = 0
	return rest
}
