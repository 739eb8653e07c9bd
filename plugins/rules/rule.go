package rules

import (
	"fmt"
	"slices"
	"strings"
)

// Say is what rules say about a request, from nothing to strictest.
type Say int

// What rules can say. Where several rules speak the strictest counts.
const (
	None  Say = iota // no rule has an opinion
	Allow            // every part is covered by an allow rule
	Ask              // a person has to look
	Deny             // never
)

func (s Say) String() string {
	switch s {
	case None:
		return "none"
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	case Deny:
		return "deny"
	default:
		return fmt.Sprintf("Say(%d)", int(s))
	}
}

// Lists are rules as people write them, Tool or Tool(specifier). The order
// within a list means nothing.
type Lists struct {
	Deny  []string `json:"deny"`
	Ask   []string `json:"ask"`
	Allow []string `json:"allow"`
}

// Source is where rules come from.
type Source struct {
	Name string // shown beside a rule; empty: nothing is shown
	Root string // absolute folder that /path in a rule is relative to; empty: the request's folder
}

// Rule is one rule as it was written, and where. The zero value is no rule.
type Rule struct {
	Text string // "Bash(rm:*)"
	Say  Say
	From string // name of its source, may be empty
}

// Problem is a rule that is not used, and why.
type Problem struct {
	List string // deny, ask, allow; empty: the file as a whole
	Rule string // as it was written
	Why  string // what is wrong, and what to write instead where that is known
}

func (p Problem) Error() string {
	switch {
	case p.List == "":
		return p.Why
	default:
		return fmt.Sprintf("%s rule %q: %s", p.List, p.Rule, p.Why)
	}
}

// Rules is a set of rules ready to decide. Nil is the empty set. It does not
// change once made, so any number of goroutines may use it.
type Rules struct {
	commands [Deny + 1]commandRules
	files    [Deny + 1][]fileRule
	hosts    [Deny + 1][]hostRule
	tools    [Deny + 1][]toolRule
	count    [Deny + 1]int
}

// Len is the number of rules.
func (r *Rules) Len() int {
	if r == nil {
		return 0
	}
	return r.count[Deny] + r.count[Ask] + r.count[Allow]
}

// Parse reads rules. A rule that cannot be read is left out and is a problem;
// the others hold. Whoever must not lose a deny rule uses the set only without
// problems.
func Parse(lists Lists, from Source) (*Rules, []Problem) {
	r := &Rules{}
	var problems []Problem
	for _, list := range []struct {
		say   Say
		rules []string
	}{{Deny, lists.Deny}, {Ask, lists.Ask}, {Allow, lists.Allow}} {
		for _, text := range list.rules {
			if err := r.add(text, list.say, from); err != nil {
				problems = append(problems, Problem{List: list.say.String(), Rule: text, Why: err.Error()})
			}
		}
	}
	return r, problems
}

// Join is the set of all rules of sets. No order is lost: the strictest rule
// counts wherever it comes from.
func Join(sets ...*Rules) *Rules {
	all := &Rules{}
	for _, r := range sets {
		if r == nil {
			continue
		}
		for say := range Deny + 1 {
			all.count[say] += r.count[say]
			all.commands[say].join(&r.commands[say])
			all.files[say] = slices.Concat(all.files[say], r.files[say])
			all.hosts[say] = slices.Concat(all.hosts[say], r.hosts[say])
			all.tools[say] = slices.Concat(all.tools[say], r.tools[say])
		}
	}
	return all
}

// add reads one rule into the set.
func (r *Rules) add(text string, say Say, from Source) error {
	tool, spec, scoped, err := split(text)
	if err != nil {
		return err
	}
	rule := Rule{Text: text, Say: say, From: from.Name}
	if spec == "*" { // Tool(*) is Tool
		spec, scoped = "", false
	}
	switch {
	case tool == "Bash":
		err = r.commands[say].add(rule, spec, scoped)
	case familyOf(tool) != "":
		err = r.addFile(rule, tool, spec, scoped, from.Root)
	case tool == "WebFetch" && scoped:
		err = r.addHost(rule, spec)
	case scoped:
		err = fmt.Errorf("%s takes no parentheses here: only Bash, Read, Edit and WebFetch do", tool)
	default:
		err = r.addTool(rule, tool)
	}
	if err == nil {
		r.count[say]++
	}
	return err
}

// maxRule is the longest rule, in bytes.
const maxRule = 4096

// split takes a rule apart: the tool's name, and what is in the parentheses.
func split(text string) (tool, spec string, scoped bool, err error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", "", false, fmt.Errorf("it is empty")
	case len(text) > maxRule:
		return "", "", false, fmt.Errorf("it is longer than %d bytes", maxRule)
	case strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "", "", false, fmt.Errorf("it holds a control character")
	}
	tool, spec, scoped = strings.Cut(text, "(")
	if scoped {
		var closed bool
		if spec, closed = strings.CutSuffix(spec, ")"); !closed {
			return "", "", false, fmt.Errorf("its parenthesis is not closed: write %s(…)", tool)
		}
		if spec = strings.TrimSpace(spec); spec == "" {
			return "", "", false, fmt.Errorf("there is nothing in its parentheses: write %s to mean all of it", tool)
		}
	}
	if !toolName(tool) {
		return "", "", false, fmt.Errorf("%q is no tool's name: write Bash, Edit, Read, WebFetch or mcp__server__tool", tool)
	}
	return tool, spec, scoped, nil
}

func toolName(name string) bool {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		return rest != "" && !strings.ContainsAny(rest, ")")
	}
	for i, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '_' || c == '-' || c == '.')) {
			return false
		}
	}
	return name != ""
}
