package decider

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Say is a decider's word.
type Say int

// The words, the zero value is the one that settles nothing.
const (
	Ask Say = iota
	Allow
	Deny
)

func (s Say) String() string {
	switch s {
	case Ask:
		return "ask"
	case Allow:
		return "allow"
	case Deny:
		return "deny"
	default:
		return fmt.Sprintf("Say(%d)", int(s))
	}
}

// Answer is a decider's word on a question.
type Answer struct {
	Say     Say
	Message string        // the decider's own, one line, at most MaxMessage bytes
	Why     string        // why it did not decide, one sentence without a stop; empty: it answered
	Delay   time.Duration // since it was asked
}

// Bounds of what a program writes.
const (
	MaxLine    = 64 << 10 // a longer line ends its life
	MaxMessage = 1 << 10  // a longer message is cut
	maxStrays  = 256      // more strays between two answers end its life
	maxBatch   = 64       // more messages in one line are a stray
)

// message is one JSON-RPC message of a program.
type message struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  string         `json:"method"`
	Result  jsontext.Value `json:"result"`
	Error   jsontext.Value `json:"error"`
}

// messages reads one line: a message, or a batch of them. batch says which.
func messages(line []byte) (all []message, batch bool, err error) {
	var value jsontext.Value
	if err := json.Unmarshal(line, &value); err != nil {
		return nil, false, errors.New("it is not JSON")
	}
	if value.Kind() == '[' {
		var items []jsontext.Value
		if err := json.Unmarshal(value, &items); err != nil || len(items) == 0 || len(items) > maxBatch {
			return nil, true, fmt.Errorf("it is no batch of 1 to %d messages", maxBatch)
		}
		for _, item := range items {
			m, err := messageOf(item)
			if err != nil {
				return nil, true, err
			}
			all = append(all, m)
		}
		return all, true, nil
	}
	m, err := messageOf(value)
	if err != nil {
		return nil, false, err
	}
	return []message{m}, false, nil
}

func messageOf(value jsontext.Value) (message, error) {
	var m message
	if err := json.Unmarshal(value, &m); err != nil || value.Kind() != '{' || m.Version != "2.0" {
		return message{}, errors.New("it is no message of JSON-RPC 2.0")
	}
	return m, nil
}

// number is the id of an answer to us; 0: it has none of ours.
func (m message) number() int64 {
	var n int64
	if m.Method != "" || m.ID.Kind() != '0' || json.Unmarshal(m.ID, &n) != nil || n < 1 {
		return 0
	}
	return n
}

// call reports whether the program asks us something and waits for the answer.
func (m message) call() bool {
	return m.Method != "" && len(m.ID) > 0 && (m.ID.Kind() == '0' || m.ID.Kind() == '"')
}

// result is the result of an answer, or why there is none.
func (m message) result() (jsontext.Value, error) {
	failed, done := len(m.Error) > 0 && m.Error.Kind() != 'n', len(m.Result) > 0
	switch {
	case failed && done && m.Result.Kind() != 'n':
		return nil, errors.New("it answered with a result and an error")
	case failed:
		var e struct {
			Code    int64  `json:"code"`
			Message string `json:"message"`
		}
		if json.Unmarshal(m.Error, &e) != nil {
			return nil, errors.New("it answered with an error")
		}
		return nil, fmt.Errorf("it answered with error %d: %s", e.Code, oneLine(e.Message, MaxMessage))
	case !done:
		return nil, errors.New("it answered without a result")
	}
	return m.Result, nil
}

// answer reads a decision. What is none of the three is ask, with the reason.
func (m message) answer() Answer {
	result, err := m.result()
	if err != nil {
		return Answer{Why: err.Error()}
	}
	var r struct {
		Decision jsontext.Value `json:"decision"`
		Message  jsontext.Value `json:"message"`
	}
	if result.Kind() != '{' || json.Unmarshal(result, &r) != nil {
		return Answer{Why: "its answer is no object with a decision"}
	}
	var a Answer
	var word string
	if r.Decision.Kind() == '"' {
		_ = json.Unmarshal(r.Decision, &word) // valid, as all parts of a message are
	}
	switch word {
	case "ask":
	case "allow":
		a.Say = Allow
	case "deny":
		a.Say = Deny
	default:
		return Answer{Why: "its decision is none of allow, deny and ask: " + oneLine(string(r.Decision), 60)}
	}
	if len(r.Message) == 0 || r.Message.Kind() == 'n' {
		return a
	}
	var text string
	if json.Unmarshal(r.Message, &text) != nil {
		if a.Say == Deny { // it stays one: the message is what is wrong
			return a
		}
		return Answer{Why: "its message is no text"}
	}
	a.Message = oneLine(text, MaxMessage)
	return a
}

// welcome reads the answer to initialize.
func (m message) welcome() error {
	result, err := m.result()
	if err != nil {
		return err
	}
	var r struct {
		Protocol jsontext.Value `json:"protocolVersion"`
	}
	if result.Kind() != '{' || json.Unmarshal(result, &r) != nil || len(r.Protocol) == 0 {
		return errors.New("its answer to initialize names no protocolVersion")
	}
	if string(r.Protocol) != "1" {
		return &VersionError{oneLine(string(r.Protocol), 60)}
	}
	return nil
}

// VersionError says that a program speaks another version of the protocol.
type VersionError struct{ Version string }

func (e *VersionError) Error() string {
	return "it speaks version " + e.Version + " of the protocol, not 1"
}
