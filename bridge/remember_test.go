package bridge_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/plugins/harness"
	"sallyport/workspace/answers"
	"sallyport/workspace/config"
)

// remembering gives a rig a place for lasting answers, outside of its project.
func remembering(r *rig) {
	r.Home.Answers = answers.Store{Dir: filepath.Join(filepath.Dir(r.folder), "state", "answers")}
}

// askFor is a step that asks for leave and says how it was answered.
func askFor(id, kind, input, options string) string {
	return fmt.Sprintf(`{"ask": {"toolCall": {"toolCallId": %q, "kind": %q, "title": "t", "rawInput": %s}, "options": [%s],
  "then": {"o": [{"say": "once "}], "w": [{"say": "ALWAYS "}], "r": [{"say": "refused "}], "n": [{"say": "NEVER "}], "cancelled": [{"say": "cancelled "}]}}}`, id, kind, input, options)
}

const fourOptions = `{"optionId": "o", "name": "Yes", "kind": "allow_once"}, {"optionId": "w", "name": "Always, and edits too", "kind": "allow_always"},
 {"optionId": "r", "name": "No", "kind": "reject_once"}, {"optionId": "n", "name": "Never", "kind": "reject_always"}`

func scripted(steps ...string) string {
	return `{"prompts": [{"steps": [` + strings.Join(steps, ",") + `]}]}`
}

func commandInput(line string) string { return fmt.Sprintf(`{"command": %q}`, line) }

func picking(kind string) func(context.Context, *permit.Card) (permit.Answer, error) {
	return func(_ context.Context, c *permit.Card) (permit.Answer, error) { return pick(c, kind) }
}

func (r *rig) kept() string {
	r.t.Helper()
	all, err := r.Home.Answers.List(r.folder)
	if err != nil {
		r.t.Fatal(err)
	}
	var list []string
	for _, a := range all {
		list = append(list, a.Say+" "+a.Rule+" "+a.Agent)
	}
	return strings.Join(list, ", ")
}

// TestAlwaysBecomesARule: the agent is answered once, the same request is allowed by
// the rule, in a later session too, and others are asked.
func TestAlwaysBecomesARule(t *testing.T) {
	same := askFor("1", "execute", commandInput("npm test"), fourOptions)
	r := newRig(t, scripted(same, same, askFor("2", "execute", commandInput("npm test; rm x"), fourOptions)), remembering)
	var first *permit.Card
	r.display.answer = func(_ context.Context, c *permit.Card) (permit.Answer, error) {
		if first == nil {
			first = c
			return pick(c, "allow_always")
		}
		return pick(c, "reject_once")
	}
	info := r.open()
	for _, want := range []string{"once once refused ", "once once refused once once refused "} {
		if _, err := r.prompt(info.ID, "go"); err != nil {
			t.Fatal(err)
		}
		if got := r.said(); got != want {
			t.Errorf("the agent heard %q, want %q", got, want)
		}
		info = r.open()
	}
	if n := len(r.display.asked); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
	if o := first.Options[1]; o.Rule != "Bash(npm test)" || o.Name != "Always allow Fake Bash(npm test) in this project" {
		t.Errorf("the card says %+v", o)
	}
	if got := r.kept(); got != "allow Bash(npm test) fake" {
		t.Errorf("kept %q", got)
	}
	told := r.display.noticed(bridge.NoticeRule)
	if len(told) != 1 || !strings.HasPrefix(told[0].Text, "Fake: Bash(npm test) is always allowed in this project, until ") ||
		told[0].Hint != "take it back: sallyport rules forget 'Bash(npm test)' --cwd '"+r.folder+"'" {
		t.Errorf("told %+v", told)
	}
}

// TestNeverBecomesARule: refused without a card, whatever the mode.
func TestNeverBecomesARule(t *testing.T) {
	same := askFor("1", "execute", commandInput("make"), fourOptions)
	r := newRig(t, scripted(same, same), remembering)
	r.display.answer = picking("reject_always")
	r.turn("go")
	if got := r.said(); got != "refused refused " || len(r.display.asked) != 1 || r.kept() != "deny Bash(make) fake" {
		t.Errorf("the agent heard %q after %d cards, kept %q", got, len(r.display.asked), r.kept())
	}
	r.config.Mode = config.Bypass
	r.turn("go")
	if got := r.said(); got != "refused refused refused refused " {
		t.Errorf("in bypass the agent heard %q", got)
	}
}

// TestG6_AnswersAreForOneAgent: another agent is asked, another project too.
func TestG6_AnswersAreForOneAgent(t *testing.T) {
	r := newRig(t, scripted(askFor("1", "edit", `{"file_path": "a.txt", "old_string": "1", "new_string": "2"}`, fourOptions)), remembering)
	r.display.answer = picking("allow_always")
	r.turn("go")
	if got := r.kept(); got != "allow Edit(./a.txt) fake" {
		t.Fatalf("kept %q", got)
	}
	own := r.Home.Harness
	r.Home.Harness = func(id string) (*harness.Harness, error) {
		h, err := own(id)
		other := *h
		other.ID = "other"
		return &other, err
	}
	r.turn("go")
	if n := len(r.display.asked); n != 2 {
		t.Errorf("another agent: asked %d times in all, want 2", n)
	}
	r.Home.Harness, r.folder = own, filepath.Join(r.folder, "sub")
	if err := os.Mkdir(r.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	r.turn("go")
	if n := len(r.display.asked); n != 3 {
		t.Errorf("another project: asked %d times in all, want 3", n)
	}
}

// TestG7_AskBeatsAnAnswer: what the user wants to be asked about is asked, whatever
// was answered once, and no other answer for good is offered there.
func TestG7_AskBeatsAnAnswer(t *testing.T) {
	r := newRig(t, scripted(askFor("1", "execute", commandInput("ssh h ls"), fourOptions)), remembering)
	r.display.answer = picking("allow_always")
	r.turn("go")
	if got := r.kept(); got != "allow Bash(ssh h ls) fake" {
		t.Fatalf("kept %q", got)
	}
	r.config.Permissions.Ask = []string{"Bash(ssh *)"}
	var last *permit.Card
	r.display.answer = func(_ context.Context, c *permit.Card) (permit.Answer, error) {
		last = c
		return pick(c, "allow_always")
	}
	r.turn("go")
	if n := len(r.display.asked); n != 2 {
		t.Fatalf("asked %d times, want 2", n)
	}
	if o := last.Options[1]; o.Rule != "" || o.Name != "Allow once (no rule says exactly this)" {
		t.Errorf("the card offers %+v", o)
	}
	if got := r.said(); got != "once once " {
		t.Errorf("the agent heard %q", got)
	}
}

// TestAnswersTakenBack hold no more, from the next request on, and what another
// process keeps holds at once.
func TestAnswersTakenBack(t *testing.T) {
	prompt := `{"steps": [` + askFor("1", "execute", commandInput("make"), fourOptions) + `]}`
	r := newRig(t, `{"prompts": [`+prompt+","+prompt+","+prompt+`]}`, remembering)
	r.display.answer = reject
	info := r.open()
	for _, step := range []struct {
		change func() error
		asked  int
	}{
		{func() error { return nil }, 1},
		{func() error {
			return r.Home.Answers.Keep(t.Context(), r.folder, answers.New(answers.Allow, "Bash(make)", "fake", time.Now()))
		}, 1},
		{func() error {
			_, err := r.Home.Answers.Forget(t.Context(), r.folder, func(answers.Answer) bool { return true })
			return err
		}, 2},
	} {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.prompt(info.ID, "go"); err != nil {
			t.Fatal(err)
		}
		if n := len(r.display.asked); n != step.asked {
			t.Errorf("asked %d times, want %d", n, step.asked)
		}
	}
	if got := r.said(); got != "refused once refused " {
		t.Errorf("the agent heard %q", got)
	}
}

// TestAnswersThatCannotBeRead: no session starts, and in one that runs a person is
// asked, also in bypass: what is lost may forbid.
func TestAnswersThatCannotBeRead(t *testing.T) {
	r := newRig(t, scripted(askFor("1", "execute", commandInput("make"), fourOptions)), remembering)
	r.display.answer = picking("reject_always")
	r.config.Mode = config.Bypass
	info := r.open()
	if err := os.MkdirAll(r.Home.Answers.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := r.Home.Answers.File(r.folder)
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.prompt(info.ID, "go"); err != nil {
		t.Fatal(err)
	}
	if got := r.said(); got != "refused " || len(r.display.asked) != 1 {
		t.Errorf("the agent heard %q after %d cards, want one card", got, len(r.display.asked))
	}
	if _, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a session starts, or not for that file: %v", err)
	}
	bad := fmt.Sprintf(`{"version":1,"project":%q,"answers":[{"say":"deny","rule":"Bash(rm","agent":"fake","kept":"2026-11-30T00:00:00Z"}]}`, r.folder)
	if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder}); err == nil || !strings.Contains(err.Error(), "Bash(rm") {
		t.Errorf("a session starts, or not for that rule: %v", err)
	}
}

// TestAnAnswerThatCannotBeKept counts once, and that is told.
func TestAnAnswerThatCannotBeKept(t *testing.T) {
	r := newRig(t, scripted(askFor("1", "execute", commandInput("make"), fourOptions)), remembering)
	if err := os.MkdirAll(filepath.Dir(r.Home.Answers.Dir), 0o700); err != nil {
		t.Fatal(err)
	}
	r.display.answer = func(_ context.Context, c *permit.Card) (permit.Answer, error) {
		if err := os.WriteFile(r.Home.Answers.Dir, nil, 0o600); err != nil {
			t.Error(err)
		}
		return pick(c, "allow_always")
	}
	r.turn("go")
	if told := r.display.noticed(bridge.NoticeRule); r.said() != "once " || len(told) != 1 || told[0].Level != bridge.Problem {
		t.Errorf("the agent heard %q, told %+v", r.said(), told)
	}
}

// TestNoRuleForIt: a request with more in it than a rule says is answered once.
func TestNoRuleForIt(t *testing.T) {
	for name, step := range map[string]string{
		"two commands": askFor("1", "execute", commandInput("npm i && npm test"), fourOptions),
		"cut":          askFor("1", "execute", commandInput("echo "+strings.Repeat("a", permit.MaxText)), fourOptions),
		"a tool":       askFor("1", "other", `{"x": 1}`, fourOptions),
		"a command with a diff": `{"ask": {"toolCall": {"toolCallId": "1", "kind": "execute", "title": "t", "rawInput": {"command": "make"}, "content": [{"type": "diff", "path": "${cwd}/a", "newText": "x"}]},
		  "options": [` + fourOptions + `], "then": {"o": [{"say": "once "}]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, scripted(step), remembering)
			r.display.answer = picking("allow_always")
			r.turn("go")
			if got := r.said(); got != "once " || r.kept() != "" {
				t.Errorf("the agent heard %q, kept %q", got, r.kept())
			}
		})
	}
}
