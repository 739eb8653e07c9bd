package bridge

import (
	"cmp"
	"context"
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
	spec
	b      *Bridge
	ground ground
	cards  permit.Reader
	old    permit.Calls // of a history that is being told
	flow   flow
	// change is a one-slot channel. Who changes which agent serves the session,
	// or the agent's mode, has the slot.
	change chan struct{}
	state  state
}

// spec is what a session was asked to be. It does not change.
type spec struct {
	id      string
	made    time.Time
	harness *harness.Harness
	folder  string
	roots   []string
	places  []string       // folder and roots as they really were when the session began
	mcp     jsontext.Value // the mcpServers array, never empty
	wire    *Wire          // of a client that speaks ACP; nil for others
	config  *config.Config
}

// ground is what a session stands on: its files, fences and permissions.
type ground struct {
	policy *fence.Policy
	files  *workspace.Files
	engine *permit.Engine
	taint  permit.Taint
	rules  *sessionRules
	slots  slots
}

// slots bound what is done at once, whatever the agent asks for: there is a slot
// for each question in front of the user, and for each read and each write that
// holds a file's text. Who waits for a question may hold a write's slot, and
// nobody the other way round.
type slots struct{ asking, reading, writing chan struct{} }

const (
	maxQuestions = 16
	maxFiles     = 8
)

func newSlots() slots {
	return slots{make(chan struct{}, maxQuestions), make(chan struct{}, maxFiles), make(chan struct{}, maxFiles)}
}

// inSlot runs f when there is a slot for it.
func inSlot(ctx context.Context, slot chan struct{}, f func() error) error {
	select {
	case slot <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-slot }()
	return f()
}

// state is what changes in a session.
type state struct {
	mu      sync.Mutex
	agent   *agent // nil while closed
	agentID string // the agent's own session id
	offer   jsontext.Value
	mode    permit.Mode
	turns   sequence
	memory  memory
	use     use
}

// use is when a session was used last, and whether it is now.
type use struct {
	at     time.Time
	calls  int  // calls of the agent under way, besides its turn
	closed bool // for good
}

// memory is what a session remembers between turns.
type memory struct {
	notes    notes
	unsaved  UnsavedChoice // the user's answer, asked once a session
	past     past
	history  history
	own      ownMode
	copied   copied
	told     told
	answered bool    // a client that speaks ACP has its answer
	kernel   *fenced // of the agent that served last
}

// past is what was seen of the agent working past us.
type past struct{ reads, writes bool }

// newID returns an id that nobody guesses or repeats.
func newID(prefix string) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return prefix + hex.EncodeToString(b[:])
}

// settled is a folder as sessions have it: absolute, every link followed. What
// cannot be looked at stays as it is; the session in it will tell why.
func settled(folder string) string {
	if p, err := fence.New(folder, fence.Rules{}); err == nil {
		return p.Folder()
	}
	return folder
}

// newSession makes a session with its fences, not yet known to an agent.
func (b *Bridge) newSession(h *harness.Harness, n NewSession) (*session, error) {
	c, err := b.Home.Config(n.Folder)
	if err != nil {
		return nil, err
	}
	policy, err := b.fences(h, n.Folder, n.Roots, c)
	if err != nil {
		return nil, err
	}
	s := &session{
		b: b, change: make(chan struct{}, 1), flow: flow{slot: make(chan struct{}, 1)},
		spec: spec{
			id: newID("s-"), made: time.Now(), harness: h, folder: policy.Folder(), roots: n.Roots,
			places: places(policy.Folder(), n.Roots), mcp: n.MCP, wire: n.Wire, config: c,
		},
	}
	if len(s.mcp) == 0 {
		s.mcp = jsontext.Value("[]")
	}
	s.ground.policy, s.ground.slots = policy, newSlots()
	s.ground.files = &workspace.Files{
		Editor: b.editorOf(s.id), Policy: policy, SaveAfter: savePolicy(c.SaveAfterWrite), Record: s.record,
	}
	s.ground.engine = &permit.Engine{
		Mode: s.currentMode, Policy: permit.Policy(c.Permissions.Policy), Log: b.Log,
		Place: permit.Place{Folder: policy.Folder(), CheckRead: policy.CheckRead, CheckWrite: policy.CheckWrite, InRegion: policy.InRegion, Inside: s.inside},
		Ask:   s.question,
	}
	s.ground.engine.Gate, s.ground.engine.Uncovered = s.ground.taint.Gate, s.notCovered
	taint := &s.ground.taint
	taint.Place, taint.Tools, taint.New = s.ground.engine.Place, h.ACP.Tools.Names, s.tainted
	taint.Untrusted = untrusted(c.Untrusted, policy.Folder())
	if s.ground.rules, err = b.sessionRules(c.Permissions, policy.Folder(), h); err != nil {
		return nil, err
	}
	s.ground.engine.Judges = []permit.Judge{s.ground.rules.judge}
	s.ground.engine.Deciders, s.ground.engine.Show = s.deciders, s.early
	s.cards.Session, s.cards.Tools = s.id, h.ACP.Tools.Names
	s.state.mode = cmp.Or(n.Mode, permit.Mode(c.Mode))
	s.state.use.at = time.Now()
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

// begin takes the slot of change; end gives it back.
func (s *session) begin(ctx context.Context) error {
	select {
	case s.change <- struct{}{}:
		return nil
	default:
	}
	select {
	case s.change <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *session) end() { <-s.change }

// bound notes the agent that serves the session from now on. A session that was
// closed takes none.
func (s *session) bound(a *agent, id string) error {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	if s.state.use.closed {
		return &UnknownSessionError{Session: s.id}
	}
	s.state.agent, s.state.agentID, s.state.memory.kernel = a, id, a.kernel
	return nil
}

// detach takes an agent off its session.
func (s *session) detach(a *agent) {
	s.state.mu.Lock()
	if s.state.agent == a {
		s.state.agent = nil
	}
	s.state.mu.Unlock()
	a.session.CompareAndSwap(s, nil)
}

// idleSince says when the session was used last, and whether its agent could
// be ended now.
func (s *session) idleSince() (used time.Time, idle bool) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.use.at, s.idleLocked()
}

func (s *session) idleLocked() bool {
	return s.state.agent != nil && s.state.turns.now == nil && s.state.turns.next == nil && s.state.use.calls == 0
}

// rest ends the agent of an idle session; the session stays, and a prompt that
// comes now waits until the agent's tree is gone. used is when it was found
// idle: one that was used since is left alone.
func (s *session) rest(used time.Time) {
	select {
	case s.change <- struct{}{}:
		defer s.end()
	default:
		return // it is being opened, so it is not idle
	}
	s.state.mu.Lock()
	a := s.state.agent
	if !s.idleLocked() || !s.state.use.at.Equal(used) {
		s.state.mu.Unlock()
		return
	}
	s.state.agent = nil
	s.state.mu.Unlock()
	a.session.CompareAndSwap(s, nil)
	a.stop()
}

// busy counts a call of the agent in, so that it is not ended meanwhile, and
// returns how to count it out.
func (s *session) busy() (done func()) {
	count := func(n int) {
		s.state.mu.Lock()
		defer s.state.mu.Unlock()
		s.state.use.calls += n
		s.state.use.at = time.Now()
	}
	count(1)
	return func() { count(-1) }
}

// close ends the session for good: it takes no agent and no turn any more.
func (s *session) close() {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.use.closed = true
	for _, t := range []*turn{s.state.turns.now, s.state.turns.next} {
		if t != nil {
			t.cancel()
		}
	}
}

// agentEnded is called when the agent's connection has ended and its tree is
// gone. A running turn, or call, ends by its own call failing.
func (s *session) agentEnded(a *agent) {
	s.state.mu.Lock()
	alone := s.state.agent == a && s.idleLocked()
	if s.state.agent == a {
		s.state.agent = nil
	}
	s.state.mu.Unlock()
	if alone && s.b.life.ctx.Err() == nil {
		s.notice(Notice{
			Kind: NoticeGone, Level: Warning, Text: a.goneError().Error(),
			Hint: "the next prompt starts it again",
		})
	}
}

// info is the session as a client sees it.
func (s *session) info() Info {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	i := Info{
		ID: s.id, AgentID: s.state.agentID, Agent: s.harness.ID, Folder: s.folder,
		Mode: s.state.mode, Busy: s.state.turns.now != nil || s.state.turns.next != nil,
	}
	i.AgentOffer, i.Posture, i.Taint = s.state.offer, s.shownPostureLocked(), s.ground.taint.Marks()
	for _, m := range s.harness.Caps.Modes {
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
