package fakeagent

import (
	"bytes"
	stdjson "encoding/json" // the SDK's types are decoded with it
	"errors"
	"fmt"

	"github.com/coder/acp-go-sdk"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// validated is a pointer to one of the SDK's types.
type validated[T any] interface {
	*T
	Validate() error
}

// typed checks a value against one of the SDK's types: what Validate says, and
// no members that the type does not have. The SDK's types decode themselves, so
// these are found by what is lost when the value is encoded again.
func typed[T any, P validated[T]](raw []byte) error {
	p := P(new(T))
	if err := stdjson.Unmarshal(raw, p); err != nil {
		return err
	}
	if err := p.Validate(); err != nil {
		return err
	}
	kept, err := stdjson.Marshal(p)
	if err != nil {
		return err
	}
	var before, after any
	if err := errors.Join(json.Unmarshal(raw, &before), json.Unmarshal(kept, &after)); err != nil {
		return err
	}
	return lost("", before, after)
}

// lost finds a member that before has and after lacks. Empty values may go:
// the types leave them out.
func lost(at string, before, after any) error {
	switch b := before.(type) {
	case map[string]any:
		a, _ := after.(map[string]any)
		for name, value := range b {
			kept, ok := a[name]
			if !ok && !empty(value) {
				return fmt.Errorf("unknown member %s/%s", at, name)
			}
			if err := lost(at+"/"+name, value, kept); ok && err != nil {
				return err
			}
		}
	case []any:
		a, _ := after.([]any)
		for i, value := range b {
			if i < len(a) {
				if err := lost(fmt.Sprintf("%s/%d", at, i), value, a[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return v == nil || v == false || v == 0.0 || v == ""
	}
}

// paramsOf checks the parameters of the client's messages.
func paramsOf(method string, raw []byte) error {
	switch method {
	case acp.AgentMethodInitialize:
		return typed[acp.InitializeRequest](raw)
	case acp.AgentMethodAuthenticate:
		return typed[acp.AuthenticateRequest](raw)
	case acp.AgentMethodSessionNew:
		return typed[acp.NewSessionRequest](raw)
	case acp.AgentMethodSessionLoad:
		return typed[acp.LoadSessionRequest](raw)
	case acp.AgentMethodSessionPrompt:
		return typed[acp.PromptRequest](raw)
	case acp.AgentMethodSessionCancel:
		return typed[acp.CancelNotification](raw)
	case acp.AgentMethodSessionSetMode:
		return typed[acp.SetSessionModeRequest](raw)
	default:
		return nil
	}
}

// resultOf checks the results of the client's answers.
func resultOf(method string, raw []byte) error {
	switch method {
	case acp.ClientMethodFsReadTextFile:
		return typed[acp.ReadTextFileResponse](raw)
	case acp.ClientMethodFsWriteTextFile:
		if string(raw) != "{}" {
			return fmt.Errorf("got %s, want {}", raw)
		}
		return nil
	case acp.ClientMethodSessionRequestPermission:
		return typed[acp.RequestPermissionResponse](raw)
	default:
		return nil
	}
}

// strictly checks a message of the client beyond its being JSON.
func strictly(m message, line []byte) error {
	if m.JSONRPC != "2.0" {
		return errors.New(`"jsonrpc" is not "2.0"`)
	}
	if m.Method == "" && len(m.Result) > 0 == (len(m.Error) > 0) {
		return errors.New("a response has either a result or an error")
	}
	if m.Method == acp.AgentMethodSessionCancel && len(m.ID) > 0 {
		return errors.New("a cancel is a notification, without an id")
	}
	dec := jsontext.NewDecoder(bytes.NewReader(line))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			break // the end: the line has been decoded before
		}
		if token.Kind() == 'n' {
			return fmt.Errorf("null at %s: what is absent is left out", dec.StackPointer())
		}
	}
	if m.Method == "" {
		return nil
	}
	return paramsOf(m.Method, m.Params)
}

// checkReply is strictly for the result of one of our requests.
func (r *run) checkReply(method string, m message) error {
	if !r.serving.agent.Script.Strict || len(m.Error) > 0 {
		return nil
	}
	if err := resultOf(method, m.Result); err != nil {
		return failed("strict: the answer to %s: %v", method, err)
	}
	return nil
}
