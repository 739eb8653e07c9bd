package rpc

import "errors"

// invalid deals with a message that cannot be read. m says as much as is known.
func (c *Conn) invalid(m *Message, err error) {
	c.in.counts.invalid.Add(1)
	// A line of a log, be it JSON, gets no answer, or logs would be talked to.
	logs := c.in.frames.logs()
	switch {
	case isSyntax(err):
		c.noise(m.Frame)
		if c.in.frames.reject() && (isObject(m.Frame) || !logs) {
			c.complain("", ParseError, err.Error())
		}
	case errors.Is(err, errForeign) && logs:
		c.noise(m.Frame)
	case errors.Is(err, errBatch):
		c.complain("", InvalidRequest, err.Error())
	case errors.Is(err, errDepth):
		head := headOf(m.Frame)
		c.refuse(&head, err)
	default:
		c.refuse(m, err)
	}
}

// long deals with a message of which only the head is known.
func (c *Conn) long(head []byte) {
	c.in.counts.invalid.Add(1)
	m := headOf(head)
	c.refuse(&m, errLong)
}

// refuse answers a request that is not taken, and fails the call that a
// response which is not taken would have answered.
func (c *Conn) refuse(m *Message, err error) {
	c.Log.Warn("refused a message", "reason", err, "bytes", len(m.Frame))
	if m.Kind == Response {
		if call := c.take(m.ID); call != nil {
			call.done(nil, Errorf(InvalidRequest, "the answer could not be read: %v", err))
		}
		return
	}
	c.complain(m.ID, InvalidRequest, err.Error())
}

// complain sends an error, unless the peer already leaves its errors unread:
// garbage must not fill our memory with answers to it.
func (c *Conn) complain(id RawID, code int, text string) {
	if c.out.full(c.highWater()) {
		return
	}
	_ = c.replyError(id, Errorf(code, "%s", text)) // fails only with the connection
}

func (c *Conn) noise(b []byte) {
	c.in.counts.noise.Add(1)
	if c.Noise != nil {
		c.Noise(b[:min(len(b), headSize)])
	}
}

// isSyntax reports whether err says that the bytes are no JSON text.
func isSyntax(err error) bool { return errors.Is(err, errSyntax) || errors.Is(err, errUTF8) }

// isObject reports whether b sets out to be a JSON object.
func isObject(b []byte) bool {
	i := skipSpace(b, 0)
	return i < len(b) && b[i] == '{'
}
