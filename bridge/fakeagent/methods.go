package fakeagent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coder/acp-go-sdk"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// asked are the parameters that the polite answers look at.
type asked struct {
	CWD       string         `json:"cwd"`
	SessionID string         `json:"sessionId"`
	ModeID    string         `json:"modeId"`
	ConfigID  string         `json:"configId"`
	Value     jsontext.Value `json:"value"`
	MethodID  string         `json:"methodId"`
}

// polite is the answer of a well-behaved agent. It also does what the request
// asks for, and sets the run's session and folder.
func (s *serving) polite(r *run) (jsontext.Value, *acp.RequestError) {
	var p asked
	if err := json.Unmarshal(r.call.Params, &p); err != nil && len(r.call.Params) > 0 {
		return nil, acp.NewInvalidParams(err.Error())
	}
	method := r.call.Method
	if !s.agent.Script.offers(method) {
		return nil, acp.NewMethodNotFound(method)
	}
	switch method {
	case acp.AgentMethodInitialize:
		return s.agent.Script.hello(), nil
	case acp.AgentMethodAuthenticate:
		return s.memory.sessions.signIn(s.agent.Script, p.MethodID)
	case acp.AgentMethodSessionNew, acp.AgentMethodSessionLoad, acp.AgentMethodSessionResume, acp.AgentMethodSessionFork:
		return s.openSession(r, p)
	case acp.AgentMethodSessionList:
		return s.memory.sessions.listed(p.CWD), nil
	case acp.AgentMethodSessionSetMode:
		return s.setMode(p)
	case acp.AgentMethodSessionSetConfigOption:
		return s.memory.sessions.setOption(p)
	default:
		return jsontext.Value(`{}`), nil
	}
}

// offers says whether the script's capabilities hold a method.
func (s *Script) offers(method string) bool {
	var caps struct {
		Load    bool                      `json:"loadSession"`
		Session map[string]jsontext.Value `json:"sessionCapabilities"`
		Auth    map[string]jsontext.Value `json:"auth"`
	}
	json.Unmarshal(s.Capabilities, &caps) // absent: nothing offered
	has := func(m map[string]jsontext.Value, name string) bool { _, ok := m[name]; return ok }
	switch method {
	case acp.AgentMethodInitialize, acp.AgentMethodAuthenticate, acp.AgentMethodSessionNew, acp.AgentMethodSessionCancel:
		return true
	case acp.AgentMethodSessionLoad:
		return caps.Load
	case acp.AgentMethodSessionResume, acp.AgentMethodSessionFork, acp.AgentMethodSessionList, acp.AgentMethodSessionClose, "session/delete":
		return has(caps.Session, strings.TrimPrefix(method, "session/"))
	case acp.AgentMethodSessionSetMode:
		return len(s.Modes) > 0
	case acp.AgentMethodSessionSetModel:
		return len(s.Models) > 0
	case acp.AgentMethodSessionSetConfigOption:
		return len(s.ConfigOptions) > 0
	case acp.AgentMethodLogout:
		return has(caps.Auth, "logout")
	default:
		return false
	}
}

// object is a JSON object of the members that are there.
func object(members ...any) jsontext.Value {
	out := []byte{'{'}
	for i := 0; i < len(members); i += 2 {
		value, _ := members[i+1].(jsontext.Value)
		if len(value) == 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, "%q:%s", members[i], value)
	}
	return append(out, '}')
}

// quoted is a JSON string.
func quoted(s string) jsontext.Value {
	out, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		return jsontext.Value(`""`) // cannot be: the text is valid UTF-8
	}
	return out
}

// or is v, or the standard value where the script has none.
func or(v jsontext.Value, standard string) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value(standard)
	}
	return v
}

// hello is the initialize answer.
func (s *Script) hello() jsontext.Value {
	return object(
		"protocolVersion", or(s.ProtocolVersion, "1"),
		"agentCapabilities", or(s.Capabilities, "{}"),
		"agentInfo", or(s.Agent, `{"name":"fake-agent","version":"1"}`),
		"authMethods", or(s.AuthMethods, "[]"))
}

func (s *sessions) signIn(script *Script, method string) (jsontext.Value, *acp.RequestError) {
	var methods []struct {
		ID string `json:"id"`
	}
	json.Unmarshal(script.AuthMethods, &methods) // absent: none
	for _, m := range methods {
		if m.ID == method {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.signed = true
			return jsontext.Value(`{}`), nil
		}
	}
	return nil, acp.NewInvalidParams("no such sign-in method: " + method)
}

// openSession answers session/new, load, resume and fork.
func (s *serving) openSession(r *run, p asked) (jsontext.Value, *acp.RequestError) {
	script, list := s.agent.Script, &s.memory.sessions
	list.mu.Lock()
	locked := script.AuthRequired && !list.signed
	list.mu.Unlock()
	if locked {
		return nil, &acp.RequestError{Code: -32000, Message: "Authentication required"}
	}
	id := p.SessionID
	isNew := r.call.Method == acp.AgentMethodSessionNew || r.call.Method == acp.AgentMethodSessionFork
	if isNew {
		id = ""
	}
	r.scope.session, r.scope.cwd = list.open(script, id, p.CWD), p.CWD
	members := []any{"modes", script.Modes, "models", script.Models, "configOptions", script.ConfigOptions}
	if isNew {
		members = append([]any{"sessionId", quoted(r.scope.session)}, members...)
	}
	return object(members...), nil
}

// listed answers session/list; an empty folder lists all.
func (s *sessions) listed(cwd string) jsontext.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, one := range s.list {
		if cwd == "" || one.cwd == cwd {
			all = append(all, string(object("sessionId", quoted(one.id), "cwd", quoted(one.cwd))))
		}
	}
	return jsontext.Value(`{"sessions":[` + strings.Join(all, ",") + `]}`)
}

// setMode changes the mode and announces it before the answer.
func (s *serving) setMode(p asked) (jsontext.Value, *acp.RequestError) {
	var modes struct {
		Available []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
	}
	json.Unmarshal(s.agent.Script.Modes, &modes) // offers has seen it
	known := slices.ContainsFunc(modes.Available, func(m struct {
		ID string `json:"id"`
	}) bool {
		return m.ID == p.ModeID
	})
	list := &s.memory.sessions
	list.mu.Lock()
	one, ok := list.find(p.SessionID)
	if ok && known {
		one.mode = p.ModeID
	}
	list.mu.Unlock()
	if !ok || !known {
		return nil, acp.NewInvalidParams("no such session or mode: " + p.ModeID)
	}
	s.update(p.SessionID, object("sessionUpdate", quoted("current_mode_update"), "currentModeId", quoted(p.ModeID)))
	return jsontext.Value(`{}`), nil
}

// setOption changes a config option; the answer carries them all.
func (s *sessions) setOption(p asked) (jsontext.Value, *acp.RequestError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.find(p.SessionID)
	if !ok {
		return nil, acp.NewInvalidParams("no such session: " + p.SessionID)
	}
	for _, option := range one.options {
		o, ok := option.(map[string]any)
		if !ok || o["id"] != p.ConfigID {
			continue
		}
		var value any
		if err := json.Unmarshal(p.Value, &value); err != nil {
			return nil, acp.NewInvalidParams(err.Error())
		}
		o["currentValue"] = value
		all, err := json.Marshal(one.options, json.Deterministic(true))
		if err != nil {
			return nil, acp.NewInternalError(err.Error())
		}
		return object("configOptions", jsontext.Value(all)), nil
	}
	return nil, acp.NewInvalidParams("no such option: " + p.ConfigID)
}
