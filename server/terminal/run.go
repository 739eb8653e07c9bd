package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
)

// Turn is one turn from a terminal.
type Turn struct {
	Session bridge.NewSession // Ready is not used
	Prompt  string
	// Interrupted is closed, or sent to, when the person wants the turn to end;
	// nil: never.
	Interrupted <-chan struct{}
	Err         io.Writer // for errors and hints
}

// closeTimeout bounds the end of the agents.
const closeTimeout = 15 * time.Second

// Run runs the turn and returns the exit status: 0 for a turn that ended by
// itself, 1 otherwise. d is the display that b was made with.
func (t *Turn) Run(ctx context.Context, b bridge.Sessions, d bridge.Display) int {
	defer func() {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if err := b.Close(bound); err != nil {
			fmt.Fprintf(t.Err, "sallyport: ending the agent: %v\n", err)
		}
	}()
	var watch sync.WaitGroup
	defer watch.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch.Go(func() {
		select {
		case <-t.Interrupted:
			cancel()
		case <-ctx.Done():
		}
	})
	session := t.Session
	session.Ready = func(info bridge.Info) { show(d, info) } // before anything of the session
	info, err := b.New(ctx, session)
	var result bridge.TurnResult
	if err == nil {
		result, err = b.Prompt(ctx, info.ID, []jsontext.Value{textBlock(t.Prompt)})
	}
	if term, ok := d.(*Terminal); ok {
		term.Finish()
	}
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(t.Err, "sallyport: interrupted")
		return 1
	case err != nil:
		return t.fail(err)
	}
	ended(d, info, result)
	if result.StopReason == "cancelled" {
		return 1
	}
	return 0
}

func textBlock(s string) jsontext.Value {
	raw, _ := json.Marshal(map[string]string{"type": "text", "text": s}, json.Deterministic(true)) // strings always encode
	return raw
}

// show tells which session began and what holds.
func show(d bridge.Display, info bridge.Info) {
	switch d := d.(type) {
	case *Terminal:
		d.Line(d.paint(dim, fmt.Sprintf("%s in %s, mode %s", plain(info.Agent), plain(info.Folder), info.Mode)))
		d.Line(d.paint(dim, "posture: "+plain(info.Posture.Sentence)))
	case *Lines:
		d.Write(struct {
			Type string `json:"type"`
			bridge.Info
		}{"session", info})
		d.Write(struct {
			Type    string `json:"type"`
			Session string `json:"sessionId"`
			bridge.Posture
		}{"posture", info.ID, info.Posture})
	}
}

func ended(d bridge.Display, info bridge.Info, r bridge.TurnResult) {
	switch d := d.(type) {
	case *Terminal:
		d.Line(d.paint(dim, "turn ended: "+plain(string(r.StopReason))))
		d.changed(r)
	case *Lines:
		d.Write(struct {
			Type    string `json:"type"`
			Session string `json:"sessionId"`
			bridge.TurnResult
		}{"turn", info.ID, r})
	}
}

// fail says what went wrong and what to do.
func (t *Turn) fail(err error) int {
	fmt.Fprintf(t.Err, "sallyport: %s\n", plain(err.Error()))
	hint, stderr := Advice(err)
	for _, line := range hint {
		fmt.Fprintf(t.Err, "hint: %s\n", plain(line))
	}
	if stderr != "" {
		fmt.Fprintf(t.Err, "the agent's last words:\n%s\n", plain(stderr))
	}
	return 1
}

// Advice is what a person can do about an error of a Bridge, and the agent's
// last words where it died.
func Advice(err error) (hints []string, stderr string) {
	var (
		start   *bridge.StartError
		auth    *bridge.AuthError
		gone    *bridge.GoneError
		unknown *bridge.UnknownAgentError
		said    *bridge.AgentError
	)
	switch {
	case errors.As(err, &start):
		if start.Hint != "" {
			hints = append(hints, start.Hint)
		}
		return hints, start.Stderr
	case errors.As(err, &auth):
		for _, m := range auth.Methods {
			if m.Command != "" {
				hints = append(hints, m.Name+": "+m.Command)
			} else {
				hints = append(hints, m.Name+": "+m.Description)
			}
		}
	case errors.As(err, &gone):
		return nil, gone.Stderr
	case errors.As(err, &unknown):
		if unknown.Hint != "" {
			hints = append(hints, unknown.Hint)
		}
	case errors.As(err, &said):
		if said.Data != "" {
			hints = append(hints, "the agent added: "+said.Data)
		}
	}
	return hints, stderr
}
