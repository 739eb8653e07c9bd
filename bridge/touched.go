package bridge

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"sallyport/bridge/rpc"
)

// touched is which files a turn worked on, and whether through us. The zero
// value is ready.
type touched struct {
	mu      sync.Mutex
	wrote   map[string]bool // through fs/write_text_file
	read    map[string]bool // through fs/read_text_file
	edits   map[string]bool // named by a finished call that changes files
	reads   map[string]bool // named by a finished call that reads
	pending map[string]seen // calls without an end
}

// seen is what the updates of one call said so far.
type seen struct {
	kind  string
	paths []string
}

// maxTouched bounds each set: a notice names a few files, not all.
const maxTouched = 4096

func add(set *map[string]bool, path string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	if len(*set) < maxTouched {
		(*set)[path] = true
	}
}

// mediated notes an access through us.
func (t *touched) mediated(path string, write bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if path = filepath.Clean(path); write {
		add(&t.wrote, path)
	} else {
		add(&t.read, path)
	}
}

// call takes in one tool_call or tool_call_update.
func (t *touched) call(u *agentUpdate) {
	id, _ := rpc.Unquote(u.member("toolCallId"))
	kind, _ := rpc.Unquote(u.member("kind"))
	status, _ := rpc.Unquote(u.member("status"))
	var paths []string
	for _, list := range []string{"locations", "content"} {
		u.in.EachElement("path", func(value []byte) {
			if p, err := rpc.Unquote(value); err == nil && p != "" {
				paths = append(paths, p)
			}
		}, "update", list)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.pending[id]
	if kind != "" {
		c.kind = kind
	}
	for _, p := range paths {
		if filepath.IsAbs(p) && !slices.Contains(c.paths, p) {
			c.paths = append(c.paths, filepath.Clean(p))
		}
	}
	switch status {
	case "completed":
		delete(t.pending, id)
		t.finished(c)
	case "failed":
		delete(t.pending, id)
	default:
		if t.pending == nil {
			t.pending = map[string]seen{}
		}
		if len(t.pending) < maxTouched {
			t.pending[id] = c
		}
	}
}

func (t *touched) finished(c seen) {
	for _, p := range c.paths {
		switch c.kind {
		case "edit", "delete", "move":
			add(&t.edits, p)
		case "read":
			add(&t.reads, p)
		}
	}
}

// direct lists what the agent changed, and what it read, with its own tools.
func (t *touched) direct() (writes, reads []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for p := range t.edits {
		if !t.wrote[p] {
			writes = append(writes, p)
		}
	}
	for p := range t.reads {
		if !t.read[p] {
			reads = append(reads, p)
		}
	}
	slices.Sort(writes)
	slices.Sort(reads)
	return writes, reads
}

// tellDirect tells the user, at the turn's end, that the agent worked past us:
// no fence held for these accesses (H051).
func (s *session) tellDirect(t *turn) {
	writes, reads := t.touched.direct()
	if len(writes) > 0 {
		s.lowerPosture()
		s.notice(Notice{
			Kind: NoticeDirect, Level: Warning, Turn: t.id, Paths: writes,
			Text: s.spec.harness.Name + " wrote " + s.list(writes) + " with its own tools: the fences did not stand in between",
			Hint: "look at these files; Sallyport saw the agent's word, not the write",
		})
	}
	if len(reads) > 0 && len(s.spec.config.Fences.Private) > 0 {
		s.notice(Notice{
			Kind: NoticeDirect, Level: Plain, Turn: t.id, Paths: reads,
			Text: s.spec.harness.Name + " read " + s.list(reads) + " with its own tools: the fences did not stand in between",
		})
	}
}

// list names the first few paths.
func (s *session) list(paths []string) string {
	const few = 3
	names := make([]string, 0, few)
	for _, p := range paths[:min(few, len(paths))] {
		names = append(names, s.relative(p))
	}
	out := strings.Join(names, ", ")
	if more := len(paths) - few; more > 0 {
		out += " and " + plural(more, "more file")
	}
	return out
}
