package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/plugins/harness"
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

// readOffer reads an offer. An agent that offers nothing readable offers nothing.
func readOffer(raw []byte) (o offer) {
	_ = rpc.Unmarshal(raw, &o)
	return o
}

// mode is the agent's own mode as its offer says it, "" when it does not. option
// is the id of the config option that is the mode, "" for any of that category.
func (o *offer) mode(option string) string {
	if option == "" && o.Modes.Current != "" {
		return o.Modes.Current
	}
	for _, c := range o.Options {
		if isModeOption(c.ID, c.Category, option) {
			mode, _ := rpc.Unquote(c.Current) // not a string: not a mode of ours
			return mode
		}
	}
	return ""
}

// isModeOption reports whether a config option is the agent's mode.
func isModeOption(id, category, option string) bool {
	if option != "" {
		return id == option
	}
	return category == "mode"
}

func (s *session) offered() offer {
	s.state.mu.Lock()
	raw := s.state.offer
	s.state.mu.Unlock()
	return readOffer(raw)
}

// SetMode changes the session's permission mode, ours and the agent's. Ours
// changes also when the agent has no such mode, or does not take it: the rules
// here hold it, and a notice says what is up to the agent. It changes nothing
// when ctx ends first.
func (b *Bridge) SetMode(ctx context.Context, id string, mode permit.Mode) (Info, error) {
	ctx, leave, err := b.enter(ctx)
	if err != nil {
		return Info{}, err
	}
	defer leave()
	s, err := b.session(id)
	if err != nil {
		return Info{}, err
	}
	known := slices.ContainsFunc(s.harness.Caps.Modes, func(m harness.Mode) bool { return m.ID == string(mode) })
	if !known {
		return Info{}, &UnsupportedError{Agent: s.harness.Name, What: fmt.Sprintf("mode %q", mode)}
	}
	defer s.busy()()
	if err := s.begin(ctx); err != nil {
		return Info{}, err
	}
	defer s.end()
	before := s.currentMode()
	s.setMode(mode)
	if a := s.current(); a != nil && !a.gone() {
		limited, cancel := context.WithTimeout(ctx, s.config.Timeouts.Start())
		defer cancel()
		if err := s.setAgentMode(limited, a, mode); err != nil {
			if ctx.Err() != nil {
				s.setMode(before)
				return Info{}, ctx.Err()
			}
			s.notice(Notice{Kind: NoticePosture, Level: Warning, Text: err.Error()})
		}
	}
	return s.info(), nil
}

func (s *session) setMode(mode permit.Mode) {
	s.state.mu.Lock()
	was := s.postureLocked()
	s.state.mode = mode
	now := s.postureLocked()
	s.state.mu.Unlock()
	if t := s.recording(); t != nil && was != now {
		t.record.posture(s.withChecks(now))
	}
}

// setAgentMode brings the agent into the mode that the manifest maps ours to. A
// manifest without a mapping leaves the agent as it is.
func (s *session) setAgentMode(ctx context.Context, a *agent, mode permit.Mode) error {
	want, ok := s.harness.ACP.Switches.Modes[string(mode)]
	if !ok || s.agentMode() == want {
		return nil
	}
	err := s.setOwnMode(ctx, a, want)
	var none *noModeError
	if errors.As(err, &none) {
		return fmt.Errorf("%w, which mode %s needs: what it asks is up to its own settings", err, mode)
	}
	return err
}

// setOwnMode brings the agent into one of its own modes, as somebody here wants it.
func (s *session) setOwnMode(ctx context.Context, a *agent, want string) error {
	method, params, err := s.modeCall(a, want)
	if err != nil {
		return err
	}
	undo := s.expectMode(want)
	if _, err := a.call(ctx, method, params); err != nil {
		undo()
		return fmt.Errorf("setting the agent's mode %q: %w", want, err)
	}
	return nil
}

// ourMode is the strictest of our modes that the harness maps to one of the agent's,
// or has its name and reads only.
func (s *session) ourMode(agentMode string) (permit.Mode, bool) {
	for _, ours := range []permit.Mode{permit.PlanMode, permit.Default, permit.AcceptEdits, permit.Bypass} {
		if theirs, ok := s.harness.ACP.Switches.Modes[string(ours)]; ok && theirs == agentMode && agentMode != "" {
			return ours, true
		}
	}
	return permit.PlanMode, agentMode == string(permit.PlanMode)
}

// agentMode is the agent's own mode, as far as it was said.
func (s *session) agentMode() string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.memory.own.said
}

// expectMode notes that the agent is being brought into a mode, so that its word
// of that is no news, and returns how to take that back.
func (s *session) expectMode(want string) (undo func()) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	own := &s.state.memory.own
	said, agreed := own.said, own.agreed
	own.said, own.agreed = want, want
	return func() {
		s.state.mu.Lock()
		defer s.state.mu.Unlock()
		if own.said == want && own.agreed == want {
			own.said, own.agreed = said, agreed
		}
	}
}

// modeOption is the value of the mode in a list of configOptions, "" when there
// is none. The list can be long (models) and is told again and again: it is
// scanned, not decoded.
func modeOption(list []byte, option string) (mode string) {
	permit.EachElement(list, func(item []byte) {
		id, _ := rpc.Member(item, "id")
		category, _ := rpc.Member(item, "category")
		name, _ := rpc.Unquote(id)
		kind, _ := rpc.Unquote(category)
		if mode == "" && isModeOption(name, kind, option) {
			value, _ := rpc.Member(item, "currentValue")
			mode, _ = rpc.Unquote(value)
		}
	})
	return mode
}

// SetConfigOption sets one of the agent's options and returns its answer, the
// whole list of options, unchanged.
func (b *Bridge) SetConfigOption(ctx context.Context, id, option string, value jsontext.Value) (answer jsontext.Value, err error) {
	err = b.opened(ctx, id, func(ctx context.Context, s *session, a *agent) error {
		params := map[string]any{"sessionId": s.agentID(), "configId": option, "value": value}
		if k := value.Kind(); k == 't' || k == 'f' {
			params["type"] = "boolean"
		}
		undo := s.expectOption(option, value)
		answer, err = a.call(ctx, "session/set_config_option", params)
		if err != nil {
			undo()
		}
		return err
	})
	return answer, err
}

// expectOption is expectMode where the option is the agent's mode: the user sets
// it, so the agent did not switch by itself.
func (s *session) expectOption(option string, value jsontext.Value) (undo func()) {
	for _, c := range s.offered().Options {
		if c.ID == option && isModeOption(c.ID, c.Category, s.harness.Own.ModeOption) {
			if want, err := rpc.Unquote(value); err == nil {
				return s.expectMode(want)
			}
		}
	}
	return func() {}
}

// SetModel sets the agent's model: by the config option that the manifest
// names, else by session/set_model.
func (b *Bridge) SetModel(ctx context.Context, id, model string) error {
	return b.opened(ctx, id, func(ctx context.Context, s *session, a *agent) error {
		method, params := "session/set_model", map[string]any{"sessionId": s.agentID(), "modelId": model}
		if option := s.harness.ACP.Switches.ModelOption; option != "" {
			method, params = "session/set_config_option", map[string]any{"sessionId": s.agentID(), "configId": option, "value": model}
		}
		_, err := a.call(ctx, method, params)
		return err
	})
}

// opened runs f with a session and its agent, opened again when it was closed,
// and keeps it from being ended meanwhile.
func (b *Bridge) opened(ctx context.Context, id string, f func(context.Context, *session, *agent) error) error {
	ctx, leave, err := b.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	s, err := b.session(id)
	if err != nil {
		return err
	}
	defer s.busy()()
	a, err := s.open(ctx)
	if err != nil {
		return err
	}
	return f(ctx, s, a)
}
