package bridge

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
)

// offer is what an agent's answer to session/new says of modes (ACP v1, Session
// Modes and Session Config Options).
type offer struct {
	Modes struct {
		Current   string `json:"currentModeId"`
		Available []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
	} `json:"modes"`
	Options []struct {
		ID       string         `json:"id"`
		Category string         `json:"category"`
		Current  jsontext.Value `json:"currentValue"`
		Options  jsontext.Value `json:"options"`
	} `json:"configOptions"`
}

func (s *session) offered() offer {
	s.state.mu.Lock()
	raw := s.state.offer
	s.state.mu.Unlock()
	var o offer
	_ = rpc.Unmarshal(raw, &o) // an agent that offers nothing readable offers nothing
	return o
}

// SetMode changes the session's permission mode, ours and the agent's. Ours
// changes also when the agent has no such mode: the rules here hold it.
func (b *Bridge) SetMode(ctx context.Context, id string, mode permit.Mode) (Info, error) {
	s, err := b.session(id)
	if err != nil {
		return Info{}, err
	}
	known := slices.ContainsFunc(s.info().Modes, func(m ModeInfo) bool { return m.ID == mode })
	if !known {
		return Info{}, &UnsupportedError{Agent: s.spec.harness.Name, What: fmt.Sprintf("mode %q", mode)}
	}
	s.touch()
	before := s.currentMode()
	s.setMode(mode)
	if a := s.current(); a != nil {
		if err := s.setAgentMode(ctx, a, mode); err != nil {
			s.setMode(before)
			return Info{}, err
		}
	}
	return s.info(), nil
}

func (s *session) setMode(mode permit.Mode) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.mode = mode
}

// setAgentMode brings the agent into the mode that the manifest maps ours to.
func (s *session) setAgentMode(ctx context.Context, a *agent, mode permit.Mode) error {
	want, ok := s.spec.harness.ACP.Switches.Modes[string(mode)]
	if !ok {
		return nil
	}
	o := s.offered()
	option := s.spec.harness.Own.ModeOption
	for _, m := range o.Modes.Available {
		if m.ID == want && option == "" {
			if o.Modes.Current == want && !s.modeKnownOther(want) {
				return nil
			}
			return s.switchMode(ctx, a, "session/set_mode", map[string]any{"sessionId": s.agentID(), "modeId": want}, want)
		}
	}
	for _, c := range o.Options {
		if c.ID != option && (option != "" || c.Category != "mode") {
			continue
		}
		if current, _ := rpc.Unquote(c.Current); current == want && !s.modeKnownOther(want) {
			return nil
		}
		params := map[string]any{"sessionId": s.agentID(), "configId": c.ID, "value": want}
		return s.switchMode(ctx, a, "session/set_config_option", params, want)
	}
	return fmt.Errorf("%s does not offer its mode %q, which mode %s needs: what it asks is up to its own settings", a.harness.Name, want, mode)
}

// modeKnownOther reports whether the agent said since that its mode is another.
func (s *session) modeKnownOther(want string) bool {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	now := s.state.memory.agentMode
	return now != "" && now != want
}

func (s *session) switchMode(ctx context.Context, a *agent, method string, params map[string]any, want string) error {
	s.state.mu.Lock()
	was := s.state.memory.agentMode
	s.state.memory.agentMode = want // what it announces on the way is ours
	s.state.mu.Unlock()
	_, err := a.call(ctx, method, params)
	if err != nil {
		s.state.mu.Lock()
		s.state.memory.agentMode = was
		s.state.mu.Unlock()
		return fmt.Errorf("setting the agent's mode %q: %w", want, err)
	}
	return nil
}

// modeOption is the value of the mode among configOptions, "" when there is none.
func modeOption(update []byte) string {
	var o offer
	if err := rpc.Unmarshal(update, &o); err != nil {
		return ""
	}
	for _, c := range o.Options {
		if c.Category == "mode" || c.ID == "mode" {
			mode, _ := rpc.Unquote(c.Current)
			return mode
		}
	}
	return ""
}

// SetConfigOption sets one of the agent's options and returns its answer, the
// whole list of options, unchanged.
func (b *Bridge) SetConfigOption(ctx context.Context, id, option string, value jsontext.Value) (jsontext.Value, error) {
	s, a, err := b.opened(ctx, id)
	if err != nil {
		return nil, err
	}
	params := map[string]any{"sessionId": s.agentID(), "configId": option, "value": value}
	if k := value.Kind(); k == 't' || k == 'f' {
		params["type"] = "boolean"
	}
	return a.call(ctx, "session/set_config_option", params)
}

// SetModel sets the agent's model: by the config option that the manifest
// names, else by session/set_model.
func (b *Bridge) SetModel(ctx context.Context, id, model string) error {
	s, a, err := b.opened(ctx, id)
	if err != nil {
		return err
	}
	method, params := "session/set_model", map[string]any{"sessionId": s.agentID(), "modelId": model}
	if option := s.spec.harness.ACP.Switches.ModelOption; option != "" {
		method, params = "session/set_config_option", map[string]any{"sessionId": s.agentID(), "configId": option, "value": model}
	}
	_, err = a.call(ctx, method, params)
	return err
}

// opened returns a session and its agent, opened again when it was closed.
func (b *Bridge) opened(ctx context.Context, id string) (*session, *agent, error) {
	s, err := b.session(id)
	if err != nil {
		return nil, nil, err
	}
	s.touch()
	a, err := s.open(ctx)
	return s, a, err
}
