package receipt

import (
	"fmt"
	"path/filepath"
	"strings"
)

// groups are the attributions, in the order in which they are shown.
var groups = []struct {
	by    Attribution
	about string
}{
	{BySilent, "silent: by the agent, which never said so"},
	{ByDeclared, "declared: by the agent's own tools, which said so"},
	{ByMediated, "mediated: by the agent, through Sallyport"},
	{ByUnsure, "unsure: by the agent or by you; an undo leaves it unless forced"},
	{ByUser, "user: by you, during the turn; an undo leaves it"},
}

func (p *printer) changes() section {
	all := p.Did.Changes
	switch {
	case all.Total == 0 && p.Kind == Turn && (p.Cover.Before == "" || p.Cover.After == ""):
		return section{rows: p.screen.wrapped("Changed", red, "not known: "+p.uncovered(), 2)}
	case all.Total == 0:
		return section{rows: []row{textRow("Changed", "", "nothing")}}
	}
	sec := section{cut: all.Cut(), many: 3}
	counts := make([]int, len(groups)+1)
	byGroup := make([][]Change, len(groups)+1)
	for _, c := range all.List {
		at := len(groups)
		for i, g := range groups {
			if g.by == c.By {
				at = i
			}
		}
		counts[at]++
		byGroup[at] = append(byGroup[at], c)
	}
	var parts []string
	for i, list := range byGroup {
		if len(list) == 0 {
			continue
		}
		by, about := "of other kinds", "others"
		if i < len(groups) {
			by, about = string(groups[i].by), groups[i].about
		}
		parts = append(parts, fmt.Sprintf("%d %s", counts[i], by))
		sec.list = append(sec.list, textRow("", dim, about))
		for _, c := range list {
			sec.list = append(sec.list, p.change(c))
		}
	}
	title := count(all.Total, "path")
	if len(parts) > 1 {
		title += ": " + strings.Join(parts, ", ")
	}
	sec.rows = []row{textRow("Changed", "", title)}
	return sec
}

// marks say what happened to a path.
var marks = map[string]span{
	Added: {style: green, text: "+"}, Deleted: {style: red, text: "-"}, Modified: {style: yellow, text: "~"},
	ModeChanged: {style: yellow, text: "m"}, TypeChanged: {style: yellow, text: "t"},
}

// change is a path with what it was and is.
func (p *printer) change(c Change) row {
	mark, ok := marks[c.Kind]
	if !ok {
		mark = span{style: yellow, text: "?"}
	}
	r := row{entry: true, spans: []span{{text: "  "}, mark, {"", " " + visible(p.under(c.Root, c.Path)), middle, 12}, {dim, "  " + fromTo(c), end, 0}}}
	if c.Buffer {
		r.spans = append(r.spans, span{style: dim, text: " (open)"})
	}
	return r
}

// under is a path of a root as a person likes to read it.
func (p *printer) under(root, path string) string {
	if root == p.Folder {
		return path
	}
	return filepath.Join(root, filepath.FromSlash(path))
}

// fromTo says what a path was and is, by what tells the two apart.
func fromTo(c Change) string {
	face := func(s State) string {
		switch {
		case s.Kind == "absent":
			return ""
		case c.Kind == ModeChanged:
			return visible(s.Mode)
		case c.Kind == TypeChanged, s.Hash == "":
			return visible(s.Kind)
		default:
			return visible(s.Hash[:min(8, len(s.Hash))])
		}
	}
	s := strings.TrimSpace(face(c.Before) + " → " + face(c.After))
	if b, a := c.Before.Mode, c.After.Mode; c.Kind != ModeChanged && b != "" && a != "" && b != a {
		s += fmt.Sprintf(", %s → %s", visible(b), visible(a))
	}
	return s
}

// uncovered is why there is no checkpoint.
func (p *printer) uncovered() string {
	if p.Cover.None != "" {
		return visible(p.Cover.None)
	}
	return "there is no checkpoint"
}
