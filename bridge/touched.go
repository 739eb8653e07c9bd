package bridge

import (
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"sallyport/bridge/rpc"
	"sallyport/workspace"
	"sallyport/workspace/fence"
)

// touched is which files a turn worked on, and whether through us. The zero
// value is ready.
type touched struct {
	mu      sync.Mutex
	wrote   paths           // through fs/write_text_file
	read    paths           // through fs/read_text_file
	edits   paths           // named by a finished call that changes files
	reads   paths           // named by a finished call that reads
	refused paths           // ids of calls that were refused
	pending map[string]seen // calls without an end
	held    int             // bytes in pending
}

// seen is what the updates of one call said so far.
type seen struct {
	kind  string
	paths []string
}

// Bounds of what is kept of a turn: a notice names a few files, not all.
const (
	maxTouched      = 4096
	maxTouchedBytes = 4 << 20
	maxCallPaths    = 100
)

// paths is a bounded set.
type paths map[string]bool

func (p *paths) add(path string) {
	if *p == nil {
		*p = paths{}
	}
	if len(*p) < maxTouched {
		(*p)[path] = true
	}
}

// mediated notes an access through us.
func (t *touched) mediated(path string, write bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if path = filepath.Clean(path); write {
		t.wrote.add(path)
	} else {
		t.read.add(path)
	}
}

// call takes in one tool_call or tool_call_update.
func (t *touched) call(u *agentUpdate) {
	id, _ := rpc.Unquote(u.member("toolCallId"))
	status, _ := rpc.Unquote(u.member("status"))
	var now seen
	now.kind, _ = rpc.Unquote(u.member("kind"))
	for _, list := range []string{"locations", "content"} {
		u.in.EachElement("path", func(value []byte) {
			if len(now.paths) >= maxCallPaths {
				return
			}
			if p, err := rpc.Unquote(value); err == nil && p != "" {
				now.add(p)
			}
		}, "update", list)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.pending[id]
	t.forgetLocked(id)
	if now.kind != "" {
		c.kind = now.kind
	}
	for _, p := range now.paths {
		c.add(p)
	}
	switch status {
	case "completed":
		t.finishedLocked(c)
	case "failed":
	default:
		t.keepLocked(id, c)
	}
}

func (t *touched) forgetLocked(id string) {
	if c, ok := t.pending[id]; ok {
		t.held -= c.size(id)
		delete(t.pending, id)
	}
}

func (t *touched) keepLocked(id string, c seen) {
	if len(t.pending) >= maxTouched || t.held+c.size(id) > maxTouchedBytes {
		return
	}
	if t.pending == nil {
		t.pending = map[string]seen{}
	}
	t.pending[id] = c
	t.held += c.size(id)
}

func (t *touched) finishedLocked(c seen) {
	for _, p := range c.paths {
		switch c.kind {
		case "edit", "delete", "move":
			t.edits.add(p)
		case "read":
			t.reads.add(p)
		}
	}
}

func (c *seen) size(id string) int {
	n := len(id) + len(c.kind)
	for _, p := range c.paths {
		n += len(p)
	}
	return n
}

// refuse notes that the last permission for a call was refused.
func (t *touched) refuse(call string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(call) <= maxRecorded {
		t.refused.add(call)
	}
}

func (t *touched) wasRefused(call string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused[call]
}

// add notes a path as the agent spelt it. One that only repeats the end of
// another is no other file: some agents name a bare file in their last words.
func (c *seen) add(path string) {
	if len(c.paths) >= maxCallPaths || len(path) > maxPath || slices.Contains(c.paths, path) {
		return
	}
	c.paths = append(c.paths, path)
}

// maxPath is the longest path of any system that we look at.
const maxPath = 32 << 10

// direct lists what the agent changed, and what it read, with its own tools.
// Names in folder may be relative.
func (t *touched) direct(folder string) (writes, reads []string) {
	t.mu.Lock()
	wrote, read := maps.Clone(t.wrote), maps.Clone(t.read)
	edits, looked := maps.Clone(t.edits), maps.Clone(t.reads)
	t.mu.Unlock()
	return edits.without(wrote, folder), looked.without(read, folder)
}

// changed reports whether the turn changed files, by what passed through us and by
// the agent's word.
func (t *touched) changed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.wrote)+len(t.edits) > 0
}

// declared lists what the agent said that it changed, absolute.
func (t *touched) declared(folder string) []string {
	t.mu.Lock()
	edits := maps.Clone(t.edits)
	t.mu.Unlock()
	return edits.without(nil, folder)
}

// without lists the files of p that are not in others, by whatever name. The
// disk is asked only for those whose names differ.
func (p paths) without(others paths, folder string) []string {
	var left []string
	for path := range p {
		if path = p.settle(path, folder); path != "" && !others[path] {
			left = append(left, path)
		}
	}
	if len(left) > 0 && len(others) > 0 {
		same := map[string]bool{}
		for other := range others {
			same[really(other)] = true
		}
		left = slices.DeleteFunc(left, func(path string) bool { return same[really(path)] })
	}
	slices.Sort(left)
	return slices.Compact(left)
}

// settle is the absolute, clean name of what an agent calls a file; "" for what
// is none, and for the bare end of another name in p.
func (p paths) settle(name, folder string) string {
	if strings.HasPrefix(name, "file:") {
		path, err := workspace.PathOf(name)
		if err != nil {
			return ""
		}
		return path
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	end := string(filepath.Separator) + filepath.Clean(name)
	for other := range p {
		if filepath.IsAbs(other) && strings.HasSuffix(filepath.Clean(other), end) {
			return ""
		}
	}
	return filepath.Join(folder, name)
}

// really is where a path leads, letter case folded where the system does.
func really(path string) string {
	return folded(followed(path))
}

func folded(path string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(path)
	}
	return path
}

// followed is a path with its links followed, as far as it exists: also one that
// leads to nothing yet, where a write would make a file.
func followed(path string) string {
	if real := fence.Resolve(path); real != path {
		return real
	}
	// What fences do not take for a path, they do not follow either.
	rest := ""
	for at := path; ; {
		if found, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(found, rest)
		}
		up := filepath.Dir(at)
		if up == at {
			return path
		}
		rest, at = filepath.Join(filepath.Base(at), rest), up
	}
}
