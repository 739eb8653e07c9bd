package permit

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

// Bounds of what is remembered of one session's tool calls.
const (
	MaxOpenCalls = 1024    // more open calls: the oldest is forgotten
	MaxCallBytes = 8 << 20 // more bytes in open calls: the oldest diffs, then inputs, then calls are forgotten
)

// Calls is the table of a session's open tool calls. A call enters it when it
// is announced, or with a permission request, which may be the first sight of
// it; it leaves at its final status. The zero value is ready; methods are safe
// for concurrent use.
type Calls struct {
	mu    sync.Mutex
	open  map[string]*openCall
	seq   uint64 // of the youngest call
	bytes int    // sum of sizes
}

type openCall struct {
	Call
	seq  uint64
	size int
}

// Merge takes in one update whose sessionUpdate is kind (tool_call or
// tool_call_update; others are ignored). raw is borrowed. It reports whether
// the call is known: an update for one that was never announced changes
// nothing. The cost is one scan of raw; texts of diffs are copied, not decoded.
func (t *Calls) Merge(kind string, raw jsontext.Value) (known bool) {
	f, ok := scanFields(raw)
	if !ok || kind != "tool_call" && kind != "tool_call_update" {
		return false
	}
	_, known, _ = t.merge(&f, kind == "tool_call", false)
	return known
}

// Learn is Merge for an update whose members are known already: each gives them,
// borrowed, as rpc.Members does. It also gives the call, without its contents,
// when the update tells of work that runs or was done, or of what that is for, and
// such work may bring content in: what only changes files or runs is not given. An
// update for a call that was never announced gives what it says itself.
func (t *Calls) Learn(kind string, each func(fn func(key, value []byte) bool) error) (c Call, told bool) {
	announces := kind == "tool_call"
	if !announces && kind != "tool_call_update" {
		return Call{}, false
	}
	f, ok := readFields(each)
	if !ok {
		return Call{}, false
	}
	c, known, told := t.merge(&f, announces, true)
	if !known && !told {
		e := openCall{Call: Call{ID: string(f.id)}}
		e.merge(&f)
		return e.told(&f)
	}
	return c, told
}

// told gives the call, without its contents, when f says something new of work
// that may bring content in.
func (e *openCall) told(f *fields) (Call, bool) {
	if e.Status != "in_progress" && e.Status != "completed" || null(f.status) && null(f.input) && null(f.locations) && null(f.kind) {
		return Call{}, false
	}
	if bringsNothing(e.Kind) { // so often that it is not worth a copy
		if _, mcp := mcpName(&e.Call); !mcp {
			return Call{}, false
		}
	}
	c := e.Call
	c.Content, c.Input, c.Locations = nil, bytes.Clone(e.Input), e.Paths()
	return c, true
}

func (t *Calls) merge(f *fields, announces, tell bool) (c Call, known, told bool) {
	if len(f.id) == 0 {
		return Call{}, false, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e, known := t.mergeLocked(f, announces)
	if e != nil && tell {
		c, told = e.told(f)
	}
	return c, known, told
}

// Request takes in the toolCall of a permission request and returns all that
// is known of the call now. The result shares nothing with raw or the table.
func (t *Calls) Request(raw jsontext.Value) (Call, error) {
	f, ok := scanFields(raw)
	if !ok {
		return Call{}, errNoCall
	}
	if len(f.id) == 0 { // cannot be remembered, can be asked
		e := &openCall{}
		e.merge(&f)
		return e.Call.clone(), nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e, _ := t.mergeLocked(&f, true)
	return e.Call.clone(), nil
}

// Open lists the calls without a final status, oldest first, without their
// contents: the turn's end closes what the agent left open. Locations are all
// the files that a call names.
func (t *Calls) Open() []Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	entries := make([]*openCall, 0, len(t.open))
	for _, e := range t.open {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b *openCall) int { return int(a.seq) - int(b.seq) })
	all := make([]Call, len(entries))
	for i, e := range entries {
		all[i] = e.Call
		all[i].Input, all[i].Content = bytes.Clone(e.Input), nil
		all[i].Locations = e.Paths()
	}
	return all
}

// Clear forgets every call. Its place is the end of a turn, after Open.
func (t *Calls) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open, t.bytes = nil, 0
}

// mergeLocked returns the call that f belongs to, nil when it is unknown and f
// does not announce it. A call that has ended is returned but no longer kept.
func (t *Calls) mergeLocked(f *fields, announces bool) (*openCall, bool) {
	id := f.id
	e, known := t.open[string(id)]
	if !known {
		if !announces {
			return nil, false
		}
		t.seq++
		e = &openCall{seq: t.seq}
		e.ID = string(id)
	}
	t.bytes -= e.size
	e.merge(f)
	if e.Final() {
		e.size = 0
		delete(t.open, e.ID)
		return e, true
	}
	if !known {
		if t.open == nil {
			t.open = make(map[string]*openCall)
		}
		t.open[e.ID] = e
	}
	e.size = e.weigh()
	t.bytes += e.size
	t.trimLocked(e)
	return e, true
}

// trimLocked keeps the table within its bounds; keep is the call just merged.
func (t *Calls) trimLocked(keep *openCall) {
	for len(t.open) > MaxOpenCalls {
		t.forgetLocked(t.oldestLocked(func(e *openCall) bool { return e != keep }))
	}
	for t.bytes > MaxCallBytes {
		e := t.oldestLocked(func(e *openCall) bool { return len(e.Content)+len(e.Input) > 0 })
		if e == nil {
			if e = t.oldestLocked(func(*openCall) bool { return true }); e == nil {
				return
			}
			t.forgetLocked(e)
			continue
		}
		t.bytes -= e.size
		e.lighten()
		e.size = e.weigh()
		t.bytes += e.size
	}
}

func (t *Calls) forgetLocked(e *openCall) {
	delete(t.open, e.ID)
	t.bytes -= e.size
}

func (t *Calls) oldestLocked(ok func(*openCall) bool) *openCall {
	var oldest *openCall
	for _, e := range t.open {
		if ok(e) && (oldest == nil || e.seq < oldest.seq) {
			oldest = e
		}
	}
	return oldest
}

// weigh is the call's part of MaxCallBytes, with what the table itself needs.
func (e *openCall) weigh() int {
	n := 256 + 2*len(e.ID) + len(e.Kind) + len(e.Title) + len(e.ToolName) + len(e.Status)
	for _, p := range e.Locations {
		n += 16 + len(p)
	}
	return n + len(e.Input) + len(e.Content)
}

// lighten drops texts of the call but keeps every path in them, so that a fence
// and a mode still see all that the call names.
func (e *openCall) lighten() {
	paths := e.Paths()
	if len(e.Content) > 0 {
		e.Content = nil
	} else {
		e.Input = nil
	}
	e.Locations = paths
}

func (e *openCall) merge(f *fields) {
	if string(f.kind) != `"other"` || e.Kind == "" { // that takes nothing back of what was said before
		setText(&e.Kind, f.kind)
	}
	setText(&e.Title, f.title)
	setText(&e.Status, f.status)
	if name := f.toolName(); name != "" {
		e.ToolName = name
	}
	if !null(f.input) {
		e.Input = append(e.Input[:0], inputObject(f.input)...)
	}
	if !null(f.locations) {
		e.Locations = readLocations(f.locations)
	}
	if !null(f.content) {
		// A diff is of use to a card; other contents only flow to the editor.
		e.Content = e.Content[:0]
		if bytes.Contains(f.content, []byte(`"diff"`)) {
			e.Content = append(e.Content, f.content...)
		}
	}
}

// inputObject is a raw input as the object that it is: vibe writes one into a text.
func inputObject(input []byte) []byte {
	if input[0] != '"' {
		return input
	}
	if object := jsontext.Value(str(input)); object.Kind() == '{' && object.IsValid() {
		return object
	}
	return input
}

// setText replaces a text that was said, without a copy when it is the same.
func setText(dst *string, value []byte) {
	if null(value) {
		return
	}
	if n := len(value); n == len(*dst)+2 && string(value[1:n-1]) == *dst && strings.IndexByte(*dst, '\\') < 0 {
		return
	}
	*dst = str(value)
}

func readLocations(array []byte) []string {
	var all []string
	EachElement(array, func(item []byte) { all = appendPath(all, textMember(item, "path")) })
	return all
}

func (c *Call) clone() Call {
	d := *c
	d.Input, d.Content = bytes.Clone(c.Input), bytes.Clone(c.Content)
	d.Locations = slices.Clone(c.Locations)
	return d
}

// fields are the members of a tool call as they stand, borrowed.
type fields struct {
	id                              []byte // unquoted
	kind, title, status, name       []byte
	input, locations, content, meta []byte
}

func scanFields(raw []byte) (fields, bool) {
	return readFields(func(fn func(key, value []byte) bool) error { return rpc.Members(raw, fn) })
}

// readFields reads the members that each gives.
func readFields(each func(fn func(key, value []byte) bool) error) (f fields, ok bool) {
	err := each(func(key, value []byte) bool {
		switch string(key) {
		case "toolCallId":
			f.id = value
		case "kind":
			f.kind = value
		case "title":
			f.title = value
		case "status":
			f.status = value
		case "name":
			f.name = value
		case "rawInput":
			f.input = value
		case "locations":
			f.locations = value
		case "content":
			f.content = value
		case "_meta":
			f.meta = value
		}
		return true
	})
	if err != nil {
		return fields{}, false
	}
	if n := len(f.id); n < 2 || f.id[0] != '"' {
		f.id = nil
	} else if bytes.IndexByte(f.id, '\\') < 0 {
		f.id = f.id[1 : n-1]
	} else {
		f.id = []byte(str(f.id))
	}
	return f, true
}

// toolName is the agent's own name of the tool, where agents write it:
// _meta.toolName (qwen), _meta.tool_name (vibe), _meta.<agent>.toolName (claude),
// _meta.<agent>.toolCall.toolName (goose), name (codex-acp).
func (f *fields) toolName() string {
	name := ""
	_ = rpc.Members(f.meta, func(key, value []byte) bool { // not an object: names nothing
		if k := string(key); k == "toolName" || k == "tool_name" {
			name = str(value)
		}
		if len(value) == 0 || value[0] != '{' || name != "" {
			return true
		}
		_ = rpc.Members(value, func(key, value []byte) bool {
			switch string(key) {
			case "toolName":
				name = str(value)
			case "toolCall":
				if n := textMember(value, "toolName"); n != "" {
					name = n
				}
			}
			return true
		})
		return true
	})
	if name == "" {
		name = str(f.name)
	}
	return strings.TrimSpace(name)
}
