package rpc

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"
)

// Kind says what a message is.
type Kind uint8

// The kinds of messages. Handle sees requests and notifications only; a
// response goes to the call that it answers.
const (
	Request Kind = iota + 1
	Notification
	Response
)

// String returns the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Request:
		return "request"
	case Notification:
		return "notification"
	case Response:
		return "response"
	default:
		return "kind " + strconv.Itoa(int(k))
	}
}

// RawID is a request id, exactly the bytes that the peer sent: `1` and `"1"`
// are two ids, and 9007199254740993 keeps its last digit. It is comparable and
// serves as a map key. The zero value means no id, or null.
type RawID string

// RawJSON is one JSON value that is already encoded. As params or result it is
// copied into the message as it is; it must be valid.
type RawJSON = jsontext.Value

// Message is one incoming message. All slices point into the read buffer: they
// are borrowed until the handler returns, and what is kept must be copied.
type Message struct {
	Kind   Kind
	ID     RawID  // of a request or response; "" for none and for null
	Method []byte // of a request or notification, unescaped
	Params []byte // an object or array; nil when absent or null
	Result []byte // of a response that succeeded
	Error  []byte // of a response that failed: the error object
	Frame  []byte // the whole message as it came, without its framing
	index  *index // of Params; nil if there is none
}

// Error is a JSON-RPC error object (JSON-RPC 2.0, section 5.1), sent by the
// peer or to be sent to it.
type Error struct {
	Code    int     `json:"code"`
	Message string  `json:"message"`
	Data    RawJSON `json:"data,omitzero"` // nil when absent
}

// Error returns the message and the code, and the data when it is short.
func (e *Error) Error() string {
	const short = 512
	if len(e.Data) > 0 && len(e.Data) <= short {
		return fmt.Sprintf("%s (%d, data %s)", e.Message, e.Code, e.Data)
	}
	return fmt.Sprintf("%s (%d)", e.Message, e.Code)
}

// The error codes of JSON-RPC 2.0, section 5.1, and of LSP 3.17.
const (
	ParseError       = int(jsonrpc2.ParseError)
	InvalidRequest   = int(jsonrpc2.InvalidRequest)
	MethodNotFound   = int(jsonrpc2.MethodNotFound)
	InvalidParams    = int(jsonrpc2.InvalidParams)
	InternalError    = int(jsonrpc2.InternalError)
	RequestCancelled = -32800
)

// Errorf returns an Error with a formatted message and no data.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Unmarshal decodes a JSON value into v. Names are case-sensitive, a name twice
// in one object is an error, and a lone surrogate escape becomes U+FFFD:
// JavaScript peers send them when they cut a string.
func Unmarshal(data []byte, v any) error {
	return json.Unmarshal(data, v, jsontext.AllowInvalidUTF8(true))
}

// marshal encodes params or a result; RawJSON passes as it is, nil is nil.
func marshal(v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case RawJSON:
		return v, nil
	default:
		return json.Marshal(v)
	}
}

// decodeError reads the error object of a response.
func decodeError(raw []byte) error {
	var e Error
	if err := Unmarshal(raw, &e); err != nil {
		return fmt.Errorf("reading the error object of a response: %w", err)
	}
	return &e
}
