package rpc

// envelope holds the top-level members of one message.
type envelope struct {
	jsonrpc, id, method, params, result, errobj []byte
	twice                                       bool // a known member was repeated
}

// known reports whether any member of JSON-RPC is there.
func (e *envelope) known() bool {
	return e.jsonrpc != nil || e.id != nil || e.method != nil || e.params != nil || e.result != nil || e.errobj != nil
}

// set stores a member by its quoted key.
func (e *envelope) set(key, value []byte) {
	var slot *[]byte
	switch string(key) {
	case `"jsonrpc"`:
		slot = &e.jsonrpc
	case `"id"`:
		slot = &e.id
	case `"method"`:
		slot = &e.method
	case `"params"`:
		slot = &e.params
	case `"result"`:
		slot = &e.result
	case `"error"`:
		slot = &e.errobj
	default:
		if special(key[1:], 0) < len(key)-2 { // "\u0069d" is id, too
			if name, err := Unquote(key); err == nil && special([]byte(name), 0) == len(name) {
				e.set([]byte(`"`+name+`"`), value)
			}
		}
		return
	}
	if *slot != nil {
		e.twice = true
	}
	*slot = value
}

// Scan reads one message. The parts of m point into frame. An error means that
// frame is no valid message: not JSON, not UTF-8, nested deeper than MaxDepth,
// a batch, or not JSON-RPC 2.0; m.ID is then the id that an answer should
// carry, as far as one can be told.
//
// A member of JSON-RPC that occurs twice makes a message invalid. Elsewhere in
// a message names are not compared; see Members.
func Scan(frame []byte) (m Message, err error) {
	var s scanner
	m.Frame = frame
	if err = s.scan(frame); err == nil {
		err = s.envelope.classify(&m)
	}
	return m, err
}

// message reads one message into m, with an index that the next call voids.
func (s *scanner) message(frame []byte, m *Message) error {
	if s.again(frame, m) {
		return nil
	}
	*m = Message{Frame: frame, index: &s.index}
	s.differs = common(s.last, frame)
	err := s.scan(frame)
	if err == nil {
		err = s.envelope.classify(m)
	}
	s.learn(frame, m)
	return err
}

// release lets go of the message.
func (s *scanner) release() {
	s.envelope = envelope{}
	s.index.data = nil
}

// classify fills m from the members. On an error it says in m.Kind what the
// message was meant to be, 0 if that cannot be told.
func (e *envelope) classify(m *Message) error {
	id, idOK := rawID(e.id)
	m.ID = id
	switch {
	case !e.known():
		return errForeign
	case e.method == nil && (e.result != nil || e.errobj != nil):
		m.Kind = Response
		return e.response(m, idOK)
	case e.method == nil || !idOK:
		return errInvalid
	}
	method, ok := methodName(e.method)
	if !ok || e.twice || e.result != nil || e.errobj != nil || string(e.jsonrpc) != `"2.0"` {
		return errInvalid
	}
	switch {
	case e.params == nil || isNull(e.params):
	case e.params[0] == '{' || e.params[0] == '[':
		m.Params = e.params
	default:
		return errInvalid
	}
	m.Method = method
	m.Kind = Notification
	if id != "" {
		m.Kind = Request
	}
	return nil
}

// response fills m from a message with a result or an error and no method. Some
// peers send both members, one of them null: that is read as meant.
func (e *envelope) response(m *Message, idOK bool) error {
	if !idOK || e.twice || string(e.jsonrpc) != `"2.0"` {
		return errInvalid
	}
	switch {
	case e.errobj == nil || isNull(e.errobj) && e.result != nil:
		m.Result = e.result
	case e.errobj[0] == '{' && (e.result == nil || isNull(e.result)):
		m.Error = e.errobj
	default:
		return errInvalid
	}
	return nil
}

// rawID returns the id that value stands for; false if it cannot be one.
func rawID(value []byte) (RawID, bool) {
	switch {
	case value == nil || isNull(value):
		return "", true
	case value[0] == '"' || value[0] == '-' || '0' <= value[0] && value[0] <= '9':
		return RawID(value), true
	default:
		return "", false
	}
}

// methodName unquotes the method without a copy where it has no escapes.
func methodName(value []byte) ([]byte, bool) {
	if len(value) < 2 || value[0] != '"' {
		return nil, false
	}
	body := value[1 : len(value)-1]
	if special(body, 0) == len(body) {
		return body, true
	}
	s, err := Unquote(value)
	return []byte(s), err == nil
}

func isNull(value []byte) bool { return string(value) == "null" }

// headOf looks for what a message is when only its beginning is at hand, or
// when it is nested too deeply to be read: the members before the first that is
// incomplete. Kind is 0 if that cannot be told.
func headOf(head []byte) (m Message) {
	var e envelope
	key := []byte(nil)
	_ = eachMember(head, func(k, v []byte) bool {
		e.set(k, v)
		return true
	}, &key)
	if key != nil { // a member whose value is cut
		e.set(key, []byte("null"))
	}
	id, ok := rawID(e.id)
	if !ok || e.twice {
		return Message{}
	}
	m.ID = id
	switch {
	case e.method != nil && id != "":
		m.Kind = Request
	case e.method == nil && (e.result != nil || e.errobj != nil) && id != "":
		m.Kind = Response
	}
	return m
}
