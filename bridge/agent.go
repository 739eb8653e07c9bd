package bridge

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

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
	folder  string
	proc    *process.Process
	conn    *rpc.Conn
	hello   hello
	quirks  quirk.Set
	used    time.Time // while it waits for a session
	wires
}

// wires is how an agent's messages find their session.
type wires struct {
	b       *Bridge
	session atomic.Pointer[session]
	early   [][]byte       // messages before the session is known; read loop only
	wg      sync.WaitGroup // the goroutines that answer its requests
	ended   chan struct{}  // closed when the process is gone and nothing of it runs
	noise   noise
	open    atomic.Int32 // requests that are being answered
	asked   asked
}

// Bounds of what is kept for a session that is not known yet.
const (
	maxEarly      = 256
	maxEarlyBytes = 4 << 20
)

// startAgent starts the program of a harness and says hello to it.
func (b *Bridge) startAgent(ctx context.Context, h *harness.Harness, folder string) (*agent, error) {
	c, err := b.Home.Config(folder)
	if err != nil {
		return nil, err
	}
	b.Display.Notice(Notice{Kind: NoticeStarting, Level: Plain, Text: "starting " + h.Name})
	proc, err := b.launch(ctx, h, folder)
	if err != nil {
		return nil, err
	}
	a := &agent{harness: h, folder: folder, proc: proc}
	a.b, a.ended = b, make(chan struct{})
	a.noise.log = b.Log.With("agent", h.ID)
	a.conn = rpc.New(proc.Stdout, proc.Stdin, rpc.Lines{})
	a.conn.Handle = a.handle
	a.conn.Noise = a.noise.line
	if f, ok := b.Display.(Flusher); ok {
		a.conn.Idle = f.Flush
	}
	a.conn.CancelMethod = "$/cancel_request"
	a.conn.Log = b.Log.With("agent", h.ID)
	b.life.wg.Go(a.run)

	ctx, cancel := context.WithTimeout(ctx, c.Timeouts.Start())
	defer cancel()
	if err := a.initialize(ctx); err != nil {
		a.stop()
		return nil, err
	}
	return a, nil
}

// run serves the connection until the agent is gone, and then ends whatever is
// left of its tree.
func (a *agent) run() {
	defer close(a.ended)
	err := a.conn.Run(context.WithoutCancel(a.b.life.ctx))
	a.asked.cancelAll()
	a.b.Log.Debug("connection to an agent ended", "agent", a.harness.ID, "err", err)
	if err := a.proc.Stop(context.WithoutCancel(a.b.life.ctx), stopGrace); err != nil {
		a.b.Log.Error("stopping an agent", "agent", a.harness.ID, "err", err)
	}
	if s := a.session.Load(); s != nil {
		s.agentEnded(a)
	}
	a.wg.Wait()
}

// stop ends the agent's whole tree and waits until it is gone.
func (a *agent) stop() {
	if err := a.proc.Stop(context.WithoutCancel(a.b.life.ctx), stopGrace); err != nil {
		a.b.Log.Error("stopping an agent", "agent", a.harness.ID, "err", err)
	}
	<-a.ended
}

// gone reports whether the process has ended.
func (a *agent) gone() bool {
	select {
	case <-a.ended:
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
		if method == "$/cancel_request" && s != nil {
			s.withdraw(m.Params)
		}
		// Others, such as codex-acp's _auth/status_update, are for nobody here.
	case s == nil:
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
		return
	}
	s := a.session.Load()
	if s == nil {
		if len(a.early) < maxEarly && a.earlyBytes()+len(m.Frame) <= maxEarlyBytes {
			a.early = append(a.early, bytes.Clone(m.Frame))
		} else {
			a.noise.count("a session/update before its session")
		}
		return
	}
	s.update(a, &u)
}

func (a *agent) earlyBytes() (n int) {
	for _, frame := range a.early {
		n += len(frame)
	}
	return n
}

// bind gives the agent its session and hands over what came early for it. On
// the read loop, so that nothing can come between.
func (a *agent) bind(s *session, id string) {
	s.bound(a, id)
	a.session.Store(s)
	early := a.early
	a.early = nil
	for _, frame := range early {
		m, err := rpc.Scan(frame)
		if err != nil {
			a.b.Log.Error("a kept message cannot be read", "err", err) // a bug
			continue
		}
		a.update(&m)
	}
}
