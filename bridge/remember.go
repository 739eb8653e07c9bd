package bridge

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"sallyport/bridge/permit"
	"sallyport/plugins/harness"
	"sallyport/plugins/rules"
	"sallyport/workspace/answers"
	"sallyport/workspace/config"
)

// sessionRules are the rules that hold in one session: the configuration's, and
// what the person answered for good in its project, to its agent. The latter are
// those of now, also when another process keeps one or takes it back.
type sessionRules struct {
	own          *rules.Rules // the configuration's
	all          answers.Current[*rules.Rules]
	folder, home string
	agent        string // the harness's id
}

// sessionRules reads them. An error says which rule or file cannot be read: no
// session starts then, since it may be one that forbids.
func (b *Bridge) sessionRules(p config.Permit, folder string, h *harness.Harness) (*sessionRules, error) {
	own, err := RulesOf(p, folder)
	if err != nil {
		return nil, err
	}
	r := &sessionRules{own: own, folder: folder, agent: h.ID}
	if r.home, err = os.UserHomeDir(); err != nil {
		r.home = "" // rules below ~ cover nothing that can be told
	}
	if b.Home.Answers.Dir == "" {
		return r, nil
	}
	r.all.Store, r.all.Project = b.Home.Answers, folder
	r.all.Make = func(list []answers.Answer) (*rules.Rules, error) {
		kept, err := AnswerRules(slices.DeleteFunc(list, func(a answers.Answer) bool { return a.Agent != h.ID }), folder)
		return rules.Join(own, kept), err
	}
	if _, err := r.all.Get(); err != nil {
		return nil, err
	}
	return r, nil
}

// AnswerRules are lasting answers as rules, each with its day and its agent.
func AnswerRules(list []answers.Answer, folder string) (*rules.Rules, error) {
	days := map[string]*rules.Lists{}
	for _, a := range list {
		from := fmt.Sprintf("your answer of %s to %s", a.Kept.Local().Format(time.DateOnly), a.Agent)
		if days[from] == nil {
			days[from] = &rules.Lists{}
		}
		if of := days[from]; a.Say == answers.Deny {
			of.Deny = append(of.Deny, a.Rule)
		} else {
			of.Allow = append(of.Allow, a.Rule)
		}
	}
	var sets []*rules.Rules
	for _, from := range slices.Sorted(maps.Keys(days)) {
		set, problems := rules.Parse(*days[from], rules.Source{Name: from, Root: folder})
		for _, problem := range problems {
			problem.Why += "; take it back with `sallyport rules forget`"
			return nil, &RuleError{problem}
		}
		sets = append(sets, set)
	}
	return rules.Join(sets...), nil
}

// now are the rules that hold now. With an error they are the configuration's.
func (r *sessionRules) now() (*rules.Rules, error) {
	if r.all.Make == nil {
		return r.own, nil
	}
	all, err := r.all.Get()
	if err != nil {
		return r.own, err
	}
	return all, nil
}

// judge is the judge that the rules make.
func (r *sessionRules) judge(_ context.Context, c *permit.Card) permit.Verdict {
	all, err := r.now()
	v := r.verdict(all, c)
	if err != nil && v.Say != permit.Refuse { // one of those that are lost may forbid it
		return permit.Verdict{Say: permit.AskUser, By: permit.ByDecider, Name: "rules", Why: err.Error()}
	}
	return v
}

func (r *sessionRules) verdict(all *rules.Rules, c *permit.Card) permit.Verdict {
	if all.Len() == 0 {
		return permit.Verdict{}
	}
	return verdictOf(all.Decide(ruleRequest(c, r.folder, r.home)), changes(all, c, r.folder, r.home))
}

// propose is the rule that an answer for good to a card becomes; "" where there is
// none that says exactly this, and would settle it the next time.
func (r *sessionRules) propose(c *permit.Card, allow bool) string {
	if r.all.Make == nil || !toldWhole(c) {
		return ""
	}
	rule, ok := rules.Propose(ruleRequest(c, r.folder, r.home))
	all, err := r.now()
	if !ok || err != nil {
		return ""
	}
	lists, want := rules.Lists{Allow: []string{rule}}, permit.Allow
	if !allow {
		lists, want = rules.Lists{Deny: []string{rule}}, permit.Refuse
	}
	more, _ := rules.Parse(lists, rules.Source{Root: r.folder}) // it was read once
	if r.verdict(rules.Join(all, more), c).Say != want {
		return ""
	}
	return rule
}

// keepWithin is how long keeping an answer may take; other processes may be at it.
const keepWithin = 5 * time.Second

// remember keeps what a person answered for good. The answer itself stands though
// it cannot be kept, for once.
func (s *session) remember(ctx context.Context, o permit.Outcome) {
	if o.Rule == "" || o.By != permit.ByUser {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepWithin)
	defer cancel()
	r, say, word := s.ground.rules, answers.Deny, "never"
	if o.Allowed {
		say, word = answers.Allow, "always"
	}
	a := answers.New(say, o.Rule, r.agent, time.Now())
	if err := r.all.Store.Keep(ctx, r.folder, a); err != nil {
		s.notice(Notice{Kind: NoticeRule, Level: Problem, Text: "your answer counts once only, it cannot be kept: " + err.Error()})
		return
	}
	n := Notice{Kind: NoticeRule, Level: Plain, Text: fmt.Sprintf("%s: %s is %s allowed in this project", s.harness.Name, o.Rule, word)}
	if !a.Until.IsZero() {
		n.Text += ", until " + a.Until.Local().Format(time.DateOnly)
	}
	n.Hint = "take it back: sallyport rules forget " + shellQuote(o.Rule) + " --cwd " + shellQuote(s.folder)
	s.notice(n)
}

// shellQuote is a word as a person gives it to a shell.
func shellQuote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
