package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
	"sallyport/bridge/quirk"
	"sallyport/bridge/rpc"
)

// ownMode is what is known of the mode that the agent has for itself. An agent that
// switches itself to one in which it asks less is put back at once, and stays so
// unless the user lets it.
type ownMode struct {
	said    string          // as far as it was said
	agreed  string          // the last that needs nobody's leave: offered, set from here, or one in which it asks no less
	picked  string          // what the user's answer to a plan of this turn leads to
	settled map[string]bool // modes that the user was asked about: whether they let the agent
	back    putBack
}

// putBack is how an agent that switched itself is being put back.
type putBack struct {
	flying bool // the agent was told, and has not answered
	again  bool // it went back and switched itself again before it answered
	times  int  // in this turn
	asked  bool // the user was asked in this turn
}

// Bounds of a struggle with an agent.
const (
	maxPutBack = 5  // times in one turn, before it is cancelled
	maxSettled = 32 // modes that are remembered as the user settled them
)

// asksLess reports whether the agent asks for less in a mode of its own than in
// those that its manifest maps ours to. Where it maps them, a mode that is not
// known may be any; where it does not, there is only the name to go by.
func (s *session) asksLess(mode string) bool {
	if mode == "" {
		return false
	}
	if quirk.Loosens(s.harness.ID, mode) {
		return true
	}
	switches := &s.harness.ACP.Switches
	asks := switches.Modes[string(permit.Default)]
	return asks != "" && !slices.Contains([]string{asks, string(permit.PlanMode), switches.Modes[string(permit.PlanMode)], switches.ReadOnlyMode}, mode)
}

// looseLocked is the mode in which the agent asks less and that nobody agreed to,
// "" when it is in no such.
func (s *session) looseLocked() string {
	if own := &s.state.memory.own; own.said != own.agreed && s.asksLess(own.said) {
		return own.said
	}
	return ""
}

// modeChanged takes in the agent's word that its mode is another now, on the read
// loop. One in which it asks less, and that nobody here set, is put back.
func (s *session) modeChanged(a *agent, mode string) {
	mode = clip(mode, maxRecorded)
	back, alarm := s.saysMode(mode)
	if !alarm {
		return
	}
	s.recordAlarm(fmt.Sprintf("the agent switched itself to mode %q, in which it asks less", mode))
	s.state.mu.Lock()
	own := &s.state.memory.own
	own.back.times++
	over, flying := own.back.times > maxPutBack, own.back.flying
	own.back.again = own.back.again || flying && !over
	own.back.flying = flying || !over
	s.state.mu.Unlock()
	switch {
	case over:
		s.givesUp(mode)
	case !flying:
		s.sendBack(a, mode, back)
	}
}

// saysMode notes the agent's word on its mode; back is the mode to put it back to
// when alarm is set.
func (s *session) saysMode(mode string) (back string, alarm bool) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	own := &s.state.memory.own
	if mode == "" || mode == own.said {
		return "", false
	}
	own.said = mode
	ours := s.harness.ACP.Switches.Modes[string(s.state.mode)]
	if mode == ours || mode == own.picked || own.settled[mode] || !s.asksLess(mode) {
		own.agreed = mode
	}
	if mode == own.agreed {
		return "", false
	}
	return own.backLocked(ours), true
}

// backLocked is the mode to which the agent is put back.
func (o *ownMode) backLocked(ours string) string {
	if o.agreed == "" { // it never said one
		o.agreed = ours
	}
	return o.agreed
}

// sendBack tells the agent to go back, on the read loop; wasPutBack gets its answer.
func (s *session) sendBack(a *agent, mode, back string) {
	method, params, err := s.modeCall(a, back)
	if err != nil {
		s.stays(mode, err)
		return
	}
	t := s.beginWork() // so that its receipt says what came of it
	answered := make(chan struct{})
	giveUp := a.conn.Go(method, params, func(result []byte, err error) {
		defer close(answered)
		if t != nil {
			defer t.work.Done()
		}
		if s.wasPutBack(a, mode, back, result, err) && t != nil && !t.cancelled() {
			s.askAfter(a, t, mode, back)
		}
	})
	limit := s.config.Timeouts.Start()
	a.wg.Go(func() {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		select {
		case <-answered:
		case <-timer.C:
			giveUp()
		}
	})
}

// wasPutBack takes the agent's answer, on the read loop: what it says of its mode
// after that is news. It reports whether the agent is where it was put.
func (s *session) wasPutBack(a *agent, mode, back string, result []byte, err error) bool {
	s.state.mu.Lock()
	own := &s.state.memory.own
	if err != nil && own.said != back { // it may say that it went back, and fail with something else
		s.state.mu.Unlock()
		if !errors.Is(err, rpc.ErrClosed) {
			s.stays(mode, err)
		}
		return false
	}
	again := own.back.again && own.said != own.agreed
	if !again && own.said == mode && own.agreed == back { // else somebody set another meanwhile
		own.said = back
	}
	own.back.again, own.back.flying = false, again
	said := own.said
	s.state.mu.Unlock()
	if again {
		s.sendBack(a, said, back)
		return false
	}
	s.recordAlarm(fmt.Sprintf("the agent was put back to mode %q", back))
	s.tellMode(a, back, result)
	s.caused(Notice{
		Kind: NoticePosture, Level: Warning,
		Text: fmt.Sprintf("%s switched itself to mode %q, in which it asks less, and was put back to %q", s.harness.Name, mode, back),
		Hint: "it stays there unless you let it switch",
	})
	return true
}

// tellMode shows the mode that the agent was put back to: it said the other, and of
// a mode that it is told many say nothing.
func (s *session) tellMode(a *agent, back string, result []byte) {
	kind, raw := "current_mode_update", append(rpc.AppendQuote([]byte(`{"sessionUpdate":"current_mode_update","currentModeId":`), back), '}')
	if list, ok := rpc.Member(result, "configOptions"); ok && len(list) > 0 && list[0] == '[' {
		kind, raw = "config_option_update", append(append([]byte(`{"sessionUpdate":"config_option_update","configOptions":`), list...), '}')
	}
	if s.show(a.span.ctx) != nil {
		return
	}
	defer s.shown()
	s.pass(a, s.moment(), kind, raw, Original{})
}

// stays notes that the agent is in a mode in which it asks less, and that nobody
// agreed to: it did not go back.
func (s *session) stays(mode string, err error) {
	s.state.mu.Lock()
	s.state.memory.own.back.flying, s.state.memory.own.back.again = false, false
	now := s.postureLocked()
	s.state.mu.Unlock()
	s.recordAlarm(fmt.Sprintf("the agent could not be put back from mode %q", mode))
	s.recordPosture(now)
	s.caused(Notice{
		Kind: NoticePosture, Level: Problem,
		Text: fmt.Sprintf("%s switched itself to mode %q, in which it asks less, and could not be put back: %s", s.harness.Name, mode, clip(err.Error(), maxRecorded)),
		Hint: "cancel its turn, or close the session, unless you trust it with this",
	})
}

// givesUp ends the turn of an agent that does not stay where it is put. It is put
// back once more before the next prompt.
func (s *session) givesUp(mode string) {
	s.state.mu.Lock()
	first := s.state.memory.own.back.times == maxPutBack+1
	now := s.postureLocked()
	turn := s.state.turns.runningLocked()
	if first && turn != nil {
		turn.cancel()
	}
	s.state.mu.Unlock()
	if !first {
		return
	}
	s.recordAlarm("the agent switched itself again and again, and was not put back any more")
	s.recordPosture(now)
	n := Notice{
		Kind: NoticePosture, Level: Problem,
		Text: fmt.Sprintf("%s switched itself to mode %q, in which it asks less, after it was put back %d times", s.harness.Name, mode, maxPutBack),
		Hint: "close the session, unless you trust it with this",
	}
	if turn != nil {
		n.Text += ": its turn is cancelled"
	}
	s.notice(n)
}

// askAfter asks the user, while the turn runs, whether the agent may have the mode
// that it was put back from: once a turn, and for each mode until it is settled.
// The caller holds the turn's end up.
func (s *session) askAfter(a *agent, t *turn, mode, back string) {
	s.state.mu.Lock()
	own := &s.state.memory.own
	_, settled := own.settled[mode]
	ask := !settled && !own.back.asked && own.said == back
	own.back.asked = own.back.asked || ask
	s.state.mu.Unlock()
	if !ask {
		return
	}
	card := s.cards.Switch(t.id, s.harness.Name, mode, back)
	t.work.Add(1)
	a.wg.Go(func() {
		defer t.work.Done()
		switch o := s.decide(a.span.ctx, t, card); {
		case o.Allowed:
			s.settleMode(mode, true)
			s.letSwitch(a, mode)
		case o.By == permit.ByUser:
			s.settleMode(mode, false)
		}
	})
}

func (s *session) settleMode(mode string, let bool) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	own := &s.state.memory.own
	if own.settled == nil {
		own.settled = make(map[string]bool)
	}
	if len(own.settled) < maxSettled {
		own.settled[mode] = let
	}
}

// letSwitch brings the agent into the mode that it had picked for itself, as the
// user has allowed.
func (s *session) letSwitch(a *agent, mode string) {
	ctx, cancel := context.WithTimeout(a.span.ctx, s.config.Timeouts.Start())
	defer cancel()
	if s.begin(ctx) != nil {
		return
	}
	defer s.end()
	s.recordAlarm(fmt.Sprintf("the user let the agent switch to mode %q", mode))
	if err := s.setOwnMode(ctx, a, mode); err != nil && a.span.ctx.Err() == nil {
		s.notice(Notice{Kind: NoticePosture, Level: Warning, Text: err.Error()})
	}
}

// restoreMode puts an agent back before a turn that is in a mode nobody agreed to:
// it switched when no turn ran, or did not take it before.
func (s *session) restoreMode(ctx context.Context, a *agent) {
	s.state.mu.Lock()
	own := &s.state.memory.own
	own.picked, own.back.times, own.back.asked = "", 0, false
	mode, back := s.looseLocked(), own.agreed
	s.state.mu.Unlock()
	if mode == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeouts.Start())
	defer cancel()
	if s.begin(ctx) != nil {
		return
	}
	defer s.end()
	if err := s.setOwnMode(ctx, a, back); err != nil {
		s.stays(mode, err)
	}
}

// pickedMode notes what mode the user's answer to a plan leads to, before the agent
// hears it: an agent that goes there does not switch itself. A plan that the user
// approved ends the session's plan mode.
func (s *session) pickedMode(c *permit.Card, o permit.Outcome) {
	if c.Request.Kind != permit.Plan || o.By != permit.ByUser || !o.Allowed {
		return
	}
	picked := quirk.PickedMode(s.harness.ID, o.Option)
	s.state.mu.Lock()
	s.state.memory.own.picked = picked
	planned := s.state.mode == permit.PlanMode
	s.state.mu.Unlock()
	if planned {
		s.leavePlan(picked)
	}
}

// leavePlan brings the session into the mode that the user picked with a plan,
// where it is one of ours; else they are asked as by default.
func (s *session) leavePlan(picked string) {
	mode := permit.Default
	switch m := permit.Mode(picked); m {
	case permit.AcceptEdits, permit.Bypass:
		mode = m
	case permit.Default:
	default:
		if m, ok := s.ourMode(picked); ok && m != permit.PlanMode {
			mode = m
		}
	}
	s.setMode(mode)
	s.notice(Notice{Kind: NoticePosture, Level: Plain, Text: fmt.Sprintf("the mode is %s now, as you approved the plan", mode)})
}

// modeCall is the request that brings the agent into one of its own modes.
func (s *session) modeCall(a *agent, want string) (method string, params jsontext.Value, err error) {
	o, option := s.offered(), s.harness.Own.ModeOption
	for _, m := range o.Modes.Available {
		if m.ID == want && option == "" {
			return "session/set_mode", modeParams(s.agentID(), "modeId", want), nil
		}
	}
	for _, c := range o.Options {
		if isModeOption(c.ID, c.Category, option) {
			return "session/set_config_option", modeParams(s.agentID(), "configId", c.ID, "value", want), nil
		}
	}
	return "", nil, &noModeError{a.harness.Name, want}
}

// noModeError says that an agent offers no mode of that name.
type noModeError struct{ agent, mode string }

func (e *noModeError) Error() string {
	return fmt.Sprintf("%s does not offer its mode %q", e.agent, e.mode)
}

// modeParams are params with a session's id and members of text.
func modeParams(id string, members ...string) jsontext.Value {
	raw := rpc.AppendQuote([]byte(`{"sessionId":`), id)
	for i := 0; i < len(members); i += 2 {
		raw = rpc.AppendQuote(append(raw, ','), members[i])
		raw = rpc.AppendQuote(append(raw, ':'), members[i+1])
	}
	return append(raw, '}')
}
