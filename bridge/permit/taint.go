package permit

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
	"sallyport/workspace/text"
)

// Mark is one source of untrusted content that a session has taken in. It names
// the source, never what came from it.
type Mark struct {
	Kind   MarkKind  `json:"kind"`
	Source string    `json:"source"` // a host, a server's name or a path, controls made visible
	Time   time.Time `json:"time"`
}

// MarkKind says how the content came in.
type MarkKind string

// The kinds of marks.
const (
	MarkFetch  MarkKind = "fetch"   // a page, or a search; Source is the host
	MarkMCP    MarkKind = "mcp"     // a result of an MCP tool; Source is the server
	MarkRead   MarkKind = "outside" // a file outside the project; Source is its path
	MarkMarked MarkKind = "marked"  // what the user calls untrusted; Source is its path or host
)

// maxMarks is how many sources of one session are kept; more change nothing.
const maxMarks = 200

// maxCallID is the longest id of a call that is remembered with a mark.
const maxCallID = 256

// Taint is what one session has taken in from where nobody vouches for it. The
// fields are set before the first use. The zero value trusts the project alone,
// which is nothing without a Place. Methods are safe for concurrent use.
type Taint struct {
	Place Place
	Tools map[string]string // the harness's acp.tools
	// Untrusted reports whether the user calls a path or a URL untrusted; nil: none.
	Untrusted func(name string) bool
	// New is told of each new mark, with nothing locked; may be nil.
	New func(m Mark, first bool)

	mu    sync.Mutex
	marks []mark
}

// mark is a Mark and how sure it is that the content is in.
type mark struct {
	Mark
	call    string // that brings it in, while it runs
	settled bool   // it came, or was allowed to come
}

// Call takes in a tool call as it stands. A call that runs counts as one that
// has brought its content in, but not against itself: an agent may say
// "in progress" before it asks.
func (t *Taint) Call(c *Call) {
	switch c.Status {
	case "completed":
		t.add("", t.sourcesOf(c)...)
	case "in_progress":
		t.add(c.ID, t.sourcesOf(c)...)
	}
}

// Left takes in a call that the turn's end found without an end: it may have
// brought in all that it was for.
func (t *Taint) Left(c *Call) { t.add("", t.sourcesOf(c)...) }

// Allowed takes in a card that was allowed: from now on its content may flow.
func (t *Taint) Allowed(c *Card) {
	t.add("", t.sources(c.Request.Kind, c.Request.Tool, c.Request.Input, c.Paths)...)
}

// Read takes in a read that passed through us.
func (t *Taint) Read(path string) { t.add("", t.files([]string{path})...) }

// Passed takes in what goes along with a prompt, by its URI: only the user's own
// word makes it untrusted.
func (t *Taint) Passed(uri string) {
	if m, ok := t.marked(uri); ok {
		t.add("", m)
	}
}

// Marks lists what was taken in, in order.
func (t *Taint) Marks() []Mark {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]Mark, len(t.marks))
	for i, m := range t.marks {
		all[i] = m.Mark
	}
	return all
}

// Clear takes every mark off: the user's word.
func (t *Taint) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.marks = nil
}

func (t *Taint) add(call string, marks ...Mark) {
	if len(call) > maxCallID {
		call = ""
	}
	for _, m := range marks {
		t.mu.Lock()
		first, isNew := len(t.marks) == 0, t.putLocked(m, call)
		t.mu.Unlock()
		if isNew && t.New != nil {
			t.New(m, first)
		}
	}
}

func (t *Taint) putLocked(m Mark, call string) (isNew bool) {
	for i := range t.marks {
		if own := &t.marks[i]; own.Kind == m.Kind && own.Source == m.Source {
			own.settled = own.settled || call == "" || call != own.call
			return false
		}
	}
	if len(t.marks) >= maxMarks {
		return false
	}
	m.Time = time.Now().UTC()
	t.marks = append(t.marks, mark{m, call, call == ""})
	return true
}

// bringsNothing reports whether calls of an ACP kind mark no session, unless they
// are those of an MCP server.
func bringsNothing(kind string) bool {
	return kind == "edit" || kind == "delete" || kind == "move" || kind == "execute"
}

func (t *Taint) sourcesOf(c *Call) []Mark {
	tool := toolOf(c, t.Tools)
	if own, known := claudeName(c.ToolName); known && KindOf(tool) == Tool {
		tool = own
	}
	return t.sources(KindOf(tool), tool, c.Input, c.Paths())
}

// sources are what an act of a kind brings in, of its tool's name, its input and
// the files that it names.
func (t *Taint) sources(kind Kind, tool string, input jsontext.Value, paths []string) []Mark {
	switch kind {
	case Fetch:
		return t.pages(tool, input)
	case MCP:
		server, _, _ := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__")
		return []Mark{{Kind: MarkMCP, Source: shown(server)}}
	case Read:
		return t.files(paths)
	case Tool:
		if tool == "Delete" || tool == "Move" {
			return nil
		}
		marks := t.files(paths) // it may read what it names
		for _, u := range addresses(input) {
			marks = append(marks, t.page(u))
		}
		return marks
	default:
		return nil
	}
}

// pages are the hosts that a fetch names; one that names none is untrusted all
// the same.
func (t *Taint) pages(tool string, input jsontext.Value) (marks []Mark) {
	for _, u := range addresses(input) {
		marks = append(marks, t.page(u))
	}
	if len(marks) == 0 {
		source := "a page"
		if tool == "WebSearch" {
			source = "a search"
		}
		marks = append(marks, Mark{Kind: MarkFetch, Source: source})
	}
	return marks
}

func (t *Taint) page(u *url.URL) Mark {
	if m, ok := t.marked(u.String()); ok {
		return m
	}
	host := u.Hostname()
	if host == "" {
		host = u.Scheme
	}
	return Mark{Kind: MarkFetch, Source: shown(host)}
}

// addresses are the web addresses in a tool's input: in the members that agents
// use for them, and as words of a prompt.
func addresses(input jsontext.Value) (all []*url.URL) {
	add := func(value []byte) {
		for word := range strings.FieldsSeq(str(value)) {
			if u, err := url.Parse(strings.Trim(word, `"'<>()[],.`)); err == nil && u.Scheme != "" && u.Host != "" && len(all) < maxMarks {
				all = append(all, u)
			}
		}
	}
	_ = rpc.Members(input, func(key, value []byte) bool { // not an object: names nothing
		switch string(key) {
		case "url", "uri", "href", "link", "query", "prompt":
			add(value)
		case "urls", "uris":
			EachElement(value, add)
		}
		return true
	})
	return all
}

func (t *Taint) files(paths []string) (marks []Mark) {
	for _, name := range paths {
		if m, ok := t.marked(name); ok {
			marks = append(marks, m)
			continue
		}
		if path, ok := t.Place.resolve(name); ok && !t.Place.inside(path) {
			marks = append(marks, Mark{Kind: MarkRead, Source: shown(filepath.Clean(path))})
		}
	}
	return marks
}

// marked is the mark for what the user calls untrusted.
func (t *Taint) marked(name string) (Mark, bool) {
	if t.Untrusted == nil {
		return Mark{}, false
	}
	if u, err := url.Parse(name); err == nil && u.Host != "" && u.Scheme != "file" {
		return Mark{Kind: MarkMarked, Source: shown(u.Hostname())}, t.Untrusted(name)
	}
	path, ok := t.Place.resolve(name)
	if !ok {
		return Mark{}, false
	}
	path = filepath.Clean(path)
	return Mark{Kind: MarkMarked, Source: shown(path)}, t.Untrusted(path)
}

// shown is a source as it may be shown and kept.
func shown(source string) string {
	source, _ = cutText(text.Visible(source), 1024)
	return source
}

// Gate is the taint gate: while the session is marked nothing is allowed
// automatically for commands, fetches, MCP tools, what cannot be classified, and
// reserved or outside paths; the user is asked, with the reason. It is a Judge.
func (t *Taint) Gate(_ context.Context, c *Card) Verdict {
	why := t.Why(textMember(c.Raw, "toolCallId"))
	if why == "" || !t.Place.gated(c) {
		return Verdict{}
	}
	return Verdict{Say: AskUser, By: ByTaint, Name: "taint", Why: why}
}

// Why says what the session is marked with, "" when it is not. What the call
// with an id may itself be bringing in does not count.
func (t *Taint) Why(call string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var first *mark
	n := 0
	for i := range t.marks {
		if m := &t.marks[i]; m.settled || m.call != call || call == "" {
			if n++; first == nil {
				first = m
			}
		}
	}
	if first == nil {
		return ""
	}
	return "the session has taken in untrusted content (" + first.String() + more(n-1) + "), so this is not allowed automatically"
}

// String is the mark for a person.
func (m Mark) String() string {
	switch m.Kind {
	case MarkFetch:
		return "fetched: " + m.Source
	case MarkMCP:
		return "from MCP server " + m.Source
	case MarkRead:
		return "read outside the project: " + m.Source
	case MarkMarked:
		return "marked as untrusted: " + m.Source
	default:
		return m.Source
	}
}
