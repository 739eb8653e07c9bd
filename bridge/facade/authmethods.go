package facade

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
)

// Why a way to sign in is not passed on.
var (
	errAmbiguous = errors.New("clients read it in different ways")
	errNoMethod  = errors.New("it is none")
	errWords     = errors.New("its arguments or its variables are none")
	errNobody    = errors.New("it cannot be said whose it is")
)

// signIns changes the ways to sign in of an object, the answer to initialize or the
// data of an error, so that what a client runs for them comes back to us. Those of
// which that cannot be said are left out. agent is whose they are; empty: not known.
func (c *client) signIns(object []byte, agent string) jsontext.Value {
	out, err := edited(object, func(name string, value []byte) []byte {
		if !strings.EqualFold(name, "authMethods") || string(value) == "null" {
			return value
		}
		var methods []jsontext.Value
		if rpc.Unmarshal(value, &methods) != nil {
			return []byte("[]") // what clients make of it, too
		}
		kept := make([][]byte, 0, len(methods))
		changed := false
		for _, m := range methods {
			now, err := c.signInBy(m, agent)
			if err != nil {
				c.log.Warn("a way to sign in is left out", "why", err)
			} else {
				kept = append(kept, now)
			}
			changed = changed || err != nil || !bytes.Equal(now, m)
		}
		if !changed {
			return value
		}
		return appended([]byte("[]"), kept...)
	})
	if err != nil { // no object
		return object
	}
	return out
}

// signInsOf changes the ways to sign in that an error has which asks for one.
func (c *client) signInsOf(e *rpc.Error) *rpc.Error {
	if e.Code != authRequired || len(e.Data) == 0 {
		return e
	}
	agent := c.Agent
	if c.Choices != nil { // it may be another's
		agent = ""
	}
	return &rpc.Error{Code: e.Code, Message: e.Message, Data: rpc.RawJSON(c.signIns(e.Data, agent))}
}

// signInBy changes one way to sign in (ACP v1, AuthMethod). A client runs one of
// type terminal by our own command line and the method's arguments, in the method's
// variables; before that was in ACP the type and the arguments stood in _meta. There
// an agent can also name a whole command, for clients that look for terminal-auth.
func (c *client) signInBy(method jsontext.Value, agent string) (jsontext.Value, error) {
	if method.Kind() != '{' {
		return nil, errNoMethod
	}
	out, err := c.terminalMethod(method, agent)
	if err != nil {
		return nil, err
	}
	meta, _ := rpc.Member(out, "_meta")
	if jsontext.Value(meta).Kind() != '{' {
		return out, nil
	}
	now, err := c.terminalMethod(meta, agent)
	if err != nil {
		return nil, err
	}
	if command, there := rpc.Member(now, "terminal-auth"); there {
		ours, err := c.terminalCommand(command, agent)
		if err != nil {
			return nil, err
		}
		if now, err = rpc.SetMember(now, "terminal-auth", ours); err != nil {
			return nil, err
		}
	}
	return rpc.SetMember(out, "_meta", now)
}

// methodNames are the members that say what is run.
var methodNames = []string{"type", "args", "env", "_meta", "terminal-auth", "command"}

// unambiguous reports whether each member that counts is called so exactly: some
// clients take "Args" for args. An answer in which a name stands twice the bridge
// has refused.
func unambiguous(object []byte) bool {
	ok := true
	err := rpc.Members(object, func(key, _ []byte) bool {
		for _, name := range methodNames {
			ok = ok && (string(key) == name || !strings.EqualFold(string(key), name))
		}
		return ok
	})
	return ok && err == nil
}

// terminalMethod gives an object of type terminal our arguments, and no variables.
func (c *client) terminalMethod(object jsontext.Value, agent string) (jsontext.Value, error) {
	if !unambiguous(object) {
		return nil, errAmbiguous
	}
	if kind, ok := rpc.Member(object, "type"); !ok || string(kind) == "null" {
		return object, nil
	} else if name, err := rpc.Unquote(kind); err != nil {
		return nil, errNoMethod
	} else if name != "terminal" {
		return object, nil
	}
	s, err := c.said(object, agent)
	if err != nil {
		return nil, err
	}
	return withWords(object, s.Words())
}

// terminalCommand gives an agent's command our own in its place.
func (c *client) terminalCommand(object jsontext.Value, agent string) (jsontext.Value, error) {
	none := jsontext.Value("null")
	switch {
	case object.Kind() != '{':
		return none, nil
	case !unambiguous(object):
		return nil, errAmbiguous
	}
	value, _ := rpc.Member(object, "command")
	program, err := rpc.Unquote(value)
	if err != nil || program == "" || strings.ContainsRune(program, 0) || len(c.Self) == 0 {
		return none, nil
	}
	s, err := c.said(object, agent)
	if err != nil {
		return nil, err
	}
	s.Program = program
	out, err := rpc.SetMember(object, "command", rpc.AppendQuote(nil, c.Self[0]))
	if err != nil {
		return nil, err
	}
	return withWords(out, slices.Concat(c.Self[1:], s.Words()))
}

// withWords sets the arguments of an object, and leaves it no variables.
func withWords(object jsontext.Value, words []string) (jsontext.Value, error) {
	args, err := json.Marshal(words)
	if err != nil {
		return nil, err
	}
	if object, err = rpc.SetMember(object, "args", args); err != nil {
		return nil, err
	}
	if _, there := rpc.Member(object, "env"); there {
		return rpc.SetMember(object, "env", []byte("{}"))
	}
	return object, nil
}

// said reads the arguments and the variables that an agent gives.
func (c *client) said(object jsontext.Value, agent string) (bridge.SignIn, error) {
	var s bridge.SignIn
	if c.Choices != nil { // our command line names no agent
		if s.Agent = agent; agent == "" {
			return s, errNobody
		}
	}
	args, _ := rpc.Member(object, "args")
	if len(args) > 0 && rpc.Unmarshal(args, &s.Args) != nil {
		return s, errWords
	}
	env, _ := rpc.Member(object, "env")
	var variables map[string]string
	if len(env) > 0 && rpc.Unmarshal(env, &variables) != nil {
		return s, errWords
	}
	for name, value := range variables {
		if name == "" || strings.Contains(name, "=") {
			return s, errWords
		}
		s.Env = append(s.Env, name+"="+value)
	}
	slices.Sort(s.Env)
	if slices.ContainsFunc(slices.Concat(s.Args, s.Env), func(word string) bool { return strings.ContainsRune(word, 0) }) {
		return s, errWords
	}
	return s, nil
}

// edited is an object with other values of members; all other bytes stay.
func edited(object []byte, value func(name string, value []byte) []byte) ([]byte, error) {
	var out []byte
	at := 0
	err := rpc.Members(object, func(key, was []byte) bool {
		now := value(string(key), was)
		from := rpc.OffsetIn(object, was)
		out = append(append(out, object[at:from]...), now...)
		at = from + len(was)
		return true
	})
	if err != nil {
		return nil, err
	}
	return append(out, object[at:]...), nil
}

// tellVariables says which variables that an agent asks its user for do not reach
// it: they pass by the user's word alone, whatever the client sets on us.
func (q *call) tellVariables(b *bridge.Bridge, answer jsontext.Value) {
	var said struct {
		Methods []struct {
			Type string `json:"type"`
			Vars []struct {
				Name string `json:"name"`
			} `json:"vars"`
		} `json:"authMethods"`
	}
	_ = rpc.Unmarshal(answer, &said) // what is odd names none
	for _, m := range said.Methods {
		for _, v := range m.Vars {
			if m.Type == "env_var" && v.Name != "" && !b.Passes(q.Agent, v.Name) {
				b.Display.Notice(bridge.Notice{
					Kind: bridge.NoticeAuth, Level: bridge.Warning,
					Text: fmt.Sprintf("%s asks for the variable %s, which does not reach it", q.Agent, clip(v.Name)),
					Hint: fmt.Sprintf("name it in the setting agents.%s.passEnv if it may have it", q.Agent),
				})
			}
		}
	}
}
