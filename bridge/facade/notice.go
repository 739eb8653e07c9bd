package facade

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/workspace/text"
)

// Notice tells the client's user what we did or could not do, as a message of the
// agent that is marked as ours. What is about no session goes to the log, which
// clients show; what only says that all is well is not told.
func (d display) Notice(n bridge.Notice) {
	if !worthTelling(n) {
		return
	}
	if n.Session == "" {
		d.log.Warn("notice", "kind", n.Kind, "text", n.Text, "hint", n.Hint)
		return
	}
	e := d.table.of(n.Session)
	if e == nil {
		d.table.keep(n)
		return
	}
	d.notice(e, n)
}

// worthTelling leaves out what a client's user sees anyway, or what changes
// nothing for him.
func worthTelling(n bridge.Notice) bool {
	if n.Level != bridge.Plain {
		return true
	}
	switch n.Kind {
	case bridge.NoticeStarting, bridge.NoticePosture, bridge.NoticeUnsaved:
		return false
	default:
		return true
	}
}

// notice is Notice for a session that the client knows.
func (c *client) notice(e *entry, n bridge.Notice) {
	words := "Sallyport: " + n.Text
	hint := n.Hint
	switch {
	case n.Kind == bridge.NoticeTurn && strings.Contains(hint, "sallyport undo"):
		hint = "take it back: " + e.ownName("undo")
	case n.Kind == bridge.NoticeTaint && hint != "": // a client has no way to clear the mark
		hint = "begin a new session when you have looked at it"
	}
	if hint != "" {
		words += "\n" + hint
	}
	c.say(e, quoted(words), n)
}

// quoted is a text as a Markdown quotation of its own.
func quoted(s string) string {
	return "\n\n> " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n> ") + "\n\n"
}

// The session/update messages that we author (ACP v1, SessionNotification).
type (
	updateParams struct {
		Session string `json:"sessionId"`
		Update  any    `json:"update"`
	}
	messageChunk struct {
		Kind    string    `json:"sessionUpdate"`
		Content textBlock `json:"content"`
		Meta    any       `json:"_meta"`
	}
	marked struct {
		Sallyport any `json:"sallyport"`
	}
)

// say sends a text as a message of the agent; about goes into its mark.
func (c *client) say(e *entry, words string, about any) {
	c.update(e, messageChunk{Kind: "agent_message_chunk", Content: textBlock{"text", visibleText(words)}, Meta: marked{about}})
}

// visibleText is a text in which nothing acts on a screen.
func visibleText(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = text.Visible(line)
	}
	return strings.Join(lines, "\n")
}

// update sends a session/update of ours.
func (c *client) update(e *entry, u any) {
	raw, err := json.Marshal(updateParams{e.id, u}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		c.log.Error("encoding an update", "error", err) // a bug
		return
	}
	if err := c.conn.Notify("session/update", jsontext.Value(raw)); err != nil {
		c.log.Debug("an update did not reach the client", "error", err)
	}
}
