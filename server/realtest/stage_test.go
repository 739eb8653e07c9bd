package realtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sallyport/bridge"
	"sallyport/bridge/bridgetest"
	"sallyport/server/servertest"
	"sallyport/workspace"
)

const (
	// patience is how long an agent may take to start or to answer on a busy
	// machine.
	patience = 150 * time.Second
	// nothingLeft is how soon after an editor's death nothing may be left.
	nothingLeft = 5 * time.Second
)

// stage is where the scenes of one agent are played.
type stage struct {
	bridgetest.Place
	agent  bridgetest.Agent
	family *bridgetest.Family
	ear    *bridgetest.Ear
	env    []string

	plain    bool // its editor has no plugin
	outsider int  // process of the user's that is none of the agent's, in scenes of fences
	now      *serving
	row      *Row
}

// serving is one editor with its server, and the session that is open there.
type serving struct {
	ed      *servertest.Editor
	process *exec.Cmd // the editor's; the server is its child
	stderr  *log
	info    bridge.Info
}

// log collects a server's stderr.
type log struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newStage(t *testing.T, id string, model bridgetest.Model) *stage {
	t.Helper()
	agent := bridgetest.RealAgent(t, id)
	s := &stage{Place: bridgetest.NewPlace(t), agent: agent, row: &Row{}}
	s.row.Agent = Agent{ID: id, Package: agent.Package, Version: agent.Version}
	s.family = bridgetest.NewFamily(t, s.Place)
	s.ear = bridgetest.Listen(t, model.URL)
	s.env = agent.Install(t, s.Place, s.ear.URL)
	s.put(t, "notes.txt", "alpha\nbeta\ngamma\n")
	s.repository(t) // agents look for the project's root
	t.Cleanup(func() {
		if s.now != nil {
			_ = s.now.process.Process.Kill() // it may be gone
			s.now.ed.Wait()
		}
	})
	return s
}

// raise starts an editor with its server, without a session.
func (s *stage) raise(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := &serving{ed: &servertest.Editor{}, stderr: &log{}}
	e.ed.Name, e.ed.Folder, e.ed.Plugin, e.ed.Disk = "realtest", s.Project, servertest.Everything(), true
	if s.plain {
		e.ed.Plugin, e.ed.Versioned, e.ed.Window = nil, true, true
	}
	e.process = exec.Command(self, "editor", program, "serve", "--log", "debug")
	e.process.Env, e.process.Dir, e.process.Stderr = s.env, s.Project, e.stderr
	in, err := e.process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.process.Start(); err != nil {
		t.Fatal(err)
	}
	e.ed.Start(out, in)
	s.now = e
	if _, err := e.ed.Initialize(s.ctx(t)); err != nil {
		t.Fatalf("initialize: %v\n%s", err, e.stderr)
	}
}

// leave ends the editor as a polite one does, and sees that nothing is left.
func (s *stage) leave(t *testing.T) {
	t.Helper()
	if err := s.now.ed.Shutdown(s.ctx(t)); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	<-s.now.ed.Ended()
	s.now.ed.Wait()
	if err := s.now.process.Wait(); err != nil {
		t.Errorf("the editor's process: %v\n%s", err, s.now.stderr)
	}
	s.family.Gone(t, nothingLeft)
	s.checkLog(t)
	s.now = nil
}

// checkLog sees that the server had no accident.
func (s *stage) checkLog(t *testing.T) {
	t.Helper()
	for _, bad := range []string{"DATA RACE", "panic:", "level=ERROR"} {
		if l := s.now.stderr.String(); strings.Contains(l, bad) {
			t.Errorf("the server's log has %q:\n%s", bad, l)
		}
	}
}

// ctx bounds the wait for one answer.
func (s *stage) ctx(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// call is a request of the editor.
func (s *stage) call(t *testing.T, method string, params, result any) {
	t.Helper()
	if err := s.now.ed.Call(s.ctx(t), method, params, result); err != nil {
		t.Fatalf("%s: %v\n%s", method, err, s.now.stderr)
	}
}

// path of a file of the project.
func (s *stage) path(name string) string { return filepath.Join(s.Project, name) }

func (s *stage) uri(name string) string { return workspace.URIOf(s.path(name)) }

// put writes a file of the project.
func (s *stage) put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// disk is a file's text; missing is what a file that is not there gives.
func (s *stage) disk(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(s.path(name))
	switch {
	case os.IsNotExist(err):
		return missing
	case err != nil:
		t.Fatal(err)
	}
	return string(b)
}

const missing = "(no file)"

// open opens a file in the editor, with its text on disk, and types at its end.
func (s *stage) open(t *testing.T, name, disk, typed string) {
	t.Helper()
	s.put(t, name, disk)
	if err := s.now.ed.Open(s.uri(name), disk); err != nil {
		t.Fatal(err)
	}
	if err := s.now.ed.Type(s.uri(name), len(disk), len(disk), typed); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) close(t *testing.T, name string) {
	t.Helper()
	if err := s.now.ed.Close(s.uri(name)); err != nil {
		t.Fatal(err)
	}
}
