package realtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/permit"
	"sallyport/server/servertest"
	"sallyport/server/wire"
)

// Judged is what became of three commands in one mode, with Team rules
// (examples/team-rules) switched on.
type Judged struct {
	Denied  Fate `json:"denied"`  // rm -rf build, which they deny
	Allowed Fate `json:"allowed"` // npm test, which they allow
	Rest    Fate `json:"rest"`    // a command on which they have no opinion
}

// Fate is what became of a command that the agent wanted to run.
type Fate struct {
	// Itself is what came of it where the agent asked nobody; "": it asked. By is then
	// about the same command once more, for which the agent is told to ask.
	Itself Came `json:"itself,omitzero"`
	By     By   `json:"by,omitzero"` // who settled it; "": nobody was asked
}

// Came is what came of a command that nobody was asked about.
type Came string

// What can come of it. Nothing is a sandbox of the agent's own, or that it has no
// such tool in that mode.
const (
	Done    Came = "done"
	Nothing Came = "nothing"
)

// By is who settled a command.
type By string

// The parties.
const (
	ByTeam    By = "team" // nobody was called
	ByPerson  By = "user"
	ByItsMode By = "mode" // nobody was called
)

// fourModes are the session's modes in the order in which they are played.
var fourModes = []permit.Mode{permit.Default, permit.AcceptEdits, permit.PlanMode, permit.Bypass}

// teamRules: a decider program denies in every mode, and allows without a card; the
// rest is up to the mode.
func teamRules(t *testing.T, s *stage) {
	if s.now != nil {
		s.leave(t)
	}
	s.switchOn(t)
	s.put(t, "package.json", `{"name": "p", "version": "1.0.0", "scripts": {"test": "touch tested.txt"}}`)
	s.raise(t)
	s.begun(t)
	s.row.Rules = map[permit.Mode]Judged{}
	for _, mode := range fourModes {
		s.call(t, wire.MethodSetMode, wire.SetModeParams{Session: s.now.info.ID, Mode: mode}, &s.now.info)
		t.Run(string(mode), func(t *testing.T) {
			s.row.Rules[mode] = Judged{Denied: s.denied(t, mode), Allowed: s.allowed(t), Rest: s.undecided(t, mode)}
		})
	}
	s.leave(t)
}

// switchOn builds Team rules into a folder of the user's and names it in their
// configuration.
func (s *stage) switchOn(t *testing.T) {
	t.Helper()
	const example = "../../examples/team-rules"
	folder := filepath.Join(s.Home, "team-rules")
	for _, name := range []string{"decider.json", "rules.json"} {
		raw, err := os.ReadFile(filepath.Join(example, name))
		if err != nil {
			t.Fatal(err)
		}
		s.Write(t, "home/team-rules/"+name, string(raw))
	}
	build := exec.Command("go", "build", "-o", filepath.Join(folder, "team-rules"), "sallyport/examples/team-rules")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building Team rules: %v\n%s", err, out)
	}
	const name = "home/.config/sallyport/config.json"
	raw, err := os.ReadFile(filepath.Join(s.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := json.Unmarshal(raw, &config); err != nil {
		t.Fatal(err)
	}
	config["permissions"] = map[string]any{"deciders": []any{map[string]any{"folder": folder}}}
	raw, err = json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	s.Write(t, name, string(raw))
}

// judged plays a command of the model, and where the agent runs it unasked one for
// which it has to ask. What the turn was about is the one outcome on a command.
func (s *stage) judged(t *testing.T, script string, answer func(wire.PermissionParams) string, made func() bool) (d turn, f Fate) {
	t.Helper()
	for _, script := range []string{script, script + "-asked"} {
		d = s.play(t, script, s.onceCalled(t, answer))
		s.holds(t, d)
		commands := slices.DeleteFunc(slices.Clone(d.seen.Settled), func(x wire.SettledParams) bool { return x.Request.Kind != permit.Command })
		switch {
		case len(commands) > 1:
			t.Errorf("%d commands were asked about: %s", len(commands), d)
		case len(commands) == 1:
			f.By = settledBy(t, d, commands[0])
			return d, f
		case len(d.seen.Settled) > 0:
			t.Errorf("something else was asked about: %s", d)
		}
		if f.Itself = Nothing; made() {
			f.Itself = Done
		}
	}
	return d, f
}

// onceCalled is a person who answers a card when they are called, and not one that
// is still being decided.
func (s *stage) onceCalled(t *testing.T, answer func(wire.PermissionParams) string) func(wire.PermissionParams) string {
	ed, ctx := s.now.ed, s.ctx(t)
	return func(c wire.PermissionParams) string {
		settled := false
		err := ed.Until(ctx, func(seen *servertest.Seen) bool {
			settled = slices.ContainsFunc(seen.Settled, func(x wire.SettledParams) bool { return x.ID == c.ID })
			return settled || !c.Deciding || slices.ContainsFunc(seen.Called, func(x wire.CallParams) bool { return x.ID == c.ID })
		})
		if err != nil || settled {
			return ""
		}
		return answer(c)
	}
}

// settledBy is who settled a command.
func settledBy(t *testing.T, d turn, x wire.SettledParams) By {
	t.Helper()
	called := slices.ContainsFunc(d.seen.Asked, func(c wire.PermissionParams) bool { return c.ID == x.ID && !c.Deciding }) ||
		slices.ContainsFunc(d.seen.Called, func(c wire.CallParams) bool { return c.ID == x.ID })
	by := map[permit.Party]By{permit.ByDecider: ByTeam, permit.ByMode: ByItsMode, permit.ByUser: ByPerson}[x.Outcome.By]
	if called != (by == ByPerson) || by == "" {
		t.Errorf("settled %+v, and a person was called: %t", x.Outcome, called)
	}
	return by
}

// teamsWord is why Team rules deny it.
const teamsWord = "the team's rules forbid it: rm -rf build"

// denied: a refusal reaches the agent, and its reason the model, with the next
// prompt at the latest.
func (s *stage) denied(t *testing.T, mode permit.Mode) Fate {
	t.Helper()
	if err := os.MkdirAll(s.path("build"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.put(t, "build/kept.txt", "kept\n")
	gone := func() bool { return s.disk(t, "build/kept.txt") == missing }
	heard := s.ear.Count()
	d, fate := s.judged(t, "rm", reject, gone)
	switch fate.By {
	case ByTeam:
		o := d.seen.Settled[0].Outcome
		if o.Allowed || o.Name != "Team rules" || !strings.Contains(o.Why, teamsWord) || o.Option == "" {
			t.Errorf("settled %+v, want it refused by Team rules", o)
		}
		s.play(t, "text", reject)
		if told := s.ear.Since(heard); !strings.Contains(told.Tools+told.Rest, "Refused by Team rules through Sallyport: "+teamsWord) {
			t.Error("the model was not told who refused it, and why")
		}
	case "":
	default:
		t.Errorf("in mode %s it was settled by %s: %s", mode, fate.By, d)
	}
	if gone() && fate.Itself != Done {
		t.Error("it was done all the same")
	}
	return fate
}

// allowed: nobody is called.
func (s *stage) allowed(t *testing.T) Fate {
	t.Helper()
	_ = os.Remove(s.path("tested.txt")) // of the mode before
	d, fate := s.judged(t, "npm", reject, func() bool { return s.disk(t, "tested.txt") != missing })
	switch fate.By {
	case ByTeam:
		if o := d.seen.Settled[0].Outcome; !o.Allowed || o.Name != "Team rules" {
			t.Errorf("settled %+v, want it allowed by Team rules", o)
		}
	case "":
	default:
		t.Errorf("it was settled by %s: %s", fate.By, d)
	}
	return fate
}

// undecided: a person is asked, unless the mode settles it.
func (s *stage) undecided(t *testing.T, mode permit.Mode) Fate {
	t.Helper()
	_ = os.Remove(s.path("rest.txt")) // of the mode before
	d, fate := s.judged(t, "rest", allow, func() bool { return s.disk(t, "rest.txt") != missing })
	want := map[permit.Mode]By{permit.Bypass: ByItsMode, permit.PlanMode: ByItsMode}[mode]
	if want == "" {
		want = ByPerson
	}
	if fate.By != want && fate.By != "" {
		t.Errorf("in mode %s it was settled by %s, want %s: %s", mode, fate.By, want, d)
	}
	if mode == permit.PlanMode && fate.Itself != Done && s.disk(t, "rest.txt") != missing {
		t.Error("it was done in mode plan")
	}
	return fate
}
