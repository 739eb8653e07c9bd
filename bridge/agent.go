package bridge

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/process"
	"sallyport/bridge/quirk"
	"sallyport/bridge/rpc"
	"sallyport/plugins/harness"
)

// stopGrace is how long an agent has to end by itself, once for the end of its
// input and once for the polite signal, before its tree is killed.
const stopGrace = 1500 * time.Millisecond

// agent is one process of a harness and the connection to it. It serves one
// session at the most.
type agent struct {
	harness *harness.Harness
	berth
	conn  *rpc.Conn
	hello hello
	// greeting is its answer to initialize as it came.
	greeting jsontext.Value
	quirks   quirk.Set
	span     span
	wires
}

// berth is where an agent runs, and inside which fences. It does not change.
type berth struct {
	folder string
	roots  []string
	proc   *process.Process
	kernel *fenced
}

// span is how long an agent lasts: its requests and what it shows hang on ctx,
// which ends with its connection, or where its end is not waited for any more.
type span struct {
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{} // closed when the process is gone and nothing of it runs
}

// wires is how an agent's messages find their session.
type wires struct {
	b       *Bridge
	session atomic.Pointer[session]
	early   early
	wg      sync.WaitGroup // the goroutines that answer its requests
	noise   noise
	load    load
	asked   asked
}

// early are the updates that came before the answer that names their session.
// On the read loop only.
type early struct {
	frames [][]byte // the whole messages
	bytes  int
}

// Bounds of what is kept for a session that is not known yet.
const (
	maxEarly      = 256
	maxEarlyBytes = 4 << 20
)

// startAgent starts the program of a harness and says hello to it. It fills a
// place that was reserved, or gives it back.
func (b *Bridge) startAgent(ctx context.Context, h *harness.Harness, folder string, roots []string) (*agent, error) {
	a, limit, err := b.spring(ctx, h, folder, roots)
	if err != nil {
		b.giveBack()
		return nil, err
	}
	if !b.adopt(a) {
		a.span.cancel()
		_ = a.proc.Stop(a.span.ctx, 0) // what is left dies with us
		a.unfence()
		return nil, errClosing
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := a.initialize(ctx); err != nil {
		a.stop()
		return nil, err
	}
	return a, nil
}

// spring starts the program. limit is the time it has for its first answers.
func (b *Bridge) spring(ctx context.Context, h *harness.Harness, folder string, roots []string) (a *agent, limit time.Duration, err error) {
	c, err := b.Home.Config(folder)
	if err != nil {
		return nil, 0, err
	}
	b.Display.Notice(Notice{Kind: NoticeStarting, Level: Plain, Text: "starting " + h.Name})
	k, err := b.launch(ctx, launching{harness: h, config: c, folder: folder, roots: roots})
	if err != nil {
		return nil, 0, err
	}
	proc := k.Process
	a = &agent{harness: h, berth: berth{folder: folder, roots: roots, proc: proc, kernel: k}}
	a.b = b
	a.span.ctx, a.span.cancel = context.WithCancel(b.life.ctx)
	a.span.ended = make(chan struct{})
	a.noise.log = b.Log.With("agent", h.ID)
	a.conn = rpc.New(proc.Stdout, proc.Stdin, rpc.Lines{})
	a.conn.Handle = a.handle
	a.conn.Noise = a.noise.line
	if f, ok := b.Display.(Flusher); ok {
		a.conn.Idle = f.Flush
	}
	a.conn.CancelMethod = rpc.CancelRequest
	a.conn.Log = b.Log.With("agent", h.ID)
	return a, c.Timeouts.Start(), nil
}

// run serves the connection until the agent is gone, and then ends whatever is
// left of its tree.
func (a *agent) run() {
	defer close(a.span.ended)
	a.wg.Go(a.watchFence)
	err := a.conn.Run(context.WithoutCancel(a.b.life.ctx))
	a.span.cancel()
	a.b.Log.Debug("connection to an agent ended", "agent", a.harness.ID, "err", err)
	if err := a.proc.Stop(context.WithoutCancel(a.b.life.ctx), stopGrace); err != nil {
		a.b.Log.Error("stopping an agent", "agent", a.harness.ID, "err", err)
	}
	a.unfence()
	a.b.live.mu.Lock()
	delete(a.b.live.agents, a)
	a.b.live.mu.Unlock()
	if s := a.session.Load(); s != nil {
		s.agentEnded(a)
	}
	a.wg.Wait()
}

// stop ends the agent's whole tree and waits until it is gone. What it wrote
// last is still shown, but an editor that does not read is not waited for.
func (a *agent) stop() {
	if err := a.proc.Stop(context.WithoutCancel(a.b.life.ctx), stopGrace); err != nil {
		a.b.Log.Error("stopping an agent", "agent", a.harness.ID, "err", err)
	}
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case <-a.span.ended:
		return
	case <-timer.C:
	}
	a.span.cancel()
	<-a.span.ended
}

// gone reports whether the process has ended. What it wrote may not all have
// been handled yet; that is so when span.ended is closed.
func (a *agent) gone() bool {
	select {
	case <-a.span.ended:
		return true
	case <-a.proc.Done():
		return true
	default:
		return false
	}
}

// goneError is how the agent's end is told.
func (a *agent) goneError() error {
	return &GoneError{Agent: a.harness.Name, Exit: a.proc.Exit().String(), Stderr: a.proc.Stderr()}
}

// handle takes one request or notification, on the read loop.
func (a *agent) handle(m *rpc.Message) {
	if string(m.Method) == "session/update" {
		a.update(m)
		return
	}
	s := a.session.Load()
	switch method := string(m.Method); {
	case m.Kind == rpc.Notification:
		if method == rpc.CancelRequest {
			a.withdraw(m)
			return
		}
		a.passNotification(m)
	case s == nil:
		if !actedOn(method) && a.passRequest(m) {
			return
		}
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.InvalidRequest, "no session is open yet"))
	default:
		s.request(a, m)
	}
}

// update passes a session/update on, or keeps it while its session is unknown.
func (a *agent) update(m *rpc.Message) {
	u, ok := readUpdate(m)
	if !ok {
		a.noise.count("a session/update without an update")
		a.passNotification(m)
		return
	}
	if s := a.session.Load(); s != nil {
		s.update(a, &u)
		return
	}
	if len(a.early.frames) >= maxEarly || a.early.bytes+len(m.Frame) > maxEarlyBytes {
		a.noise.count("a session/update before its session")
		return
	}
	a.early.bytes += len(m.Frame)
	a.early.frames = append(a.early.frames, bytes.Clone(m.Frame))
}

// settleEarly hands over what came early for the session, and forgets the rest.
// On the read loop, so that nothing can come between.
func (a *agent) settleEarly() {
	frames := a.early.frames
	a.early = early{}
	for _, frame := range frames {
		m, err := rpc.Scan(frame)
		if err != nil {
			a.b.Log.Error("a kept message cannot be read", "err", err) // a bug
			continue
		}
		a.update(&m)
	}
}

// bind gives the agent its session, which has the agent's own id. It fails when
// the session was closed meanwhile.
func (a *agent) bind(s *session, id string) error {
	s.cards.CommandInTitle = a.quirks.Has(quirk.CommandInTitle) // before the agent can ask
	if err := s.bound(a, id); err != nil {
		return err
	}
	a.session.Store(s)
	return nil
}
