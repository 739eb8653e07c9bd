//go:build !unix

package signin

import (
	"context"
	"errors"

	"sallyport/bridge"
)

// run does nothing: a program cannot be given a terminal of its own here yet.
func (s *Terminal) run(context.Context, *bridge.Bridge, bridge.SignIn) (bridge.SignedIn, error) {
	return bridge.SignedIn{}, errors.New("this is not built for this system: run the agent's own program")
}
