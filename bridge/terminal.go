package bridge

import (
	"bytes"
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/kballard/go-shellquote"

	"sallyport/bridge/rpc"
	"sallyport/workspace/config"
)

// passesTerminals reports whether agents may run commands in the terminals of the
// client: the client offers them, and the user's configuration lets it.
func (b *Bridge) passesTerminals(c *config.Config) bool {
	if b.Client == nil || c.Terminal != config.TerminalPass {
		return false
	}
	able, _ := rpc.Member(b.Client, "clientCapabilities")
	offered, _ := rpc.Member(able, "terminal")
	return string(offered) == "true"
}

// actsOn is actedOn in this session: where terminals are passed on only their making
// is acted on.
func (s *session) actsOn(method string) bool {
	if method == "terminal/create" || !strings.HasPrefix(method, "terminal/") {
		return actedOn(method)
	}
	return !s.b.passesTerminals(s.config)
}

// terminalRequest serves terminal/create (ACP v1, Terminals): the command is a
// permission like any other, and runs at the client when it is given.
func (s *session) terminalRequest(a *agent, m *rpc.Message) func(context.Context) {
	p, ok := s.b.passer()
	switch {
	case !ok || !s.b.passesTerminals(s.config):
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.MethodNotFound, "Sallyport does not offer terminal/create"))
		return nil
	case !s.names(m.Params):
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.InvalidParams, "sessionId names no session of this agent"))
		return nil
	}
	line, cwd, err := terminalLine(m.Params)
	if err != nil {
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.InvalidParams, "%s", err))
		return nil
	}
	t := s.beginWork()
	if t == nil {
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(codeCancelled, "no turn is running: no command is run after a cancel, between turns, or while the history is told"))
		return nil
	}
	id, params := m.ID, bytes.Clone(m.Params)
	return func(ctx context.Context) {
		defer t.work.Done()
		if cwd == "" {
			cwd = s.folder
		}
		if o := s.decide(ctx, t, s.cards.Command(t.id, line, cwd)); !o.Allowed {
			note := o.DenyNote()
			if note == "" {
				note = "cancelled: no command was run"
			}
			_ = a.conn.ReplyError(id, rpc.Errorf(codeRefused, "%s", note))
			return
		}
		result, err := askClient(a.span.ctx, p, PassedRequest{Session: s.id, Method: "terminal/create", Params: params})
		if err != nil {
			_ = a.conn.ReplyError(id, err)
			return
		}
		_ = a.conn.ReplyRaw(id, result)
	}
}

// askClient passes a request on and waits for the answer.
func askClient(ctx context.Context, p Passer, r PassedRequest) (jsontext.Value, error) {
	type answer struct {
		result jsontext.Value
		err    error
	}
	answers := make(chan answer, 1)
	p.PassRequest(ctx, r, func(result jsontext.Value, err error) { answers <- answer{bytes.Clone(result), err} })
	select {
	case got := <-answers:
		return got.result, got.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// terminalLine is the command of terminal/create as a person and a rule read it,
// with the variables that it sets.
func terminalLine(params []byte) (line, cwd string, err error) {
	var said struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Cwd     string   `json:"cwd"`
		Env     []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"env"`
	}
	if err := rpc.Unmarshal(params, &said); err != nil {
		return "", "", err
	}
	if said.Command == "" {
		return "", "", rpc.Errorf(rpc.InvalidParams, "command is missing")
	}
	var words []string
	for _, e := range said.Env {
		words = append(words, e.Name+"="+shellquote.Join(e.Value))
	}
	// A client may hand the command to a shell: it is shown as it is, and not quoted.
	words = append(words, said.Command)
	if len(said.Args) > 0 {
		words = append(words, shellquote.Join(said.Args...))
	}
	return strings.Join(words, " "), said.Cwd, nil
}
