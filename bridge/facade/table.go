package facade

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
)

// table is the sessions of one client.
type table struct {
	mu     sync.RWMutex
	byID   map[string]*entry // as the client names them
	byOurs map[string]*entry
	early  map[string][]bridge.Notice // of sessions that the client does not know yet, by our id
	lanes
	last atomic.Pointer[found] // what of found last; nil once byOurs has changed
}

// found is an entry under the bridge's id.
type found struct {
	ours  string
	entry *entry
}

// lanes are those of the sessions.
type lanes struct {
	all    []*lane // every one that was made and may run
	stall  time.Duration
	closed bool
}

// maxEarly is how many notices of one unknown session are kept, and of how many.
const maxEarly = 32

// entry is one session.
type entry struct {
	id     string // as the client names it; does not change
	quoted []byte // id as JSON
	lane   *lane
	turn   chan struct{} // one slot: who has a turn under way has it

	mu      sync.Mutex
	ours    string // the bridge's id, "" before it has one
	agent   string // harness
	folder  string
	prompts map[*promptCall]bool // those without an answer; true: its place in the lane has come
	offer   offer
	opening opening
	asked   map[string]bool // cards that we made and that the client has seen
}

// opening is how the client has opened a session.
type opening struct {
	params jsontext.Value // by which another agent can begin here
	roots  []root
}

func newTable(stall time.Duration) *table {
	return &table{lanes: lanes{stall: stall}, byID: map[string]*entry{}, byOurs: map[string]*entry{}, early: map[string][]bridge.Notice{}}
}

// add makes an entry under a name that no other has: false when one has it. params
// are those that open it.
func (t *table) add(id string, params jsontext.Value) (*entry, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID[id] != nil || t.closed {
		return nil, false
	}
	e := &entry{id: id, quoted: rpc.AppendQuote(nil, id), lane: newLane(t.stall), turn: make(chan struct{}, 1), prompts: map[*promptCall]bool{}, asked: map[string]bool{}, opening: opening{params: params}}
	t.byID[id] = e
	t.all = slices.DeleteFunc(t.all, (*lane).over)
	t.all = append(t.all, e.lane)
	return e, true
}

// bind makes an entry known under the bridge's id, and returns what was noted of
// the session before.
func (t *table) bind(e *entry, i bridge.Info) []bridge.Notice {
	e.mu.Lock()
	before := e.ours
	e.ours, e.agent, e.folder = i.ID, i.Agent, i.Folder
	e.opening.roots = rootsOf(e.opening.params)
	e.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last.Store(nil)
	delete(t.byOurs, before)
	t.byOurs[i.ID] = e
	early := t.early[i.ID]
	delete(t.early, i.ID)
	return early
}

// rebind is bind for a session that is opened once more: what was learned of the
// conversation before is no more. params are those that open it.
func (t *table) rebind(e *entry, i bridge.Info, params jsontext.Value) []bridge.Notice {
	e.mu.Lock()
	e.offer, e.opening.params = offer{}, params
	e.mu.Unlock()
	return t.bind(e, i)
}

// drop forgets an entry.
func (t *table) drop(e *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID[e.id] == e {
		delete(t.byID, e.id)
	}
	ours := e.known()
	if t.byOurs[ours] == e {
		t.last.Store(nil)
		delete(t.byOurs, ours)
	}
	e.lane.shut()
}

func (t *table) named(id string) *entry {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[id]
}

// of is the entry under the bridge's id, nil if there is none. It is asked for each
// update, mostly for the same one.
func (t *table) of(ours string) *entry {
	if f := t.last.Load(); f != nil && f.ours == ours {
		return f.entry
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	e := t.byOurs[ours]
	if e != nil {
		t.last.Store(&found{ours, e})
	}
	return e
}

// keep keeps a notice of a session that the client does not know yet.
func (t *table) keep(n bridge.Notice) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.early) < maxEarly && len(t.early[n.Session]) < maxEarly {
		t.early[n.Session] = append(t.early[n.Session], n)
	}
}

// close closes every lane and waits for them.
func (t *table) close() {
	t.mu.Lock()
	t.closed = true
	all := t.all
	t.mu.Unlock()
	for _, l := range all {
		l.close()
	}
}

// known is the bridge's id of the session, "" when it has none yet.
func (e *entry) known() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ours
}
