package bridge_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/plugins/harness"
	"sallyport/workspace/config"
)

const never = `{"on": {"session/new": {"answer": "never"}}}`

// begin runs New on a goroutine of its own.
func (r *rig) begin(ctx context.Context, n bridge.NewSession) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := r.New(ctx, n)
		done <- err
	}()
	return done
}

func (r *rig) wait(done <-chan error) error {
	r.t.Helper()
	return await(r.t, "the call's return", done)
}

func (r *rig) wantAgents(n int) {
	r.t.Helper()
	r.poll("the end of agents", func() bool { return r.Agents() <= n })
	if got := r.Agents(); got != n {
		r.t.Errorf("%d agents live, want %d", got, n)
	}
}

// other makes a second folder.
func (r *rig) other(name string) string {
	r.t.Helper()
	dir := filepath.Join(filepath.Dir(r.folder), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		r.t.Fatal(err)
	}
	return dir
}

// TestCloseEndsWhatIsBeingOpened: an agent that was started and has not opened
// its session is nobody's yet; it is ended all the same.
func TestCloseEndsWhatIsBeingOpened(t *testing.T) {
	r := newRig(t, never)
	done := r.begin(r.ctx(), bridge.NewSession{Folder: r.folder})
	r.awaits("session/new", 1)
	began := time.Now()
	if err := r.Close(r.ctx()); err != nil {
		t.Fatalf("closing: %v", err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("closing took %v", took)
	}
	if err := r.wait(done); err == nil {
		t.Error("New succeeded although the bridge was closed")
	}
	if n := r.Agents(); n != 0 || len(r.Live()) != 0 {
		t.Errorf("%d agents and %d sessions are left", n, len(r.Live()))
	}
	if _, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder}); err == nil {
		t.Error("a closed bridge begins sessions")
	}
}

func TestCloseSessionEndsItsTurn(t *testing.T) {
	r := newRig(t, `{"capabilities": {"sessionCapabilities": {"close": {}}}, "prompts": [{"steps": [{"say": "x"}, {"waitCancel": true}]}]}`)
	info := r.open()
	ends := r.start(info.ID, "go")
	r.display.until(t, "x", func(d *display) bool { return len(d.updates) > 0 })
	if err := r.CloseSession(r.ctx(), info.ID); err != nil {
		t.Fatal(err)
	}
	if e := r.end(ends); e.err != nil || e.StopReason != "cancelled" {
		t.Errorf("the turn ended with %+v, want cancelled", e)
	}
	var unknown *bridge.UnknownSessionError
	if _, err := r.prompt(info.ID, "more"); !errors.As(err, &unknown) {
		t.Errorf("a prompt after the end gave %v", err)
	}
	if n := r.Agents(); n != 0 || r.heard("session/close") != 1 {
		t.Errorf("%d agents are left, session/close was sent %d times", n, r.heard("session/close"))
	}
}

// TestCloseSessionWhileItIsOpenedAgain: the agent that is just being started for
// it belongs to nobody afterwards.
func TestCloseSessionWhileItIsOpenedAgain(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [{"exit": 0}]}]}`)
	info := r.open()
	if _, err := r.prompt(info.ID, "go"); err == nil {
		t.Fatal("the agent did not end")
	}
	r.rewrite(never)
	ends := r.start(info.ID, "again")
	r.awaits("session/new", 2)
	if err := r.CloseSession(r.ctx(), info.ID); err != nil {
		t.Fatal(err)
	}
	if e := r.end(ends); e.StopReason != "cancelled" {
		t.Errorf("the turn ended with %+v, want cancelled", e)
	}
	r.wantAgents(0)
}

// TestCloseSessionWhileItIsLoaded: Ready made it known before.
func TestCloseSessionWhileItIsLoaded(t *testing.T) {
	r := newRig(t, `{"capabilities": {"loadSession": true}, "on": {"session/load": {"answer": "never"}}}`)
	ready := make(chan bridge.Info, 1)
	done := make(chan error, 1)
	go func() {
		_, err := r.Load(r.ctx(), bridge.LoadSession{ID: "s", Folder: r.folder, Replays: true, Ready: func(i bridge.Info) { ready <- i }})
		done <- err
	}()
	info := <-ready
	r.awaits("session/load", 1)
	if err := r.CloseSession(r.ctx(), info.ID); err != nil {
		t.Fatal(err)
	}
	if err := r.wait(done); err == nil {
		t.Error("the session was loaded although it was closed")
	}
	r.wantAgents(0)
	if n := r.display.noticed(bridge.NoticeGone); len(n) != 0 {
		t.Errorf("an end that was asked for was told of: %v", n)
	}
}

// TestAgentsCountFromTheirStart: also while they open their session.
func TestAgentsCountFromTheirStart(t *testing.T) {
	r := newRig(t, never)
	r.config.MaxAgents = 2
	ctx, cancel := contextOf(r)
	var waiting []<-chan error
	for range 2 {
		waiting = append(waiting, r.begin(ctx, bridge.NewSession{Folder: r.folder}))
	}
	r.awaits("session/new", 2)
	if err := r.wait(r.begin(r.ctx(), bridge.NewSession{Folder: r.folder})); err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("a third session gave %v, want that all are busy", err)
	}
	cancel()
	for _, done := range waiting {
		if err := r.wait(done); !errors.Is(err, context.Canceled) {
			t.Errorf("a session that was given up gave %v", err)
		}
	}
	r.wantAgents(0)
}

// TestWaitingAgentsAreReusedCountedAndLimited: those that only listed sessions,
// or wait for a sign-in.
func TestWaitingAgentsAreReusedCountedAndLimited(t *testing.T) {
	r := newRig(t, `{"capabilities": {"sessionCapabilities": {"list": {}}}}`)
	r.config.MaxAgents = 2
	list := func(folder string) {
		t.Helper()
		if _, _, err := r.Stored(r.ctx(), "fake", folder, ""); err != nil {
			t.Fatal(err)
		}
	}
	list(r.folder)
	list(r.folder)
	r.open()
	if n := r.heard("initialize"); n != 1 || r.Agents() != 1 {
		t.Fatalf("%d agents were started and %d live, want one for all", n, r.Agents())
	}
	for _, name := range []string{"q1", "q2", "q3"} {
		list(r.other(name))
		if n := r.Agents(); n > 2 {
			t.Errorf("%d agents live, want 2 at the most", n)
		}
	}
	var wg sync.WaitGroup
	r.config.MaxAgents = 9
	folder := r.other("q4")
	for range 3 {
		wg.Go(func() { list(folder) })
	}
	wg.Wait()
	if n := r.Agents(); n != 3 {
		t.Errorf("%d agents live, want the session's, q3's and one for q4", n)
	}
}

func TestAnAgentThatDoesNotAnswerIsNotKept(t *testing.T) {
	r := newRig(t, `{"capabilities": {"sessionCapabilities": {"list": {}}}, "on": {"session/list": {"answer": "never"}}}`)
	ctx, cancel := contextOf(r)
	done := make(chan error, 1)
	go func() {
		_, _, err := r.Stored(ctx, "fake", r.folder, "")
		done <- err
	}()
	r.awaits("session/list", 1)
	cancel()
	if err := r.wait(done); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	r.wantAgents(0)
}

// TestAChangedDescriptionIsNotServedByAnOldAgent: what the user changed in the
// configuration holds for the next session.
func TestAChangedDescriptionIsNotServedByAnOldAgent(t *testing.T) {
	r := newRig(t, `{"capabilities": {"sessionCapabilities": {"list": {}}}}`)
	if _, _, err := r.Stored(r.ctx(), "fake", r.folder, ""); err != nil {
		t.Fatal(err)
	}
	change(r, func(h *harness.Harness) {
		h.ACP.Environment.Env = map[string]string{"GORACE": "atexit_sleep_ms=0", "NEW": "1"}
	})
	r.open()
	if n := r.heard("initialize"); n != 2 {
		t.Errorf("%d agents were started, want a second one for the new description", n)
	}
}

// TestStartingAheadEndsNobody: it is a guess.
func TestStartingAheadEndsNobody(t *testing.T) {
	r := newRig(t, `{"capabilities": {"sessionCapabilities": {"resume": {}}}}`)
	r.config.MaxAgents = 1
	info := r.open()
	r.Prestart("fake", r.other("q"))
	r.Close(r.ctx())
	if n := r.heard("initialize"); n != 1 {
		t.Errorf("%d agents were started, want only that of session %s", n, info.ID)
	}
}

// TestAgentsAreFoundThroughLinks: the folder of a session is named in more ways
// than one.
func TestAgentsAreFoundThroughLinks(t *testing.T) {
	r := newRig(t, `{"authRequired": true, "authMethods": [{"id": "a", "name": "Key"}]}`)
	link := filepath.Join(filepath.Dir(r.folder), "link")
	if err := os.Symlink(r.folder, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	var auth *bridge.AuthError
	if _, err := r.New(r.ctx(), bridge.NewSession{Folder: link}); !errors.As(err, &auth) {
		t.Fatalf("got %v, want that a sign-in is wanted", err)
	}
	if err := r.Authenticate(r.ctx(), "fake", link, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder}); err != nil {
		t.Errorf("after the sign-in: %v", err)
	}
	if n := r.heard("initialize"); n != 1 {
		t.Errorf("%d agents were started, want the one that was signed in", n)
	}
}

// TestIdleAgentsAreEnded: those of sessions and those that wait, and no busy one.
func TestIdleAgentsAreEnded(t *testing.T) {
	r := newRig(t, `{"capabilities": {"sessionCapabilities": {"list": {}, "resume": {}}}, "prompts": [{"match": "ask", "steps": [`+asks+`]}]}`)
	release := make(chan struct{})
	r.display.answer = func(ctx ctx, c *permit.Card) (permit.Answer, error) { <-release; return allow(ctx, c) }
	busy, idle := r.open(), r.open()
	ends := r.start(busy.ID, "ask")
	<-r.display.asked
	if _, _, err := r.Stored(r.ctx(), "fake", r.other("q"), ""); err != nil {
		t.Fatal(err)
	}
	if n := r.Agents(); n != 3 {
		t.Fatalf("%d agents live, want 3", n)
	}
	r.Sweep(time.Now().Add(59 * time.Minute))
	if n := r.Agents(); n != 3 {
		t.Errorf("%d agents live before their time", n)
	}
	r.Sweep(time.Now().Add(61 * time.Minute))
	if n := r.Agents(); n != 1 {
		t.Errorf("%d agents live, want only the busy one", n)
	}
	close(release)
	if e := r.end(ends); e.err != nil || r.said() != "allowed" {
		t.Errorf("the busy turn ended with %+v and %q", e, r.said())
	}
	if _, err := r.prompt(idle.ID, "x"); err != nil {
		t.Errorf("the idle session: %v", err)
	}
	if n := r.display.noticed(bridge.NoticeGone); len(n) != 0 {
		t.Errorf("an end that was meant was told of: %v", n)
	}
}

// TestSweepAndUseDoNotMeet: a session that is used is not ended, and one that is
// being ended is opened again behind that.
func TestSweepAndUseDoNotMeet(t *testing.T) {
	r := newRig(t, `{"capabilities": {"sessionCapabilities": {"resume": {}}}, "configOptions": [{"id": "x", "name": "x", "type": "select", "currentValue": "a", "options": [{"value": "a", "name": "a"}]}]}`)
	info := r.open()
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				r.Sweep(time.Now().Add(2 * time.Hour))
			}
		}
	})
	for range 3 {
		if e, err := r.prompt(info.ID, "x"); err != nil || e.StopReason != "end_turn" {
			t.Errorf("a turn ended with %+v, %v", e, err)
		}
		if _, err := r.SetConfigOption(r.ctx(), info.ID, "x", []byte(`"a"`)); err != nil {
			t.Errorf("setting an option: %v", err)
		}
		if n := r.Agents(); n > 1 {
			t.Errorf("%d agents live for one session", n)
		}
	}
	close(stop)
	wg.Wait()
}

// TestOneAgentForASession: whoever comes first opens it again, all others wait.
func TestOneAgentForASession(t *testing.T) {
	r := newRig(t, `{"capabilities": {"sessionCapabilities": {"resume": {}}}, "models": {"currentModelId": "m", "availableModels": [{"modelId": "m", "name": "m"}]}}`)
	info := r.open()
	r.Sweep(time.Now().Add(2 * time.Hour))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := r.SetModel(r.ctx(), info.ID, "m"); err != nil {
				t.Errorf("setting the model: %v", err)
			}
		})
	}
	wg.Go(func() {
		if _, err := r.prompt(info.ID, "x"); err != nil {
			t.Errorf("prompting: %v", err)
		}
	})
	wg.Wait()
	if n := r.heard("session/resume"); n != 1 || r.Agents() != 1 {
		t.Errorf("the session was opened again %d times and has %d agents, want one", n, r.Agents())
	}
}

func TestTwoSessionsInOneFolder(t *testing.T) {
	r := newRig(t, `{"prompts": [{"match": "one", "steps": [{"say": "1"}]}, {"match": "two", "steps": [{"say": "2"}]}]}`)
	one, two := r.open(), r.open()
	if one.ID == two.ID || one.AgentID != two.AgentID {
		t.Fatalf("ids are %+v and %+v, want two of ours for one of the agents'", one, two)
	}
	first, second := r.start(one.ID, "one"), r.start(two.ID, "two")
	turns := map[string]string{`"1"`: r.end(first).Turn, `"2"`: r.end(second).Turn}
	for _, u := range r.display.updates {
		for text, turn := range turns {
			if strings.Contains(u.raw, text) && u.turn != turn {
				t.Errorf("%s was told to turn %s, want %s", u.raw, u.turn, turn)
			}
		}
	}
}

// TestTheUsersFolder: an agent works where the user's configuration says; its
// session stays in its own folder.
func TestTheUsersFolder(t *testing.T) {
	for cwd, want := range map[string]string{"": "here", "sub": "sub/here"} {
		r := newRig(t, `{"prompts": [{"steps": [{"directWrite": {"path": "here", "text": "x"}}, {"say": "${cwd}"}]}]}`)
		r.write("sub/x", "")
		r.config.Custom = map[string]config.Agent{"fake": {Launch: config.Launch{Cwd: cwd}}}
		r.turn("go")
		if r.disk(want) != "x" || r.said() != r.folder {
			t.Errorf("with cwd %q the session is in %s, and %s was not written", cwd, r.said(), want)
		}
	}
}
