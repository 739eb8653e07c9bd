package bridge

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/process"
	"sallyport/bridge/sandbox"
	"sallyport/plugins/decider"
	"sallyport/plugins/harness"
	"sallyport/workspace"
	"sallyport/workspace/answers"
	"sallyport/workspace/config"
	"sallyport/workspace/fence"
	"sallyport/workspace/turns"
)

// Bridge drives the agents of one client. The fields are set before its first
// use and not changed after. Its methods can be called from any goroutine.
type Bridge struct {
	Display Display
	// Editor holds the open documents; nil when nothing is ever open.
	Editor workspace.Editor
	// Editors, when set, takes the place of Editor for a client that speaks ACP,
	// which is asked for a file in the name of a session, by our id.
	Editors func(session string) workspace.Editor
	// Client is what a client that speaks ACP said in its own initialize: its
	// params, passed on to agents with what greeting changes. nil: none.
	Client jsontext.Value
	// Home says what the user configured and which harnesses there are.
	Home Home
	// Record, when set, is told of every file access that passed through us.
	Record func(session, turn string, a workspace.Access)
	// Turns keeps the record of turns, and takes them back; nil: turns are not
	// recorded, and policy record grants nothing.
	Turns *turns.Store
	// NoTurns is why Turns is nil where turns should be kept: it is told before
	// each turn.
	NoTurns error
	Log     *slog.Logger

	life life
	live live

	refreshes refreshes
}

// Home is the user's side of a Bridge: configuration and programs.
type Home struct {
	// Harness looks one up by id; empty means the user's default.
	Harness func(id string) (*harness.Harness, error)
	// Config is the configuration in effect for a session in folder. It is
	// asked often and may read files.
	Config func(folder string) (*config.Config, error)
	// Private lists the user's private projects, whatever is wrong with a
	// project's own file; nil: those of Config.
	Private func() []string
	// Own is our own state and configuration, which no agent may touch.
	Own fence.Own
	// Kernel starts agents inside kernel fences; nil: they are started without.
	Kernel *sandbox.Launcher
	// Finder finds programs; nil looks on PATH only.
	Finder *process.Finder
	// Environ is the environment that agents' own is built from.
	Environ []string
	// Deciders are those that are asked about permissions of a session in folder,
	// which lives in the private project private, empty where it is none; nil: none.
	Deciders func(folder, private string) decider.Set
	// Answers keeps what a person answered for good; without a folder nothing is
	// kept, and each answer is for once.
	Answers answers.Store
	// Version is ours, for clientInfo.
	Version string
}

// life is what Close ends and waits for.
type life struct {
	once   sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	weak   sync.Once      // the kernel holding less than it could was told
	wg     sync.WaitGroup // grows only under live.mu, and not once closed is set
}

// live is the table of sessions and of agents.
type live struct {
	mu       sync.Mutex
	sessions map[string]*session
	agents   map[*agent]standby        // every one of which something is left
	starting int                       // places taken by agents that are not in agents yet
	warming  map[warmKey]chan struct{} // being started ahead; closed when that is over
	swept    map[string]bool           // folders that were cleared of temporary files
	closed   bool
}

// start prepares what the zero Bridge lacks.
func (b *Bridge) start() {
	b.life.once.Do(func() {
		b.life.ctx, b.life.cancel = context.WithCancel(context.Background())
		if b.Log == nil {
			b.Log = slog.New(slog.DiscardHandler)
		}
		b.refreshes.one = make(chan struct{}, 1)
		b.live.warming = map[warmKey]chan struct{}{}
		b.live.agents = map[*agent]standby{}
		b.live.sessions, b.live.swept = map[string]*session{}, map[string]bool{}
		b.life.wg.Go(b.closeIdle)
	})
}

// enter begins a call that Close ends and waits for: its context ends with the
// bridge, too. The caller calls leave when it is done.
func (b *Bridge) enter(ctx context.Context) (within context.Context, leave func(), err error) {
	b.start()
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	if b.live.closed {
		return nil, nil, errClosing
	}
	b.life.wg.Add(1)
	within, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(b.life.ctx, func() { cancel(errClosing) })
	return within, func() {
		stop()
		cancel(nil)
		b.life.wg.Done()
	}, nil
}

// spawn runs f on a goroutine that Close waits for, and reports whether it
// could.
func (b *Bridge) spawn(f func()) bool {
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	if b.live.closed {
		return false
	}
	b.life.wg.Go(f)
	return true
}

// Live lists the sessions, the oldest first.
func (b *Bridge) Live() []Info {
	all := b.all()
	slices.SortFunc(all, func(a, b *session) int { return a.made.Compare(b.made) })
	infos := make([]Info, len(all))
	for i, s := range all {
		infos[i] = s.info()
	}
	return infos
}

// all are the sessions of now.
func (b *Bridge) all() []*session {
	b.start()
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	return slices.Collect(maps.Values(b.live.sessions))
}

// Info returns one session as a client sees it.
func (b *Bridge) Info(id string) (Info, error) {
	s, err := b.session(id)
	if err != nil {
		return Info{}, err
	}
	return s.info(), nil
}

func (b *Bridge) session(id string) (*session, error) {
	b.start()
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	s, ok := b.live.sessions[id]
	if !ok {
		return nil, &UnknownSessionError{Session: id}
	}
	return s, nil
}

// Close cancels what runs, ends every agent and waits until nothing of them is
// left and every call has returned, or until ctx is done. It must not be called
// from a Display.
func (b *Bridge) Close(ctx context.Context) error {
	b.start()
	b.live.mu.Lock()
	b.live.closed = true
	agents := slices.Collect(maps.Keys(b.live.agents))
	b.live.mu.Unlock()
	b.life.cancel()
	done := make(chan struct{})
	go func() { // ends when all has ended, also when nobody waits for it any more
		defer close(done)
		var wg sync.WaitGroup
		for _, a := range agents {
			wg.Go(a.stop)
		}
		wg.Wait()
		b.life.wg.Wait()
		for _, s := range b.all() {
			s.ground.engine.Wait()
		}
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// closeIdle ends agents that nobody used for a while.
func (b *Bridge) closeIdle() {
	const often = 30 * time.Second
	tick := time.NewTicker(often)
	defer tick.Stop()
	for {
		select {
		case <-b.life.ctx.Done():
			return
		case now := <-tick.C:
			b.sweep(now)
		}
	}
}

// editorOf is who holds the open documents of a session.
func (b *Bridge) editorOf(session string) workspace.Editor {
	if b.Editors != nil {
		return b.Editors(session)
	}
	return b.Editor
}
