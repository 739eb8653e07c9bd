package facade

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
)

// Codes of ACP v1 besides those of JSON-RPC.
const (
	authRequired = -32000
	notFound     = -32002
)

// trouble is the data of an error that we author.
type trouble struct {
	By     string `json:"by"` // "sallyport"
	Hint   string `json:"hint,omitzero"`
	Stderr string `json:"stderr,omitzero"`
}

// refusal turns what the bridge returned into an answer: an agent's error as it
// came, and ours with what to do. This is the one place where codes are chosen.
func refusal(ctx context.Context, err error) *rpc.Error {
	var (
		already *rpc.Error
		said    *bridge.AgentError
		auth    *bridge.AuthError
		session *bridge.UnknownSessionError
		start   *bridge.StartError
		gone    *bridge.GoneError
		agent   *bridge.UnknownAgentError
		lacking *bridge.UnsupportedError
	)
	switch {
	case errors.As(err, &already):
		return already
	case errors.As(err, &said) && said.Raw != nil:
		return said.Raw
	case errors.As(err, &auth):
		if auth.Raw != nil {
			return auth.Raw
		}
		return failure(authRequired, err, trouble{})
	case errors.As(err, &session):
		return failure(notFound, err, trouble{})
	case errors.As(err, &start):
		return failure(rpc.InternalError, err, trouble{Hint: start.Hint, Stderr: tail(start.Stderr)})
	case errors.As(err, &gone):
		return failure(rpc.InternalError, err, trouble{Hint: "the next prompt starts it again", Stderr: tail(gone.Stderr)})
	case errors.As(err, &agent):
		return failure(rpc.InvalidParams, err, trouble{Hint: agent.Hint})
	case errors.As(err, &lacking):
		return failure(rpc.MethodNotFound, err, trouble{})
	case ctx.Err() != nil:
		return failure(rpc.RequestCancelled, errors.New("cancelled"), trouble{})
	default:
		return failure(rpc.InternalError, err, trouble{})
	}
}

// ours is an error that we make.
func ours(code int, format string, args ...any) *rpc.Error {
	return failure(code, fmt.Errorf(format, args...), trouble{})
}

func failure(code int, err error, t trouble) *rpc.Error {
	t.By = "sallyport"
	data, encodeErr := json.Marshal(t, jsontext.AllowInvalidUTF8(true))
	if encodeErr != nil { // strings only
		data = nil
	}
	return &rpc.Error{Code: code, Message: err.Error(), Data: data}
}

// tail is the end of what an agent wrote on stderr.
func tail(stderr string) string {
	const much = 4 << 10
	return strings.ToValidUTF8(stderr[max(0, len(stderr)-much):], "")
}
