package bridge

import (
	"bytes"
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/workspace"
)

// Display is where a person sees what an agent does. The editors' side (LSP),
// the ACP facade and the terminal implement it. Update is called on the
// agent's read loop in wire order and may block: that is how a slow editor
// slows the agent; it gives up when its ctx ends. The other methods never block
// for long, except Ask, which waits for a person on a goroutine of its own until
// its ctx ends. None may wait for a call of the Bridge.
type Display interface {
	// Update shows one session/update.
	Update(ctx context.Context, u Update)
	// Notice tells the user what we did or could not do.
	Notice(n Notice)
	// Ask puts a card in front of the user and waits. When ctx ends the card
	// is withdrawn, and whatever is clicked later does nothing.
	Ask(ctx context.Context, c *permit.Card) (permit.Answer, error)
	// Settled closes a card, or records one that never needed a person.
	Settled(c *permit.Card, o permit.Outcome)
}

// Early is a Display that can show a card while it is still being decided.
type Early interface {
	// Show puts a card on the screen and returns at once. Nobody is called: no
	// window, no sound, until Shown.Call. The card is not changed any more. nil: it
	// cannot be shown so now, and Ask gets it once it needs a person.
	Show(ctx context.Context, c *permit.Card) permit.Shown
}

// Flusher is a Display that may gather updates. Flush is called when an agent
// has nothing more to say for now, so that a burst costs one write. Its Update is
// called once for updates that are alike.
type Flusher interface{ Flush() }

// Elicitor is a Display that can show an agent's form or link
// (elicitation/create). One that is not an Elicitor declines.
type Elicitor interface {
	Elicit(ctx context.Context, session string, params jsontext.Value) (jsontext.Value, error)
}

// UnsavedAsker is a Display that can ask what to do with unsaved documents
// before a prompt, once a session. Where it is missing they are sent along.
type UnsavedAsker interface {
	AskUnsaved(ctx context.Context, session string, docs []workspace.Document) (UnsavedChoice, error)
}

// UnsavedChoice says what happens to unsaved documents in the region before a
// prompt, so that an agent that reads the disk does not work on stale text.
type UnsavedChoice string

// The choices of setting `unsaved`; UnsavedAsk is no answer to the question.
const (
	UnsavedAsk   UnsavedChoice = "ask"
	UnsavedSave  UnsavedChoice = "save"
	UnsavedSend  UnsavedChoice = "send"
	UnsavedLeave UnsavedChoice = "leave"
)

// Update is one session/update of an agent. Raw is the agent's `update`
// object, byte for byte, borrowed until the call returns.
type Update struct {
	Session string
	Turn    string // empty outside a turn
	Kind    string // the value of sessionUpdate, known or not
	Replay  bool   // history told by session/load: never action
	Raw     jsontext.Value
	From    Original // the whole message; none of an agent's when we made the update
}

// EachAlike calls fn with the Raw of each update of From.Alike, which are to be shown
// behind this one as if Update were called for each.
func (u Update) EachAlike(fn func(raw jsontext.Value)) {
	if len(u.From.Alike) == 0 {
		return
	}
	at := rpc.OffsetIn(u.From.Frame, u.Raw)
	behind := len(u.From.Frame) - at - len(u.Raw) + len("\n")
	for line := range bytes.Lines(u.From.Alike) {
		fn(line[at : len(line)-behind])
	}
}

// Notice is one sentence to the user, with what to do about it.
type Notice struct {
	Session string     `json:"sessionId,omitzero"`
	Turn    string     `json:"turnId,omitzero"`
	Kind    NoticeKind `json:"kind"`
	Level   Level      `json:"level"`
	Text    string     `json:"text"`
	Hint    string     `json:"hint,omitzero"`
	Paths   []string   `json:"paths,omitzero"`
}

// Level is how loud a notice is.
type Level string

// The levels, as window/showMessage has them.
const (
	Plain   Level = "info"
	Warning Level = "warning"
	Problem Level = "error"
)

// NoticeKind says what a notice is about; a client may show kinds in its own
// way and must show one it does not know as plain text.
type NoticeKind string

// The kinds.
const (
	NoticeRefused   NoticeKind = "refused"   // a fence refused an access
	NoticeDirect    NoticeKind = "direct"    // the agent used its own tools past us
	NoticePosture   NoticeKind = "posture"   // what holds has changed
	NoticeUnsaved   NoticeKind = "unsaved"   // which unsaved text was passed on, and which not
	NoticeConflict  NoticeKind = "conflict"  // agent and user changed the same lines
	NoticeGone      NoticeKind = "gone"      // the agent ended
	NoticeNew       NoticeKind = "new"       // the context is new: the agent forgot the conversation
	NoticeAuth      NoticeKind = "auth"      // the agent wants a sign-in; Hint is the exact command
	NoticeStarting  NoticeKind = "starting"  // an agent is being started
	NoticeConfig    NoticeKind = "config"    // a configuration file is broken or loosened
	NoticeCancelled NoticeKind = "cancelled" // what a cancel did
	NoticeDisk      NoticeKind = "disk"      // the file of an open document was written past the editor, and not simply loaded
	NoticeTurn      NoticeKind = "turn"      // what a turn changed; Hint is how to take it back
	NoticeUncovered NoticeKind = "uncovered" // what cannot be taken back, and why
	NoticeVerifier  NoticeKind = "verifier"  // a check runs, or has ended
	NoticeTaint     NoticeKind = "taint"     // untrusted content came in, or its mark was cleared
	NoticeRule      NoticeKind = "rule"      // an answer was kept as a rule; Hint is how to take it back
)
