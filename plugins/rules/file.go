package rules

import (
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// folded systems do not tell names by case.
const folded = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// fileRule is a rule of Edit, Read or one of their tools.
type fileRule struct {
	Rule
	family string // Edit or Read
	tool   string // empty: the whole family
	base   string // where the pattern starts: an absolute folder, or one of the bases
	glob   string // slashed, relative to base; empty: every file
	fold   string // glob in lower case
	up     int    // leading ..
}

// Where a pattern starts, if not in an absolute folder.
const (
	atFolder = "."
	atHome   = "~"
)

// familyOf is the family whose path rules cover a tool, empty for no files.
func familyOf(tool string) string {
	switch tool {
	case "Edit", "Write", "MultiEdit", "NotebookEdit", "Delete", "Move":
		return "Edit"
	case "Read", "Grep", "Glob", "LS":
		return "Read"
	default:
		return ""
	}
}

// addFile reads //abs, ~/home, /root, ./folder and folder/relative patterns as
// gitignore does: what matches a folder covers what is in it, and a name alone
// is found at any depth.
func (r *Rules) addFile(rule Rule, tool, spec string, scoped bool, root string) error {
	f := fileRule{Rule: rule, family: familyOf(tool)}
	if tool != f.family {
		f.tool = tool
	}
	if !scoped {
		r.files[rule.Say] = append(r.files[rule.Say], f)
		return nil
	}
	if strings.HasPrefix(spec, "!") {
		return fmt.Errorf("a rule takes nothing back: %s is not known", "!")
	}
	if strings.Contains(spec, `\`) {
		return fmt.Errorf("write paths with / and without \\")
	}
	f.base, f.glob = atFolder, spec
	switch {
	case strings.HasPrefix(spec, "//"):
		f.base, f.glob = "/", strings.TrimLeft(spec, "/")
		if len(f.glob) > 2 && f.glob[1] == ':' { // //C:/folder
			f.base, f.glob = f.glob[:2]+"/", strings.TrimLeft(f.glob[2:], "/")
		}
	case strings.HasPrefix(spec, "~/"), spec == "~":
		f.base, f.glob = atHome, strings.TrimLeft(spec[1:], "/")
	case spec[0] == '~':
		return fmt.Errorf("another user's home is not known: write //home/…")
	case spec[0] == '/':
		if f.glob = strings.TrimLeft(spec, "/"); root != "" {
			f.base = filepath.ToSlash(root)
		}
	case !strings.Contains(strings.TrimSuffix(spec, "/"), "/") && strings.Trim(spec, ".") != "":
		f.glob = "**/" + spec
	}
	f.glob = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(path.Clean(f.glob))
	for rest := f.glob; rest == ".." || strings.HasPrefix(rest, "../"); f.up++ {
		rest = strings.TrimPrefix(rest[2:], "/")
	}
	if f.glob == "." {
		f.glob = "**"
	}
	if !strings.HasSuffix(f.glob, "**") {
		f.glob += "/**" // the file, or what is in the folder
	}
	if !doublestar.ValidatePattern(f.glob) {
		return fmt.Errorf("its wildcards cannot be read: is a [ not closed?")
	}
	f.fold = strings.ToLower(f.glob)
	r.files[rule.Say] = append(r.files[rule.Say], f)
	return nil
}

// matches reports whether the rule covers a resolved file.
func (f *fileRule) matches(p *place, file string) bool {
	if f.glob == "" {
		return true
	}
	base := p.base(f.base)
	if base == "" {
		return false
	}
	if f.below(base, file, f.glob) {
		return true
	}
	return p.fold && f.Say > Allow && f.below(strings.ToLower(base), strings.ToLower(file), f.fold)
}

func (f *fileRule) below(base, file, glob string) bool {
	rel, err := filepath.Rel(base, file)
	if err != nil {
		return false
	}
	rel = filepath.ToSlash(rel)
	up := 0
	for rest := rel; rest == ".." || strings.HasPrefix(rest, "../"); up++ {
		rest = strings.TrimPrefix(rest[2:], "/")
	}
	return up == f.up && doublestar.MatchUnvalidated(glob, rel) // a wildcard does not climb
}

// covers reports whether the rule is about a tool at all.
func (f *fileRule) covers(family, tool string) bool {
	return f.family == family && (f.tool == "" || f.tool == tool)
}

// file is the rule of a list that covers a file. doubt is true where one may, and
// it is not known which file it is. tool is empty for a command: what a bare Edit
// or Read says is about these tools. whole: the name stands for all that is in it.
func (r *Rules) file(say Say, family, tool string, p *place, name string, whole bool) (rule *Rule, doubt bool) {
	list := r.files[say]
	if len(list) == 0 {
		return nil, false
	}
	files, known := p.files(name)
	for i := range list {
		f := &list[i]
		switch {
		case !f.covers(family, tool), f.glob == "" && tool == "":
			continue
		case f.glob == "":
			return &f.Rule, false
		}
		doubt = doubt || !known
		for _, file := range files {
			switch {
			case strings.IndexByte(file, wild) < 0 && f.matches(p, file):
				return &f.Rule, false
			case strings.IndexByte(file, wild) >= 0 || whole:
				doubt = doubt || f.meets(p, file, whole)
			}
		}
	}
	return nil, doubt
}

// touches is the rule about files that a part of a command meets.
func (r *Rules) touches(at place, p *part, say Say) (rule *Rule, doubt string) {
	for _, list := range []struct {
		family, why string
		names       []string
	}{{"Edit", "it is not known which file it writes", p.writes}, {"Read", "it is not known which file it reads", p.reads}} {
		for _, name := range list.names {
			rule, unsure := r.file(say, list.family, "", &at, name, p.whole)
			if rule != nil {
				return rule, ""
			}
			if unsure {
				doubt = list.why
			}
		}
	}
	return nil, doubt
}

// fileRequest judges an edit or a read: every file by itself.
func (r *Rules) fileRequest(q *Request) Explanation {
	var e Explanation
	names := q.Paths
	family := map[string]string{Edit: "Edit", Read: "Read"}[q.Kind]
	if len(names) == 0 && (q.Tool == "Grep" || q.Tool == "Glob" || q.Tool == "LS") {
		names = []string{q.Folder}
	}
	if len(names) == 0 {
		names = []string{""}
	}
	at := place{folders: []string{q.Folder}, home: q.Home, fold: folded}
	for _, name := range names {
		e.note(r.filePart(family, q.Tool, at, name))
	}
	e.settle()
	return e
}

func (r *Rules) filePart(family, tool string, at place, name string) Part {
	if strings.ContainsAny(name, "\x03\x04") { // which stand for something else
		name = something.file
	}
	p := Part{Text: cut(name)}
	if name == "" {
		p.Text = tool
	}
	unclear := false
	for _, say := range []Say{Deny, Ask, Allow} {
		if say == Allow && unclear {
			break
		}
		rule, doubt := r.file(say, family, tool, &at, name, tool == "Grep" || tool == "Delete" || tool == "Move")
		if rule == nil && family == "Edit" && say == Deny { // as Claude Code has it
			rule, _ = r.file(say, "Read", "", &at, name, false)
		}
		if rule != nil {
			p.Say, p.Rule = say, *rule
			return p
		}
		unclear = unclear || doubt && say > Allow
	}
	if p.Why = "no rule is about it"; unclear {
		p.Say, p.Why = Ask, "it is not known which file this is"
	}
	return p
}
