package bridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"sallyport/bridge/permit"
	"sallyport/plugins/decider"
)

// deciders is the judge that asks the deciders of the session's project, as they
// are on now; nil where none is.
func (s *session) deciders(*permit.Card) permit.Judge {
	if s.b.Home.Deciders == nil {
		return nil
	}
	private := s.ground.policy.Inside()
	set := s.b.Home.Deciders(s.folder, private)
	if len(set) == 0 {
		return nil
	}
	return s.judge(set, private != "")
}

// judge is the judge that asks a set.
func (s *session) judge(set decider.Set, private bool) permit.Judge {
	return func(ctx context.Context, c *permit.Card) permit.Verdict {
		d, err := set.Decide(ctx, s.questionOf(c, private))
		return s.verdict(ctx, c, d, err)
	}
}

// verdict is what the deciders' word on a card counts for.
func (s *session) verdict(ctx context.Context, c *permit.Card, d decider.Decision, err error) permit.Verdict {
	switch {
	case ctx.Err() != nil:
		return permit.Verdict{}
	case err != nil: // it cannot be put into their words: then no mode lets it pass by them
		s.b.Log.Warn("asking the deciders", "card", c.ID, "err", err)
		return permit.Verdict{Say: permit.AskUser, By: permit.ByDecider, Name: "deciders", Why: "the deciders cannot be told of it"}
	}
	say := permit.Refuse
	switch d.Say {
	case decider.Deny:
	case decider.Allow:
		if !toldWhole(c) {
			return permit.Verdict{} // it would allow what it did not see
		}
		say = permit.Allow
	default:
		return permit.Verdict{}
	}
	return permit.Verdict{Say: say, By: permit.ByDecider, ID: d.By.ID, Name: d.By.Name, Why: d.Message}
}

// questionOf is a card in the words of the deciders' wire. Nothing of the
// conversation is in it.
func (s *session) questionOf(c *permit.Card, private bool) *decider.Question {
	sum := sha256.Sum256([]byte(s.folder))
	return &decider.Question{
		Request: decider.Request{ID: c.ID, Kind: string(c.Request.Kind), Tool: c.Request.Tool, Input: c.Request.Input},
		Project: decider.Project{ID: hex.EncodeToString(sum[:8]), Name: filepath.Base(s.folder), Private: private},
		Agent:   decider.Agent{ID: s.id, Name: s.harness.Name},
	}
}

// toldWhole reports whether a question holds all of what the card is about: no
// command or address that was cut, and no changes of files beside it.
func toldWhole(c *permit.Card) bool {
	whole := true
	switch c.Request.Kind {
	case permit.Command:
		_, whole = inputText(c, "command")
	case permit.Fetch:
		if c.Request.Tool == "WebFetch" {
			_, whole = inputText(c, "url")
		}
	}
	return whole && (len(c.Diffs) == 0 || c.Request.Kind == permit.Edit)
}
