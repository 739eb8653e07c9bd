package signin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"golang.org/x/term"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/workspace/text"
)

// Terminal is a person's terminal, at which a program of an agent's signs them in.
type Terminal struct {
	In, Out *os.File  // the person's
	Err     io.Writer // for our own lines
	Home    bridge.Home
	Log     *slog.Logger
}

// closeTimeout bounds the end of a bridge in which nothing runs any more.
const closeTimeout = 15 * time.Second

// Run signs in, and returns the exit status: the program's own, or 1. It ends with
// ctx, and when the terminal is closed. In is as it was when it returns.
func (s *Terminal) Run(ctx context.Context, what bridge.SignIn) int {
	if !term.IsTerminal(int(s.In.Fd())) {
		fmt.Fprint(s.Err, "sallyport acp: a sign-in needs a terminal, and standard input is none\nhint: run the same line in a terminal\n")
		return 1
	}
	b := &bridge.Bridge{Display: nobody{}, Home: s.Home, Log: s.Log}
	done, err := s.run(ctx, b, what)
	closing, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err = errors.Join(err, b.Close(closing))
	return s.tell(done, err)
}

// tell says how it went, in one line.
func (s *Terminal) tell(done bridge.SignedIn, err error) int {
	lost := ""
	if done.Lost != "" {
		lost = "; not all was held: " + text.Visible(done.Lost)
	}
	switch {
	case done.Agent != "" && err != nil:
		fmt.Fprintf(s.Err, "sallyport: the sign-in of %s was ended: %v%s\n", text.Visible(done.Agent), err, lost)
	case err != nil:
		fmt.Fprintf(s.Err, "sallyport acp: signing in: %v\n", err)
		if hint := bridge.HintOf(err); hint != "" {
			fmt.Fprintf(s.Err, "hint: %s\n", hint)
		}
	case done.Status == 0:
		fmt.Fprintf(s.Err, "sallyport: the sign-in of %s is done%s\n", text.Visible(done.Agent), lost)
		return 0
	default:
		fmt.Fprintf(s.Err, "sallyport: the sign-in of %s failed: %s%s\n", text.Visible(done.Agent), done.How, lost)
		return max(done.Status, 1)
	}
	return 1
}

// began is the line before the program's own.
func (s *Terminal) began(agent, held string) {
	fmt.Fprintf(s.Err, "sallyport: the sign-in of %s begins, %s\n", text.Visible(agent), text.Visible(held))
}

// nobody is the display of a bridge that has no session.
type nobody struct{}

var errNobody = errors.New("nobody is asked in a sign-in")

func (nobody) Update(context.Context, bridge.Update) {}
func (nobody) Notice(bridge.Notice)                  {} // what holds is in the first line
func (nobody) Settled(*permit.Card, permit.Outcome)  {}
func (nobody) Ask(context.Context, *permit.Card) (permit.Answer, error) {
	return permit.Answer{}, errNobody
}
