package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
	"sallyport/server/wire"
	"sallyport/workspace/turns"
)

// decode reads the params of a request. Absent params are {}: editors that
// have nothing to say leave them out. The error is an answer, with the JSON
// pointer of the bad field.
func decode(method string, params []byte, v any) error {
	if len(params) == 0 {
		params = []byte("{}")
	}
	err := rpc.Unmarshal(params, v)
	if err == nil {
		return nil
	}
	field, why := "", err.Error()
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		field = string(semantic.JSONPointer)
		why = fmt.Sprintf("a JSON %v does not fit", semantic.JSONKind)
		if semantic.JSONKind == 0 && semantic.Err != nil {
			why = semantic.Err.Error()
		}
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		field, why = string(syntactic.JSONPointer), syntactic.Err.Error()
	}
	return badParams(method, field, "%s", why)
}

// badParams is the answer to params that make no sense. field is a JSON
// pointer; empty for the params as a whole.
func badParams(method, field, format string, args ...any) *rpc.Error {
	why := fmt.Sprintf(format, args...)
	name := "params"
	if field != "" {
		name = strings.TrimPrefix(field, "/")
	}
	return answer(wire.CodeInvalidParams, method+": "+name+": "+why, wire.ErrorData{Kind: wire.ErrorParams, Field: field})
}

func answer(code int, message string, data wire.ErrorData) *rpc.Error {
	raw, err := json.Marshal(data, jsontext.AllowInvalidUTF8(true))
	if err != nil { // strings and numbers only
		raw = []byte("null")
	}
	return &rpc.Error{Code: code, Message: message, Data: raw}
}

// refusal turns what Sessions returned into an answer. This is the one place
// where the wire's codes and the user's sentences are chosen.
func refusal(ctx context.Context, err error) *rpc.Error {
	var (
		already *rpc.Error
		agent   *bridge.UnknownAgentError
		session *bridge.UnknownSessionError
		auth    *bridge.AuthError
		start   *bridge.StartError
		gone    *bridge.GoneError
		said    *bridge.AgentError
		busy    *bridge.BusyError
		cannot  *bridge.UnsupportedError
	)
	turn := turnRefusal(err)
	switch {
	case errors.As(err, &already):
		return already
	case turn != nil:
		return turn
	case errors.As(err, &agent):
		return answer(wire.CodeInvalidParams, err.Error(),
			wire.ErrorData{Kind: wire.ErrorUnknownAgent, Agent: agent.Agent, Known: agent.Known, Hint: agent.Hint})
	case errors.As(err, &session):
		return answer(wire.CodeInvalidParams, err.Error(), wire.ErrorData{Kind: wire.ErrorUnknownSession})
	case errors.As(err, &auth):
		return answer(wire.CodeFailed, err.Error(),
			wire.ErrorData{Kind: wire.ErrorAuth, Agent: auth.Agent, Methods: auth.Methods})
	case errors.As(err, &start):
		return answer(wire.CodeFailed, err.Error(), wire.ErrorData{Kind: wire.ErrorStart, Agent: start.Agent,
			Hint: start.Hint, Detail: &wire.ErrorDetail{Stderr: start.Stderr}})
	case errors.As(err, &gone):
		return answer(wire.CodeFailed, err.Error(), wire.ErrorData{Kind: wire.ErrorGone, Agent: gone.Agent,
			Detail: &wire.ErrorDetail{Exit: gone.Exit, Stderr: gone.Stderr}})
	case errors.As(err, &said):
		return answer(wire.CodeFailed, err.Error(), wire.ErrorData{Kind: wire.ErrorAgent, Agent: said.Agent,
			Detail: &wire.ErrorDetail{Code: said.Code, Data: said.Data}})
	case errors.As(err, &busy):
		return answer(wire.CodeFailed, err.Error(), wire.ErrorData{Kind: wire.ErrorBusy})
	case errors.As(err, &cannot):
		return answer(wire.CodeFailed, err.Error(), wire.ErrorData{Kind: wire.ErrorUnsupported, Agent: cannot.Agent})
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
		return answer(wire.CodeCancelled, cancelledBy(ctx), wire.ErrorData{Kind: wire.ErrorCancelled})
	default:
		return answer(wire.CodeFailed, err.Error(), wire.ErrorData{Kind: wire.ErrorInternal, Hint: "the log of sallyport serve may say more"})
	}
}

func cancelledBy(ctx context.Context) string {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause.Error()
	}
	return "cancelled"
}

// sentence is an error as a person reads it, with what to do about it.
func sentence(err error) (text, hint string) {
	var (
		auth  *bridge.AuthError
		start *bridge.StartError
		busy  *turns.BusyError
	)
	switch {
	case errors.As(err, &busy):
		return err.Error(), "cancel it or wait for its end"
	case errors.As(err, &auth):
		for _, m := range auth.Methods {
			if m.Command != "" {
				return err.Error(), "run in a terminal: " + m.Command
			}
		}
	case errors.As(err, &start):
		return err.Error() + lastWords(start.Stderr), start.Hint
	}
	return err.Error(), bridge.HintOf(err)
}

// lastWords are the last lines of what an agent printed, as the end of a
// sentence.
func lastWords(stderr string) string {
	const few, most = 3, 300
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	words := strings.Join(lines[max(0, len(lines)-few):], "; ")
	if words == "" {
		return ""
	}
	if len(words) > most {
		words = "…" + strings.ToValidUTF8(words[len(words)-most:], "")
	}
	return ", saying: " + words
}
