package rules

import (
	"path/filepath"
	"strings"
)

// The kinds of a request, as the project names them everywhere.
const (
	Command = "command"
	Edit    = "edit"
	Read    = "read"
	Fetch   = "fetch"
	MCP     = "mcp"
	Tool    = "tool"
)

// Request is what an agent wants to do.
type Request struct {
	Kind    string   // one of the kinds; any other is decided as Tool
	Tool    string   // as Claude Code names it: Bash, Edit, mcp__server__tool
	Command string   // Kind Command: the whole line
	In      string   // Kind Command: where it runs, if not in Folder; outside of it, a rule of cd has to allow it
	Foreign bool     // Kind Command: the shell may be another than bash and its like; only what all read alike is clear
	Cut     bool     // Command is not all of it: deny rules hold for what is there, the rest is unclear
	Paths   []string // Edit, Read: the files, absolute, below ~/, or relative to Folder
	URL     string   // Fetch: the page
	Folder  string   // the session's folder, absolute
	Home    string   // what ~ stands for; empty: nothing is known to be below it
}

// inside reports whether a command runs in the request's folder or in one below.
func (q *Request) inside() bool {
	at := place{folders: []string{q.Folder}, home: q.Home}
	if q.In == "" {
		return true
	}
	files, known := at.files(q.In)
	return known && (files[0] == q.Folder || strings.HasPrefix(files[0], strings.TrimSuffix(filepath.ToSlash(q.Folder), "/")+"/"))
}

// Verdict is what a set of rules says about a request.
type Verdict struct {
	Say    Say
	Rule   Rule     // that decided; the zero value when none did
	Why    string   // about what part, one sentence without a stop
	Writes []string // files that redirections of a command write, as spelt
}

// Part is a verdict on one part of a request: one command, one file.
type Part struct {
	Text string
	Say  Say
	Rule Rule   // the zero value: none
	Why  string // where no rule says it
}

// Explanation is a verdict with all parts, in the order of the request.
type Explanation struct {
	Verdict
	Parts []Part
}

// Decide says what the rules say. A request of which some part is denied is
// denied; one of which some part has to be asked, or is not known, is asked;
// it is allowed only if a rule covers every part.
func (r *Rules) Decide(q Request) Verdict { return r.Explain(q).Verdict }

// Explain is Decide with its reasons.
func (r *Rules) Explain(q Request) Explanation {
	if r.Len() == 0 {
		return Explanation{Verdict: Verdict{Why: "there are no rules"}}
	}
	switch q.Kind {
	case Command:
		return r.command(&q)
	case Edit, Read:
		return r.fileRequest(&q)
	case Fetch:
		return r.fetch(&q)
	default:
		return r.tool(&q)
	}
}

func (e *Explanation) note(p Part) { e.Parts = append(e.Parts, p) }

// settle makes a verdict of the parts: the strictest one's, and Allow only
// where all are allowed.
func (e *Explanation) settle() {
	say := Allow
	for _, p := range e.Parts {
		if p.Say == None && say == Allow {
			say = None
		}
		if p.Say > Allow && p.Say > say {
			say = p.Say
		}
	}
	if len(e.Parts) == 0 {
		say = None
	}
	e.Say = say
	for _, p := range e.Parts {
		if p.Say != say || e.Why != "" && p.Rule == (Rule{}) {
			continue
		}
		e.Rule, e.Why = p.Rule, p.sentence()
		if p.Rule != (Rule{}) {
			return
		}
	}
}

func (p Part) sentence() string {
	if p.Why == "" {
		return p.Text
	}
	return p.Text + ": " + p.Why
}

// String is the explanation for people, a line for each part.
func (e Explanation) String() string {
	var b strings.Builder
	line := func(say Say, rule Rule, text string) {
		b.WriteString(say.String())
		if rule != (Rule{}) {
			b.WriteString(" by " + rule.Text)
			if rule.From != "" {
				b.WriteString(" of " + rule.From)
			}
		}
		b.WriteString(": " + text + "\n")
	}
	line(e.Say, e.Rule, e.Why)
	for _, p := range e.Parts {
		b.WriteString("  ")
		line(p.Say, p.Rule, p.sentence())
	}
	return b.String()
}
