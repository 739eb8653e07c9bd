package rpc

import (
	"bytes"
	"errors"
	"strconv"
)

// CancelRequest is the notification by which either side of ACP takes a request of
// its own back (ACP v1, Cancellation).
const CancelRequest = "$/cancel_request"

// maxTakenBack is how much is kept of what the peer says when it takes a request
// back: it may have many open.
const maxTakenBack = 64 << 10

// TakenBack is the cause of a context that ends because the peer took a request
// back, in the peer's own words. A call that is given up for it passes them on.
type TakenBack struct {
	Method string // of the notification that said so
	Params []byte // its params; nil when there are none, or more than 64 KiB
}

// TakeBack keeps what a notification says.
func TakeBack(m *Message) *TakenBack {
	t := &TakenBack{Method: string(m.Method)}
	if len(m.Params) <= maxTakenBack {
		t.Params = bytes.Clone(m.Params)
	}
	return t
}

func (t *TakenBack) Error() string { return "cancelled by " + t.Method }

// Withdrawal are the params of a notification that takes a request back for a
// reason: where that is such a notification itself they are its params, in which
// the member called name is value. Else there is only that member.
func Withdrawal(why error, method, name string, value []byte) []byte {
	var t *TakenBack
	if errors.As(why, &t) && t.Method == method {
		if params, err := SetMember(t.Params, name, value); err == nil {
			return params
		}
	}
	params, _ := SetMember([]byte("{}"), name, value) // fails for what is no object only
	return params
}

// takeBack tells the peer that nobody needs the answer to a call any more.
func (c *Conn) takeBack(method string, id int64, why error) {
	name := "id"
	if method == CancelRequest {
		name = "requestId"
	}
	own := strconv.AppendInt(nil, id, 10)
	_ = c.Notify(method, RawJSON(Withdrawal(why, method, name, own))) // fails only with the connection
}
