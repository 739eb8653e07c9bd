package permit

import (
	"errors"
	"fmt"

	"sallyport/workspace/fence"
)

// gated reports whether a card is for something that a marked session does not
// do unasked. What cannot be told is.
func (p *Place) gated(c *Card) bool {
	all := targets(c)
	switch c.Request.Kind {
	case Read:
	case Edit:
		if len(all) == 0 {
			return true
		}
	default:
		if moves := c.Request.Tool == "Delete" || c.Request.Tool == "Move"; !moves || len(all) == 0 {
			return true
		}
	}
	for _, t := range all {
		path, ok := p.resolve(t.path)
		if !ok || p.Guarded(path) {
			return true
		}
	}
	return false
}

// Guarded reports whether a path is reserved or lies outside the project.
func (p *Place) Guarded(path string) bool { return !p.inside(path) || p.reserved(path) }

// inside reports whether a path is the project's: in its folders or its region.
func (p *Place) inside(path string) bool {
	if p.Inside != nil {
		return p.Inside(path)
	}
	return p.InRegion != nil && p.InRegion(path)
}

func (p *Place) reserved(path string) bool {
	if p.CheckWrite == nil {
		return false
	}
	var refused *fence.Refusal
	return errors.As(p.CheckWrite(path), &refused) && refused.Fence == fence.Reserved
}

func more(n int) string {
	if n < 1 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}
