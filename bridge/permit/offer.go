package permit

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
	"sallyport/workspace/text"
)

// The names of lasting options for which there is no rule.
const (
	nameOnce   = "Allow once (no rule says exactly this)"
	nameRefuse = "Refuse once (no rule says exactly this)"
	nameNoOnce = "Refuse (the agent knows no way to allow this once)"
	nameTwice  = "Refuse (the agent gives two options one id)"
)

// Offer says on a card what its lasting options will do: a rule of ours is kept, and
// the agent is answered once. propose gives the rule that an answer that allows, or
// refuses, becomes; "" where there is none. Options of plans and questions, and those
// that switch a mode, stay as they are. It is called before anybody has the card.
//
// agent is the agent's name: the rule is for it alone.
func (c *Card) Offer(agent string, propose func(allow bool) string) {
	if c.Request.Kind == Plan || c.Request.Kind == Question {
		return
	}
	_, allow := allowing(c.Options)
	changed := false
	for i := range c.Options {
		o := &c.Options[i]
		if !keeps(c, o.ID) {
			continue
		}
		changed = true
		allows := o.Kind == allowAlways
		switch {
		case len(sharing(c.Options, o.ID)) > 1:
			o.Name = nameTwice
		case allows && allow != one:
			o.Name = nameNoOnce
		default:
			o.Rule, o.Name = propose(allows), nameOnce
			switch {
			case o.Rule != "" && allows:
				o.Name = "Always allow " + text.Visible(agent) + " " + o.Rule + " in this project"
			case o.Rule != "":
				o.Name = "Never allow " + text.Visible(agent) + " " + o.Rule + " in this project"
			case !allows:
				o.Name = nameRefuse
			}
		}
	}
	if changed && c.Params != nil {
		c.Params = c.renamed()
	}
}

// lasts reports whether an option is a lasting answer: one that we keep, and that
// the agent is not given.
func lasts(o Option) bool {
	return (o.Kind == allowAlways || o.Kind == rejectAlways) && !switchesMode(o.ID)
}

// sharing are the options that have an id.
func sharing(options []Option, id string) (all []Option) {
	for _, o := range options {
		if o.ID == id {
			all = append(all, o)
		}
	}
	return all
}

// once is the answer for once that the agent is given where a person picked a
// lasting one of the same sense; none: it offers none that may be chosen.
func once(options []Option, allows bool) (Option, bool) {
	if !allows {
		return refusing(options)
	}
	o, how := allowing(options)
	return o, how == one
}

// keeps reports whether a person who picked an id gave a lasting answer.
func keeps(c *Card, id string) bool {
	return c.Request.Kind != Plan && c.Request.Kind != Question && slices.ContainsFunc(sharing(c.Options, id), lasts)
}

// renamed is the agent's request with the names that its options have now. All else
// in them stays, but for the space between the options.
func (c *Card) renamed() jsontext.Value {
	var list []string
	i := 0
	EachElement(member(c.Params, "options"), func(item []byte) {
		if rpc.Members(item, func(_, _ []byte) bool { return true }) == nil { // as readOptions counts them
			if i < len(c.Options) && keeps(c, c.Options[i].ID) {
				if own, err := rpc.SetMember(item, "name", rpc.AppendQuote(nil, c.Options[i].Name)); err == nil {
					item = own
				}
			}
			i++
		}
		list = append(list, string(item))
	})
	out, err := rpc.SetMember(c.Params, "options", []byte("["+strings.Join(list, ",")+"]"))
	if err != nil { // it was read before
		return c.Params
	}
	return out
}
