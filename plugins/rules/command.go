package rules

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// commandRules are the Bash rules of one list.
type commandRules struct {
	all     []commandRule // rules of any command
	whole   []commandRule // rules with operators in them: of the line as it stands
	heads   map[string][]commandRule
	anyHead []commandRule // rules whose first word is no plain text
}

type commandRule struct {
	Rule
	pattern pattern
}

func (c *commandRules) join(other *commandRules) {
	c.all = append(c.all, other.all...)
	c.whole = append(c.whole, other.whole...)
	c.anyHead = append(c.anyHead, other.anyHead...)
	for head, list := range other.heads {
		if c.heads == nil {
			c.heads = map[string][]commandRule{}
		}
		c.heads[head] = append(c.heads[head], list...)
	}
}

func (c *commandRules) empty() bool {
	return len(c.all)+len(c.whole)+len(c.anyHead)+len(c.heads) == 0
}

func (c *commandRules) add(rule Rule, spec string, scoped bool) error {
	if !scoped {
		c.all = append(c.all, commandRule{Rule: rule})
		return nil
	}
	r := commandRule{rule, patternOf(spec)}
	switch {
	case strings.Trim(r.pattern.text, " \x02") == "":
		c.all = append(c.all, commandRule{Rule: rule}) // Bash(:*)
	case operators(spec):
		if rule.Say == Allow {
			return errors.New("each command of a line is looked at by itself, so nothing ever matches an operator: write one rule for each command")
		}
		c.whole = append(c.whole, r)
	case r.pattern.head() == "":
		c.anyHead = append(c.anyHead, r)
	default:
		if c.heads == nil {
			c.heads = map[string][]commandRule{}
		}
		head := r.pattern.head()
		c.heads[head] = append(c.heads[head], r)
	}
	return nil
}

// operators reports whether a specifier holds one of the shell's operators
// outside of quotes.
func operators(spec string) bool {
	var quote byte
	for i := 0; i < len(spec); i++ {
		switch c := spec[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.IndexByte("|&;<>", c) >= 0:
			return true
		}
	}
	return false
}

// line is the rule of the list that the line as a whole matches.
func (c *commandRules) line(command string) (Rule, bool) {
	if len(c.all) > 0 {
		return c.all[0].Rule, true
	}
	if len(c.whole) == 0 {
		return Rule{}, false
	}
	for _, text := range []string{strings.Join(strings.Fields(command), " "), printed(command)} {
		for _, r := range c.whole {
			if r.pattern.matches(text, true) {
				return r.Rule, true
			}
		}
	}
	return Rule{}, false
}

// printed is a line with single spaces between words and operators; empty where
// it cannot be parsed.
func printed(command string) string {
	if len(command) > maxLine || !clean(command) {
		return ""
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return ""
	}
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, file); err != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// rule is the rule of a list that forbids or asks which a part matches, and
// the one that it might match.
func (c *commandRules) rule(p *part) (sure, perhaps *Rule) {
	for i := -1; i < len(p.also); i++ {
		at := spelling{p.text, true}
		if i >= 0 {
			at = p.also[i]
		}
		head, _, _ := strings.Cut(at.text, " ")
		open := opened(at.text)
		for _, list := range [2][]commandRule{c.heads[head], c.anyHead} {
			for k := range list {
				matches := list[k].pattern.matches(at.text, true)
				if matches && at.sure {
					return &list[k].Rule, nil
				}
				if perhaps == nil && (matches || open != "" && list[k].pattern.might(open)) {
					perhaps = &list[k].Rule
				}
			}
		}
	}
	return nil, perhaps
}

// allows is the allow rule that covers a part exactly as it is spelt, within its
// limit.
func (c *commandRules) allows(p *part) (Rule, bool) {
	if len(c.all) > 0 && p.limit.exact == "" {
		return c.all[0].Rule, true
	}
	head, _, _ := strings.Cut(p.allow, " ")
	for _, list := range [2][]commandRule{c.heads[head], c.anyHead} {
		for k := range list {
			if list[k].pattern.spells(p.limit) && list[k].pattern.matches(p.allow, false) {
				return list[k].Rule, true
			}
		}
	}
	return Rule{}, false
}

// command judges a command line.
func (r *Rules) command(q *Request) Explanation {
	e := Explanation{}
	for _, say := range []Say{Deny, Ask} {
		if rule, ok := r.commands[say].line(q.Command); ok {
			e.note(Part{Text: cut(q.Command), Say: say, Rule: rule})
		}
	}
	parts := partsOf(q.Command)
	if !q.inside() {
		text := "cd " + blank.Replace(q.In)
		parts = append(parts, part{text: text, allow: text})
	}
	if q.Cut {
		parts = append(parts, part{text: "…", unclear: "the rest of the line is not known"})
	}
	if q.Foreign && !common(q.Command) {
		parts = append(parts, part{text: cut(q.Command), unclear: "the shell may read this in another way"})
	}
	concerned := !r.commands[Deny].empty() || !r.commands[Ask].empty() || !r.commands[Allow].empty()
	at, moves := placesOf(q, parts)
	for i := range parts {
		if moves && parts[i].program == "git" && parts[i].unclear == "" { // as Claude Code has it
			parts[i].unclear = "git may run what the settings of another folder name"
		}
		e.note(r.part(at, &parts[i], concerned))
		if parts[i].redirect {
			for _, w := range parts[i].writes {
				e.Writes = append(e.Writes, shown(w))
			}
		}
	}
	if len(parts) == 0 {
		e.note(Part{Text: cut(q.Command), Why: "there is no command in it"})
	}
	e.settle()
	return e
}

// common reports whether all shells read a line alike, those of Windows too: it is
// words without quotes and signs, and pipes.
func common(line string) bool {
	for _, c := range line {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') && !strings.ContainsRune(" ._-+/:=,|", c) {
			return false
		}
	}
	return true
}

// part judges one part. concerned is false when no rule is about commands.
func (r *Rules) part(at place, p *part, concerned bool) Part {
	out := Part{Text: cut(shown(p.text))}
	unclear := p.unclear
	for _, say := range []Say{Deny, Ask} {
		sure, perhaps := r.commands[say].rule(p)
		if sure == nil {
			var doubt string
			if sure, doubt = r.touches(at, p, say); doubt != "" && unclear == "" {
				unclear = doubt
			}
		}
		if sure != nil {
			out.Say, out.Rule = say, *sure
			return out
		}
		if perhaps != nil && unclear == "" {
			unclear = "it may be what " + perhaps.Text + " is about: that shows only when it runs"
		}
	}
	if unclear != "" {
		out.Why = unclear
		if concerned || unclear != p.unclear {
			out.Say = Ask
		}
		return out
	}
	switch {
	case p.redirect:
		out.Why = "it writes a file, which no allow rule of a command covers"
	case p.allow == "" && p.limit.exact == "":
		out.Say, out.Why = Allow, "another part of the line stands for it"
	default:
		rule, ok := r.commands[Allow].allows(p)
		switch {
		case ok:
			out.Say, out.Rule = Allow, rule
		case p.limit.exact != "":
			out.Say, out.Why = Ask, p.limit.exact
			if !concerned {
				out.Say = None
			}
		case p.limit.reach > 0:
			out.Why = "no rule names what it runs"
		default:
			out.Why = "no rule is about it"
		}
	}
	return out
}
