package bridge

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
	"sallyport/plugins/harness"
	"sallyport/workspace"
	"sallyport/workspace/config"
	"sallyport/workspace/fence"
)

// session is one conversation. It outlives its agent: one that was closed to
// make room, or died, is opened again by the next prompt.
type session struct {
	id     string
	made   time.Time
	b      *Bridge
	spec   spec
	ground ground
	cards  permit.Reader
	flow   flow
	state  state
}

// spec is what a session was asked to be. It does not change.
type spec struct {
	harness *harness.Harness
	folder  string
	roots   []string
	mcp     jsontext.Value // the mcpServers array, never empty
	config  *config.Config
}

// ground is what a session stands on: its files, fences and permissions.
type ground struct {
	policy *fence.Policy
	files  *workspace.Files
	engine *permit.Engine
}

// state is what changes in a session.
type state struct {
	mu      sync.Mutex
	agent   *agent // nil while closed
	agentID string // the agent's own session id
	offer   jsontext.Value
	mode    permit.Mode
	turns   turns
	memory  memory
	used    time.Time
}

// memory is what a session remembers between turns.
type memory struct {
	notes     []string      // refusals to tell the agent before the next prompt
	unsaved   UnsavedChoice // the user's answer, asked once a session
	direct    bool          // it was seen that the agent writes past us
	loading   bool          // session/load is telling the history
	replayed  int           // updates of the history
	agentMode string        // the agent's own mode, as far as it was said
}

// newID returns an id that nobody guesses or repeats.
func newID(prefix string) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return prefix + hex.EncodeToString(b[:])
}

// newSession makes a session with its fences, not yet known to an agent.
func (b *Bridge) newSession(h *harness.Harness, folder string, roots []string, mode permit.Mode) (*session, error) {
	c, err := b.Home.Config(folder)
	if err != nil {
		return nil, err
	}
	policy, err := fence.New(folder, fence.Rules{
		Region: c.Fences.Region, Roots: roots, Reserved: c.Fences.Reserved, CI: c.Fences.CI,
		Unreadable: c.Fences.UnreadableOf(fence.DefaultUnreadable()),
		Private:    c.Fences.Private, Own: b.Home.Own, AgentConfig: agentConfig(h),
	})
	if err != nil {
		return nil, err
	}
	if mode == "" {
		mode = permit.Mode(c.Mode)
	}
	s := &session{id: newID("s-"), made: time.Now(), b: b}
	s.spec = spec{harness: h, folder: policy.Folder(), roots: roots, mcp: jsontext.Value("[]"), config: c}
	s.ground.policy = policy
	s.ground.files = &workspace.Files{
		Editor: b.Editor, Policy: policy, SaveAfter: savePolicy(c.SaveAfterWrite), Record: s.record,
	}
	s.ground.engine = &permit.Engine{
		Mode: s.currentMode, Policy: permit.Policy(c.Permissions.Policy), Log: b.Log,
		Place: permit.Place{Folder: policy.Folder(), CheckRead: policy.CheckRead, CheckWrite: policy.CheckWrite, InRegion: policy.InRegion},
		Ask:   b.Display.Ask,
	}
	s.cards.Session, s.cards.Tools = s.id, h.ACP.Tools.Names
	s.state.mode = mode
	s.state.used = time.Now()
	return s, nil
}

func (s *session) currentMode() permit.Mode {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.mode
}

// current is the agent that serves the session now, nil when it is closed.
func (s *session) current() *agent {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.agent
}

func (s *session) agentID() string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.agentID
}

// bound notes the agent that serves the session from now on.
func (s *session) bound(a *agent, id string) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.agent, s.state.agentID = a, id
}

// idleSince says when the session was used last, and whether its agent could
// be ended now.
func (s *session) idleSince() (used time.Time, idle bool) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.used, s.state.agent != nil && s.state.turns.now == nil
}

// rest ends the agent of an idle session; the session stays. used is when it
// was found idle: one that was used since is left alone.
func (s *session) rest(used time.Time) {
	s.state.mu.Lock()
	a := s.state.agent
	if a == nil || s.state.turns.now != nil || !s.state.used.Equal(used) {
		s.state.mu.Unlock()
		return
	}
	s.state.agent = nil
	s.state.mu.Unlock()
	a.session.Store(nil)
	a.stop()
}

// touch notes that the session is in use.
func (s *session) touch() {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.used = time.Now()
}

// agentEnded is called when the agent's connection has ended and its tree is
// gone. A running turn ends by its own call failing.
func (s *session) agentEnded(a *agent) {
	s.state.mu.Lock()
	mine := s.state.agent == a
	if mine {
		s.state.agent = nil
	}
	idle := s.state.turns.now == nil
	s.state.mu.Unlock()
	if mine && idle && s.b.life.ctx.Err() == nil {
		s.notice(Notice{
			Kind: NoticeGone, Level: Warning, Text: a.goneError().Error(),
			Hint: "the next prompt starts it again",
		})
	}
}

// notice tells the user something about this session.
func (s *session) notice(n Notice) {
	n.Session = s.id
	if n.Turn == "" {
		n.Turn = s.turnID()
	}
	s.b.Display.Notice(n)
}

// record passes a mediated access on to whoever keeps the record.
func (s *session) record(a workspace.Access) {
	if s.b.Record != nil {
		s.b.Record(s.id, s.turnID(), a)
	}
}

// info is the session as a client sees it.
func (s *session) info() Info {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	i := Info{
		ID: s.id, AgentID: s.state.agentID, Agent: s.spec.harness.ID, Folder: s.spec.folder,
		Mode: s.state.mode, AgentOffer: s.state.offer, Busy: s.state.turns.now != nil,
		Posture: s.postureLocked(),
	}
	for _, m := range s.spec.harness.Caps.Modes {
		i.Modes = append(i.Modes, ModeInfo{ID: permit.Mode(m.ID), Meaning: m.Meaning.In("en")})
	}
	if s.state.agent != nil {
		i.Capabilities = s.state.agent.hello.capabilities()
	}
	return i
}

func savePolicy(p config.SaveAfterWrite) workspace.SavePolicy {
	switch p {
	case config.Always:
		return workspace.Always
	case config.Never:
		return workspace.Never
	default:
		return workspace.WhenClean
	}
}
