package decider

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Question is the params of permissions/decide.
type Question struct {
	Request Request `json:"request"`
	Project Project `json:"project"`
	Ticket  Ticket  `json:"ticket,omitzero"` // absent outside a ticket
	Agent   Agent   `json:"agent"`
}

// Request is what an agent wants to do, named as Claude Code names it, whatever
// the agent. Kind is command, edit, read, fetch, mcp or tool.
type Request struct {
	ID    string         `json:"id"`
	Kind  string         `json:"kind"`
	Tool  string         `json:"tool"`
	Input jsontext.Value `json:"input,omitzero"` // an object, its long texts cut
}

// Project is the project that the agent works on.
type Project struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Private bool   `json:"private"`
}

// Ticket is what the agent works on.
type Ticket struct {
	ID    string `json:"id"`
	Key   string `json:"key"`
	Title string `json:"title"`
}

// Agent is who asks.
type Agent struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// MaxTarget is how many bytes of a target are kept.
const MaxTarget = 300

// Target is what the request aims at: its command, file, page or pattern, as one
// line and cut; empty where none is known.
func (r Request) Target() string {
	var in struct {
		Command  string `json:"command"`
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
		Path     string `json:"path"`
		URL      string `json:"url"`
		Query    string `json:"query"`
		Pattern  string `json:"pattern"`
	}
	if json.Unmarshal(r.Input, &in, jsontext.AllowDuplicateNames(true)) != nil {
		var command struct {
			Command string `json:"command"`
		}
		if json.Unmarshal(r.Input, &command, jsontext.AllowDuplicateNames(true)) != nil {
			return ""
		}
		in.Command = command.Command
	}
	for _, s := range []string{in.Command, in.File, in.Notebook, in.Path, in.URL, in.Query, in.Pattern} {
		if s != "" {
			return oneLine(s, MaxTarget)
		}
	}
	return ""
}

// oneLine makes a foreign text fit for a line on a screen: what controls a
// terminal or turns the direction of writing becomes a space, and it is cut.
func oneLine(s string, most int) string {
	cut := len(s) > most
	if cut {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
		s = s[:most]
	}
	s = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.TrimSpace(s)
	if cut {
		s += "…"
	}
	return s
}
