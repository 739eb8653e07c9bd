package receipt

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entries is a section of one row an entry; one is what a single one is called.
func entries(name, one string, cut int, list []row) section {
	for i := range list {
		list[i].entry = true
	}
	switch {
	case len(list) > 0:
		list[0].label = name
	case cut > 0:
		return section{rows: []row{textRow(name, dim, fmt.Sprintf("%d, not listed", cut))}}
	}
	return section{list: list, cut: cut, sum: count(len(list)+cut, one)}
}

func (p *printer) permissions() section {
	all := p.Did.Permissions
	if all.Total == 0 {
		return section{rows: []row{textRow("Asked", "", "nothing")}}
	}
	var list []row
	outcomes := map[string]int{}
	for _, q := range all.List {
		style := green
		if q.Outcome != "allowed" {
			style = red
		}
		by := " by " + visible(q.By)
		if q.Name != "" && q.Name != q.By {
			by += " " + visible(q.Name)
		}
		r := row{spans: []span{{style: style, text: visible(q.Outcome)}, {text: by + ": ", give: end, least: 12}, {text: visible(q.Tool)}, {"", " " + visible(q.Target), middle, 12}}}
		if q.Kind == "command" { // of a command the beginning says most
			r.spans[3].give, r.spans[3].least = end, 24
		}
		switch {
		case q.By == "user" && q.Rule != "":
			r.spans = append(r.spans, span{dim, " (for good: " + visible(q.Rule) + ")", end, 12})
		case q.By == "user":
			r.spans = append(r.spans, span{dim, " (after " + tenths(time.Duration(q.DelayMS)*time.Millisecond) + ")", end, 0})
		case q.Why != "":
			r.spans = append(r.spans, span{dim, " (" + visible(q.Why) + ")", end, 0})
		}
		list = append(list, r)
		outcomes[visible(q.Outcome)]++
	}
	sec := entries("Asked", "permission", all.Cut(), list)
	separator := ": "
	for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
		sec.sum += fmt.Sprintf("%s%d %s", separator, outcomes[outcome], outcome)
		separator = ", "
	}
	if cut := all.Cut(); cut > 0 {
		sec.sum += fmt.Sprintf(", %d not listed", cut)
	}
	return sec
}

// passed counts what went through us.
func (p *printer) passed() []row {
	all := p.Did.Accesses
	if all.Total == 0 {
		return nil
	}
	var reads, writes, merged int
	for _, a := range all.List {
		if a.Kind == "write" {
			writes++
		} else {
			reads++
		}
		if a.Merged {
			merged++
		}
	}
	var parts []string
	if reads > 0 {
		parts = append(parts, count(reads, "read"))
	}
	if writes > 0 {
		parts = append(parts, count(writes, "write"))
	}
	if cut := all.Cut(); cut > 0 {
		parts = append(parts, fmt.Sprintf("%d more", cut))
	}
	s := strings.Join(parts, ", ") + " through Sallyport"
	if merged > 0 {
		s += fmt.Sprintf("; %d merged with what you typed", merged)
	}
	return []row{textRow("Passed", "", s)}
}

func (p *printer) refusals() section {
	var list []row
	for _, f := range p.Did.Refusals.List {
		r := row{spans: []span{{style: red, text: visible(f.Fence)}, {text: ": " + visible(f.Access) + " "}, {"", visible(p.relative(f.Path)), middle, 12}}}
		if f.Why != "" {
			r.spans = append(r.spans, span{dim, " (" + visible(f.Why) + ")", end, 0})
		}
		list = append(list, r)
	}
	return entries("Refused", "refusal", p.Did.Refusals.Cut(), list)
}

// relative is an absolute path as a person likes to read it.
func (p *printer) relative(path string) string {
	rel, err := filepath.Rel(p.Folder, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return path
	}
	return rel
}

func (p *printer) taint() section {
	var list []row
	for _, t := range p.Taint {
		list = append(list, row{spans: []span{{style: yellow, text: visible(t.Kind)}, {text: " "}, {"", visible(t.Source), middle, 12}}})
	}
	return entries("Taint", "source", 0, list)
}

func (p *printer) alarms() section {
	var list []row
	for _, a := range p.Did.Alarms.List {
		list = append(list, row{spans: []span{{text: p.at(a.Time) + " "}, {red, visible(a.Text), end, 12}}})
	}
	return entries("Alarms", "alarm", p.Did.Alarms.Cut(), list)
}

const mostVerdicts = 4 // that did not pass

// verdicts are those that need a look, and then the names of those that passed.
func (p *printer) verdicts() []row {
	var rows []row
	var passed []string
	bad := 0
	for _, v := range p.Verifier {
		took := tenths(time.Duration(v.Seconds * float64(time.Second)))
		if v.Outcome == Passed {
			passed = append(passed, visible(v.Name)+" ("+took+")")
			continue
		}
		if bad++; bad > mostVerdicts {
			continue
		}
		style := red
		if v.Outcome == Cancelled {
			style = yellow
		}
		s := " after " + took
		if v.Exit != nil {
			s += fmt.Sprintf(", exit status %d", *v.Exit)
		}
		if v.Why != "" {
			s += ": " + visible(v.Why)
		}
		rows = append(rows, row{spans: []span{{style: style, text: visible(v.Outcome)}, {text: " " + visible(v.Name)}, {"", s, end, 12}, {dim, output(v), middle, 0}}})
	}
	if bad > mostVerdicts {
		rows = append(rows, textRow("", red, fmt.Sprintf("… and %d more that did not pass", bad-mostVerdicts)))
	}
	if len(passed) > 0 {
		rows = append(rows, row{spans: []span{{style: green, text: Passed}, {"", " " + strings.Join(passed, ", "), end, 12}}})
	}
	if len(rows) > 0 {
		rows[0].label = "Checks"
	}
	return rows
}

func output(v Verdict) string {
	if v.Output == "" {
		return ""
	}
	return "; see " + visible(v.Output)
}

func (p *printer) tokens() []row {
	if p.Agent == nil {
		return nil
	}
	given := "not given"
	if t := p.Tokens; t != nil {
		var parts []string
		for _, part := range []struct {
			what string
			n    *int64
		}{{"in", t.Input}, {"out", t.Output}, {"thought", t.Thought}, {"read from cache", t.CachedRead}, {"written to cache", t.CachedWrite}, {"in all", t.Total}} {
			if part.n != nil {
				parts = append(parts, fmt.Sprintf("%d %s", *part.n, part.what))
			}
		}
		if len(parts) > 0 {
			given = strings.Join(parts, ", ")
		}
	}
	return []row{{label: "Tokens", spans: []span{{"", given, end, 12}}}}
}

// skipped is what cannot be taken back.
func (p *printer) skipped() section {
	var list []row
	for _, s := range p.Cover.Skipped.List {
		list = append(list, row{spans: []span{{"", visible(p.under(s.Root, s.Path)), middle, 12}, {dim, " (" + visible(s.Reason) + ")", end, 0}}})
	}
	return entries("Skipped", "path", p.Cover.Skipped.Cut(), list)
}

// undo is how to take the turn back.
func (p *printer) undo() []row {
	switch {
	case p.Kind == Undo:
		return []row{textRow("Redo", bold, "sallyport redo "+argument(p.Of))}
	case p.Kind == Redo:
		return []row{textRow("Undo", bold, "sallyport undo "+argument(p.Of))}
	case p.Cover.Before == "":
		return p.screen.wrapped("Undo", red, "not possible: "+p.uncovered(), 2)
	case p.Did.Changes.Total == 0:
		return []row{textRow("Undo", "", "nothing to take back")}
	default:
		return []row{textRow("Undo", bold, "sallyport undo "+argument(p.Turn))}
	}
}
