package bridge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/quirk"
	"sallyport/bridge/rpc"
)

// protocolVersion is the version of ACP that we speak.
const protocolVersion = 1

// hello is an agent's answer to initialize (ACP v1, InitializeResponse).
type hello struct {
	ProtocolVersion jsontext.Value `json:"protocolVersion"`
	AgentInfo       struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"agentInfo"`
	Capabilities struct {
		LoadSession bool `json:"loadSession"`
		Prompt      struct {
			Image           bool `json:"image"`
			Audio           bool `json:"audio"`
			EmbeddedContext bool `json:"embeddedContext"`
		} `json:"promptCapabilities"`
		Session map[string]jsontext.Value `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	AuthMethods []jsontext.Value `json:"authMethods"`
}

// authMethod is a way to sign in: of type agent (the default, by authenticate),
// env_var or terminal. Older agents put a terminal's line in _meta.
type authMethod struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Type        string            `json:"type"`
	Args        []string          `json:"args"`
	Env         map[string]string `json:"env"`
	Meta        struct {
		Type     string   `json:"type"`
		Args     []string `json:"args"`
		Terminal *struct {
			Label   string            `json:"label"`
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
		} `json:"terminal-auth"`
	} `json:"_meta"`
}

// offers reports whether sessionCapabilities has a member that is not null.
func (h *hello) offers(name string) bool {
	v, ok := h.Capabilities.Session[name]
	return ok && string(v) != "null" && string(v) != "false"
}

func (h *hello) capabilities() Capabilities {
	return Capabilities{
		Load:            h.Capabilities.LoadSession,
		Resume:          h.offers("resume"),
		List:            h.offers("list"),
		Delete:          h.offers("delete"),
		Image:           h.Capabilities.Prompt.Image,
		Audio:           h.Capabilities.Prompt.Audio,
		EmbeddedContext: h.Capabilities.Prompt.EmbeddedContext,
	}
}

// initialize says hello and checks the version of the answer (ACP v1,
// Initialization). ctx bounds the wait.
func (a *agent) initialize(ctx context.Context) error {
	c, err := a.b.Home.Config(a.folder)
	if err != nil {
		return err
	}
	params, err := a.b.greeting(c)
	if err != nil {
		return err
	}
	started := time.Now()
	raw, err := a.call(ctx, "initialize", params)
	if err != nil {
		return a.startError(ctx, "initialize", time.Since(started), err)
	}
	if err := rpc.Unmarshal(raw, &a.hello); err != nil {
		return &StartError{Agent: a.harness.Name, Reason: "its answer to initialize is malformed: " + err.Error(), Hint: "update the agent", Err: err}
	}
	if v := string(a.hello.ProtocolVersion); v != fmt.Sprint(protocolVersion) {
		return &StartError{Agent: a.harness.Name, Reason: versionReason(v), Hint: versionHint(v)}
	}
	a.greeting = raw
	var named []string
	for _, q := range a.harness.Own.Quirks {
		named = append(named, string(q))
	}
	a.quirks = quirk.For(named, a.hello.AgentInfo.Name, a.hello.AgentInfo.Version)
	return nil
}

func versionReason(v string) string {
	if v == "" {
		v = "none"
	}
	v = clip(v, 64)
	return fmt.Sprintf("it answered with ACP version %s, and Sallyport speaks version %d", v, protocolVersion)
}

func versionHint(v string) string {
	if strings.Trim(v, "0123456789") == "" && v > "1" {
		return "update Sallyport, or use a version of the agent that speaks ACP 1"
	}
	return "update the agent: that is no version of ACP"
}

// call asks the agent and turns its errors into ours.
func (a *agent) call(ctx context.Context, method string, params any) ([]byte, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", method, err)
	}
	answer, err := a.conn.CallRaw(ctx, method, raw)
	return answer, a.agentError(err)
}

// agentError tells an agent's own error from its end.
func (a *agent) agentError(err error) error {
	var e *rpc.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return a.said(e)
	case errors.Is(err, rpc.ErrClosed):
		<-a.proc.Done() // its end is under way: the connection was the first sign
		return a.goneError()
	default:
		return err
	}
}

// startError explains why an agent did not come up.
func (a *agent) startError(ctx context.Context, method string, waited time.Duration, err error) error {
	e := &StartError{Agent: a.harness.Name, Err: err, Stderr: a.proc.Stderr()}
	var gone *GoneError
	switch {
	case errors.As(err, &gone) && a.kernel.lostBy() != "":
		e.Reason, e.Hint = "it was ended: "+a.kernel.lostBy(), "begin again, to have it held anew"
	case errors.As(err, &gone):
		e.Reason, e.Stderr = fmt.Sprintf("it ended before it answered %s (%s)", method, gone.Exit), gone.Stderr
		e.Hint = "run `sallyport doctor --probe` to see what it needs"
		if a.kernel.blames(gone.Stderr) {
			e.Hint = fmt.Sprintf("if it keeps files of its own outside the project, name their folder in the setting agents.%s.state", a.harness.ID)
		}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Reason = fmt.Sprintf("no answer to %s within %s", method, waited.Round(time.Second))
		e.Hint = "raise the setting timeouts.startSeconds if this machine is slow"
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		e.Reason = err.Error()
		e.Hint = "run `sallyport doctor --probe` to see what it needs"
	}
	return e
}
