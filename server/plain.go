package server

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/server/conversation"
	"sallyport/server/wire"
	"sallyport/workspace"
	"sallyport/workspace/text"
)

// say shows one sentence by window/showMessage. It has one line: Helix drops
// line ends and shows what fits into one line, Neovim stops and waits for Enter
// after a second.
func (c *client) say(kind protocol.MessageType, s string) {
	raw, err := protocol.Marshal(&protocol.ShowMessageParams{Type: kind, Message: s})
	if err != nil {
		c.log.Error("bug: encoding a message", "error", err)
		return
	}
	c.notify("window/showMessage", rpc.RawJSON(raw))
}

// choose asks by window/showMessageRequest and returns the index of the
// picked title; -1 when the user picked none.
func (c *client) choose(ctx context.Context, kind protocol.MessageType, message string, titles []string) (int, error) {
	p := protocol.ShowMessageRequestParams{Type: kind, Message: message}
	for _, t := range titles {
		p.Actions = append(p.Actions, protocol.MessageActionItem{Title: t})
	}
	raw, err := protocol.Marshal(&p)
	if err != nil {
		return -1, fmt.Errorf("encoding a question: %w", err)
	}
	var picked *struct {
		Title string `json:"title"`
	}
	if err := c.call(ctx, "window/showMessageRequest", rpc.RawJSON(raw), &picked); err != nil {
		return -1, err
	}
	if picked != nil {
		for i, t := range titles {
			if t == picked.Title {
				return i, nil
			}
		}
		c.log.Warn("the editor picked an answer that was not offered")
	}
	return -1, nil
}

// distinct are the titles of a card's options, in the agent's order. Equal
// ones get a number: a plain editor answers with the title alone.
func distinct(options []permit.Option) []string {
	titles := make([]string, len(options))
	seen := map[string]bool{}
	for i, o := range options {
		name := strings.TrimSpace(text.Visible(o.Name))
		if name == "" {
			name = text.Visible(o.ID)
		}
		title := name
		for n := 2; seen[title]; n++ {
			title = fmt.Sprintf("%s (%d)", name, n)
		}
		seen[title] = true
		titles[i] = title
	}
	return titles
}

// withHint puts what to do behind a sentence, on the same line.
func withHint(s, hint string) string {
	if hint == "" {
		return s
	}
	return s + " (hint: " + text.Visible(hint) + ")"
}

// places are the files that a card is about.
func places(card *permit.Card) (all []string) {
	seen := map[string]bool{}
	for _, d := range card.Diffs {
		if !seen[d.Path] {
			seen[d.Path] = true
			all = append(all, "changes "+text.Visible(d.Path))
		}
	}
	for _, p := range card.Paths {
		if !seen[p] {
			seen[p] = true
			all = append(all, text.Visible(p))
		}
	}
	return all
}

// plainAsk asks by window/showMessageRequest or a code action; an error is a
// refusal.
func (d display) plainAsk(ctx context.Context, card *permit.Card) (permit.Answer, error) {
	if log := d.book.of(card.Session); log != nil {
		log.Note("Permission asked", card.Title)
		for _, x := range card.Diffs {
			log.Diff(x.Path, x.Old, x.New)
		}
	}
	d.talks.say(card.Session, "waiting for your answer")
	i, err := d.decide(ctx, question{
		id: card.ID, lead: "the agent asks: ", title: text.Visible(card.Title) + asksBecause(card), places: places(card), answers: distinct(card.Options),
	})
	if err != nil || i < 0 {
		return permit.Answer{}, err
	}
	return permit.Answer{Option: card.Options[i].ID}, nil
}

// asksBecause is why a person is asked, behind what is asked.
func asksBecause(card *permit.Card) string {
	if card.Reason == "" {
		return ""
	}
	return " (you are asked because " + text.Visible(card.Reason) + ")"
}

// plainSettled notes how a permission ended.
func (d display) plainSettled(card *permit.Card, o permit.Outcome) {
	log := d.book.of(card.Session)
	if log == nil {
		return
	}
	word := "Refused"
	if o.Allowed {
		word = "Allowed"
	}
	about := card.Title
	switch {
	case o.Name != "" && o.Why != "":
		about += " (" + o.Name + ": " + o.Why + ")"
	case o.Name+o.Why != "":
		about += " (" + o.Name + o.Why + ")"
	}
	log.Note(word+" by "+string(o.By), about)
}

// plainNotice shows a notice and notes it. That an agent starts is said by the
// progress already, where there is one.
func (d display) plainNotice(n bridge.Notice) {
	if n.Kind == bridge.NoticeStarting && d.able.progress {
		return
	}
	s := text.Visible(n.Text)
	if n.Kind == bridge.NoticeTurn { // the conversation lists them all
		if strings.HasPrefix(n.Hint, "take it back") {
			n.Hint = "a code action or the command " + commandUndo + " takes it back"
		}
		n.Paths = nil
	}
	for _, p := range n.Paths {
		if !strings.Contains(n.Text, filepath.Base(p)) {
			s += " " + text.Visible(p)
		}
	}
	quiet := d.talks.progressOf(n.Session)
	if n.Level != bridge.Plain || n.Kind != bridge.NoticeVerifier && n.Kind != bridge.NoticePosture {
		quiet = nil
	}
	if quiet != nil { // good news needs no Enter of the user's
		quiet.report(s)
	}
	if quiet != nil && n.Kind == bridge.NoticeVerifier { // the conversation has the verdicts
		return
	}
	s = withHint(s, n.Hint)
	if quiet == nil {
		d.say(messageType(n.Level), "Sallyport: "+s)
	}
	if log := d.book.of(n.Session); log != nil {
		log.Note("Notice", s)
	}
}

func messageType(l bridge.Level) protocol.MessageType {
	switch l {
	case bridge.Problem:
		return protocol.MessageTypeError
	case bridge.Warning:
		return protocol.MessageTypeWarning
	default: // bridge.Info, and levels that do not exist yet
		return protocol.MessageTypeInfo
	}
}

// plainUpdate notes an update and moves the progress on.
func (d display) plainUpdate(u bridge.Update) {
	log := d.book.of(u.Session)
	if log == nil && conversation.Shows(u.Kind) {
		log = d.book.open(u.Session, "") // before the session has its heading
	}
	if log != nil {
		log.Update(u.Kind, u.Replay, u.Raw)
	}
	d.talks.report(u)
}

// plainUnsaved asks about unsaved documents. LSP cannot save them.
func (d display) plainUnsaved(ctx context.Context, docs []workspace.Document) (bridge.UnsavedChoice, error) {
	const most = 10
	var b strings.Builder
	b.WriteString("Sallyport: the agent reads files from the disk, and these have unsaved changes:")
	for i, doc := range docs {
		if i == most {
			fmt.Fprintf(&b, "\nand %d more", len(docs)-most)
			break
		}
		name := doc.URI
		if doc.Path != "" {
			name = filepath.Base(doc.Path)
		}
		b.WriteString("\n" + text.Visible(name))
	}
	choices := unsavedChoices(d.able.has(wire.FeatureApply))
	titles := make([]string, len(choices))
	for i, x := range choices {
		titles[i] = x.Name
	}
	i, err := d.choose(ctx, protocol.MessageTypeWarning, b.String(), titles)
	if err != nil || i < 0 {
		return bridge.UnsavedSend, ctx.Err()
	}
	return choices[i].ID, nil
}
