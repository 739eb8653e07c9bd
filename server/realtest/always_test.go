package realtest

import (
	"path/filepath"
	"strings"
	"testing"

	"sallyport/bridge/bridgetest"
	"sallyport/bridge/permit"
	"sallyport/server/wire"
)

// TestAlwaysIsOurs: a person picks the "always" of an agent whose own would be for
// the session. It is answered once, what it asked for is allowed by a rule from then
// on, and another command is asked about.
func TestAlwaysIsOurs(t *testing.T) {
	model := bridgetest.StartModelScript(t, filepath.Join("testdata", "script.json"))
	for _, id := range []string{"claude", "gemini"} {
		t.Run(id, func(t *testing.T) {
			s := newStage(t, id, model)
			s.put(t, "package.json", `{"name": "p", "version": "1.0.0", "scripts": {"test": "touch tested.txt"}}`)
			s.raise(t)
			s.begun(t)
			var card wire.PermissionParams
			d := s.play(t, "npm", func(c wire.PermissionParams) string {
				card = c
				return pick(c, "allow_always")
			})
			settled := commandOf(t, d)
			if o := settled.Outcome; !o.Allowed || o.By != permit.ByUser || o.Option != pick(card, "allow_once") || s.disk(t, "tested.txt") == missing {
				t.Errorf("settled %+v, want it allowed once by the user: %s", o, d)
			}
			for _, o := range card.Options {
				if o.Kind == "allow_always" && (o.Rule != "Bash(npm test)" || !strings.Contains(o.Name, o.Rule)) {
					t.Errorf("the card offers %+v", o)
				}
			}
			d = s.play(t, "npm", reject)
			if o := commandOf(t, d).Outcome; !o.Allowed || o.By != permit.ByDecider || !strings.HasPrefix(o.Name, "rule Bash(npm test) of your answer") || len(d.seen.Asked) != 0 {
				t.Errorf("the second time: settled %+v after %d cards: %s", o, len(d.seen.Asked), d)
			}
			d = s.play(t, "rm", reject)
			if o := commandOf(t, d).Outcome; o.Allowed || o.By != permit.ByUser {
				t.Errorf("another command: settled %+v: %s", o, d)
			}
			s.leave(t)
		})
	}
}

// commandOf is the one command that a turn was about.
func commandOf(t *testing.T, d turn) wire.SettledParams {
	t.Helper()
	if len(d.seen.Settled) != 1 || d.seen.Settled[0].Request.Kind != permit.Command {
		t.Fatalf("settled %+v, want one command: %s", d.seen.Settled, d)
	}
	return d.seen.Settled[0]
}
