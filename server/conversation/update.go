package conversation

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/workspace/text"
)

// maxCalls bounds the tool calls that are remembered for their titles.
const maxCalls = 1000

// update is what this document shows of an ACP session/update, of any kind.
type update struct {
	Content jsontext.Value `json:"content"` // one block in chunks, a list in tool calls
	ID      string         `json:"toolCallId"`
	Title   string         `json:"title"`
	Kind    string         `json:"kind"`
	Status  string         `json:"status"`
	Entries []entry        `json:"entries"`
	Mode    string         `json:"currentModeId"`
}

// entry is one step of a plan.
type entry struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// block is an ACP content block, as far as it can be shown.
type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Resource struct {
		URI string `json:"uri"`
	} `json:"resource"`
}

// item is one piece of a tool call's content.
type item struct {
	Type    string  `json:"type"`
	Content *block  `json:"content"`
	Path    string  `json:"path"`
	Old     *string `json:"oldText"`
	New     string  `json:"newText"`
}

// call is what is known of a tool call.
type call struct {
	title, status string
	diffs         int // of its diffs, those already shown
}

// tolerant reads what an agent sent: it was let through by the bridge, so
// nothing in it is worth losing the rest for.
var tolerant = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// Shows reports whether updates of a kind leave anything in the document.
func Shows(kind string) bool {
	switch kind {
	case "user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update",
		"plan", "current_mode_update":
		return true
	default:
		return false
	}
}

// Update shows one ACP update. What cannot be read or is of an unknown kind
// is left out.
func (l *Log) Update(kind string, replay bool, raw jsontext.Value) {
	var u update
	if err := json.Unmarshal(raw, &u, tolerant); err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch kind {
	case "user_message_chunk":
		if replay { // else it is the prompt's echo
			l.page.say(user, spoken(u.Content))
		}
	case "agent_message_chunk":
		l.page.say(agent, spoken(u.Content))
	case "agent_thought_chunk":
		l.page.say(thought, spoken(u.Content))
	case "tool_call", "tool_call_update":
		l.toolCallLocked(u)
	case "plan":
		l.planLocked(u.Entries)
	case "current_mode_update":
		l.page.line("The agent's mode is now %s.", span(u.Mode))
	}
}

// spoken is the text of a chunk's content, with other things named.
func spoken(raw jsontext.Value) string {
	var b block
	if err := json.Unmarshal(raw, &b, tolerant); err != nil {
		return ""
	}
	switch b.Type {
	case "text":
		return b.Text
	case "resource_link":
		return fmt.Sprintf("[%s](%s)", b.Name, b.URI)
	case "resource":
		return "(" + b.Resource.URI + ")"
	default:
		return "(" + b.Type + ")"
	}
}

// toolCallLocked shows a call when it is first seen, its diffs when they come
// and its end.
func (l *Log) toolCallLocked(u update) {
	c, seen := l.calls[u.ID]
	if !seen {
		if len(l.calls) >= maxCalls {
			clear(l.calls)
		}
		c = &call{}
		l.calls[u.ID] = c
	}
	if u.Title != "" && u.Title != c.title {
		c.title = u.Title
		kind := ""
		if u.Kind != "" {
			kind = " (" + span(u.Kind) + ")"
		}
		l.page.line("**Tool** %s%s", span(u.Title), kind)
	}
	var items []item
	_ = json.Unmarshal(u.Content, &items, tolerant)
	done := u.Status != c.status && (u.Status == "completed" || u.Status == "failed")
	diffs := 0
	for _, it := range items {
		switch {
		case it.Type == "diff":
			if diffs++; diffs > c.diffs {
				c.diffs = diffs
				l.diffLocked(it)
			}
		case done && it.Content != nil && it.Content.Type == "text" && it.Content.Text != "":
			l.page.fence("", it.Content.Text)
		}
	}
	if done {
		l.page.line("**Tool** %s: %s", span(c.title), u.Status)
	}
	if u.Status != "" {
		c.status = u.Status
	}
}

func (l *Log) diffLocked(it item) {
	old := ""
	if it.Old != nil {
		old = *it.Old
	}
	l.page.fence("diff", text.Unified(it.Path, old, it.New))
}

func (l *Log) planLocked(entries []entry) {
	if len(entries) == 0 {
		return
	}
	var b strings.Builder
	b.WriteString("**Plan**\n\n")
	for _, e := range entries {
		box, tail := " ", ""
		switch e.Status {
		case "completed":
			box = "x"
		case "in_progress":
			tail = " (now)"
		}
		fmt.Fprintf(&b, "- [%s] %s%s\n", box, span(e.Content), tail)
	}
	l.page.line("%s", strings.TrimSuffix(b.String(), "\n"))
}
