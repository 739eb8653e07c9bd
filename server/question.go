package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.lsp.dev/protocol"

	"sallyport/bridge/rpc"
	"sallyport/server/wire"
)

// question is something that only a person decides, put to a plain editor.
// Nothing in it acts on a screen.
type question struct {
	id      string   // names it to the command that answers
	lead    string   // words before the title
	title   string   // whole
	places  []string // the files that it is about
	answers []string // distinct, in the order to show
}

// decide asks and returns the index of the answer, -1 when the person picked
// none. An editor that does not know window/showMessageRequest is told how to
// answer by a command or a code action.
func (c *client) decide(ctx context.Context, q question) (int, error) {
	message := "Sallyport: " + strings.Join(append([]string{q.lead + q.title}, q.places...), "\n")
	i, err := c.choose(ctx, protocol.MessageTypeWarning, message, q.answers)
	var refused *rpc.Error
	if errors.As(err, &refused) && refused.Code == wire.CodeUnknownMethod {
		own := c.cards.add(q)
		return c.cards.wait(ctx, own, func() { c.say(protocol.MessageTypeWarning, q.howToAnswer()) })
	}
	return i, err
}

// howToAnswer is a question for an editor that cannot ask: first what may not
// be cut off.
func (q question) howToAnswer() string {
	var b strings.Builder
	b.WriteString("Sallyport: answer with a code action: " + q.title)
	b.WriteString(" (or with the command " + commandAnswer + " and a number:")
	for i, t := range q.answers {
		fmt.Fprintf(&b, " %d %s", i+1, t)
	}
	b.WriteString(")")
	for _, p := range q.places {
		b.WriteString("; " + p)
	}
	return b.String()
}
