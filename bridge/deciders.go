package bridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"sallyport/bridge/permit"
	"sallyport/plugins/decider"
)

// heardDeciders is the judge that asks the deciders of the session's project, as
// they are on now.
func (s *session) heardDeciders(ctx context.Context, c *permit.Card) permit.Verdict {
	if s.b.Home.Deciders == nil {
		return permit.Verdict{}
	}
	private := s.ground.policy.Inside()
	set := s.b.Home.Deciders(s.folder, private)
	if len(set) == 0 {
		return permit.Verdict{}
	}
	d, err := set.Decide(ctx, s.questionOf(c, private != ""))
	switch {
	case ctx.Err() != nil:
		return permit.Verdict{}
	case err != nil: // it cannot be put into their words: then no mode lets it pass by them
		s.b.Log.Warn("asking the deciders", "card", c.ID, "err", err)
		return permit.Verdict{Say: permit.AskUser, By: permit.ByDecider, Name: "deciders", Why: "the deciders cannot be told of it"}
	}
	v := permit.Verdict{By: permit.ByDecider, Why: d.Message}
	switch d.Say {
	case decider.Deny:
		v.Say, v.Name = permit.Refuse, d.By.Name
	case decider.Allow:
		if !toldWhole(c) {
			return permit.Verdict{} // it would allow what it did not see
		}
		v.Say, v.Name = permit.Allow, d.By.Name
	default:
		return permit.Verdict{}
	}
	return v
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
