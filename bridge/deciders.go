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
	if err != nil { // the turn is over, or the card cannot be told
		if ctx.Err() == nil {
			s.b.Log.Warn("asking the deciders", "card", c.ID, "err", err)
		}
		return permit.Verdict{}
	}
	v := permit.Verdict{By: permit.ByDecider, Why: d.Message}
	switch d.Say {
	case decider.Deny:
		v.Say, v.Name = permit.Refuse, d.By.Name
	case decider.Allow:
		if len(c.Diffs) > 0 && c.Request.Kind != permit.Edit {
			return permit.Verdict{} // it was not asked about the changes that come with this
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
