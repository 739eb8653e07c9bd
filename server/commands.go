package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/server/wire"
	"sallyport/workspace"
)

// The commands of workspace/executeCommand. All take an object as their only
// argument, or its first field by itself, and answer at once.
const (
	commandAsk     = "sallyport.ask"              // askArgs: one turn
	commandFix     = "sallyport.fix"              // askArgs with diagnostics: one turn
	commandAnswer  = "sallyport.answer"           // answerArgs: a permission that waits
	commandCancel  = "sallyport.cancel"           // folderArgs: the running turn
	commandNew     = "sallyport.newSession"       // newArgs: the next question begins a new session
	commandSetMode = "sallyport.setMode"          // modeArgs: of the session, or of the next one
	commandShow    = "sallyport.showConversation" // folderArgs
	commandUndo    = "sallyport.undo"             // undoArgs: takes a turn back
	commandRedo    = "sallyport.redo"             // undoArgs: does one again that was taken back
	commandTurns   = "sallyport.turns"            // folderArgs: what is on the record
	commandClear   = "sallyport.clearTaint"       // folderArgs: untrusted content was looked at
)

func commandNames() []string {
	return []string{commandAsk, commandFix, commandAnswer, commandCancel, commandNew, commandSetMode, commandShow, commandUndo, commandRedo, commandTurns, commandClear}
}

// folderArgs name a workspace folder, by a file inside it.
type folderArgs struct {
	URI string `json:"uri,omitzero"` // of a document; absent: the first workspace folder
}

// answerArgs answer a permission.
type answerArgs struct {
	Option int    `json:"option"`                // from 1, in the agent's order
	ID     string `json:"permissionId,omitzero"` // absent: the oldest that waits
}

type newArgs struct {
	Agent string `json:"agent,omitzero"` // harness id; absent: as before
	folderArgs
}

type modeArgs struct {
	Mode permit.Mode `json:"mode"`
	folderArgs
}

// command is workspace/executeCommand. Commands take effect in the order in
// which they came, but a cancel and an answer wait for nobody.
func command(c *client, m *rpc.Message) {
	p := new(commandParams)
	if err := decode("workspace/executeCommand", m.Params, p); err != nil {
		c.refuse(m.ID, err)
		return
	}
	id := m.ID
	before, done := c.lastCommand, make(chan struct{})
	if p.Command == commandCancel || p.Command == commandAnswer {
		before = nil
	} else {
		c.lastCommand = done
	}
	started := c.spawn(id, func(ctx context.Context) {
		defer close(done)
		if before != nil {
			select {
			case <-before:
			case <-ctx.Done():
			}
		}
		result, err := executeCommand(ctx, c, p)
		c.reply(ctx, id, result, err)
	})
	if !started {
		close(done)
	}
}

// commandParams are ExecuteCommandParams.
type commandParams struct {
	Command   string           `json:"command"`
	Arguments []jsontext.Value `json:"arguments"`
}

// executeCommand does it.
func executeCommand(ctx context.Context, c *client, p *commandParams) (any, error) {
	var arg jsontext.Value
	if len(p.Arguments) > 0 {
		arg = p.Arguments[0]
	}
	switch p.Command {
	case commandAsk, commandFix:
		return nil, c.commandAsk(ctx, p.Command, arg)
	case commandAnswer:
		return nil, c.commandAnswer(arg)
	case commandCancel:
		return nil, c.commandCancel(arg)
	case commandNew:
		return nil, c.commandNew(ctx, arg)
	case commandSetMode:
		return nil, c.commandSetMode(ctx, arg)
	case commandShow:
		return nil, c.commandShow(ctx, arg)
	case commandUndo, commandRedo:
		return nil, c.commandUndo(arg, p.Command == commandRedo)
	case commandTurns:
		return nil, c.commandTurns(ctx, arg)
	case commandClear:
		return nil, c.commandClear(ctx, arg)
	default:
		return nil, badParams("workspace/executeCommand", "/command", "no command named %q", clip(p.Command))
	}
}

// argument reads a command's argument: an object, or its first field by
// itself, for editors in which a person types it. first is that field.
func argument(raw jsontext.Value, v any, first string) error {
	if len(raw) == 0 || raw.Kind() == 'n' {
		return nil
	}
	if raw.Kind() != '{' {
		raw = jsontext.Value(`{"` + first + `":` + string(raw) + `}`)
	}
	return decode("workspace/executeCommand", raw, v)
}

// folder is the workspace folder that a command means.
func (c *client) folder(uri string) (string, error) {
	path, err := workspace.PathOf(uri)
	if uri != "" && err != nil && !errors.Is(err, workspace.ErrNoPath) {
		return "", badParams("workspace/executeCommand", "/uri", "%v", err)
	}
	if f := c.folders.of(path); f != "" {
		return f, nil
	}
	return "", badParams("workspace/executeCommand", "/uri", "none was given and the editor has no workspace folder")
}

func (c *client) commandAnswer(raw jsontext.Value) error {
	var a answerArgs
	if raw.Kind() == '"' { // a person may type it
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return badParams("workspace/executeCommand", "", "%v", err)
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			return badParams("workspace/executeCommand", "/option", "a number is wanted")
		}
		a.Option = n
	} else if err := argument(raw, &a, "option"); err != nil {
		return err
	}
	if !c.cards.settle(a.ID, a.Option-1) {
		return failed("no permission waits for this answer")
	}
	return nil
}

// failed is the answer to a command that made sense and could not be done.
func failed(format string, args ...any) *rpc.Error {
	return answer(wire.CodeFailed, fmt.Sprintf(format, args...), wire.ErrorData{Kind: wire.ErrorInternal})
}

func (c *client) commandCancel(raw jsontext.Value) error {
	var a folderArgs
	if err := argument(raw, &a, "uri"); err != nil {
		return err
	}
	folder := ""
	if a.URI != "" {
		f, err := c.folder(a.URI)
		if err != nil {
			return err
		}
		folder = f
	}
	if c.talks.cancel(folder) == 0 {
		c.say(protocol.MessageTypeInfo, "Sallyport: no turn is running")
	}
	return nil
}

func (c *client) commandNew(ctx context.Context, raw jsontext.Value) error {
	var a newArgs
	if err := argument(raw, &a, "agent"); err != nil {
		return err
	}
	folder, err := c.folder(a.URI)
	if err != nil {
		return err
	}
	session, err := c.talks.forget(folder, a.Agent)
	if err != nil {
		return failed("%v", err)
	}
	if session == "" {
		return nil
	}
	c.book.drop(session)
	err = c.sessions.CloseSession(ctx, session)
	if gone := (*bridge.UnknownSessionError)(nil); errors.As(err, &gone) {
		return nil // it was closed for being idle
	}
	return err
}

// modes are those that a session can have.
func modes() []permit.Mode {
	return []permit.Mode{permit.Default, permit.AcceptEdits, permit.PlanMode, permit.Bypass}
}

func (c *client) commandSetMode(ctx context.Context, raw jsontext.Value) error {
	var a modeArgs
	if err := argument(raw, &a, "mode"); err != nil {
		return err
	}
	if a.Mode == "" {
		return badParams("workspace/executeCommand", "/mode", "it is missing")
	}
	folder, err := c.folder(a.URI)
	if err != nil {
		return err
	}
	session, _, _ := c.talks.sessionOf(folder)
	switch {
	case session != "":
		if _, err := c.sessions.SetMode(ctx, session, a.Mode); err != nil {
			return err
		}
	case !slices.Contains(modes(), a.Mode):
		return badParams("workspace/executeCommand", "/mode", "no mode is called %q; there are %q", clip(string(a.Mode)), modes())
	}
	c.talks.setMode(folder, a.Mode)
	c.say(protocol.MessageTypeInfo, fmt.Sprintf("Sallyport: mode %s", clip(string(a.Mode))))
	return nil
}

func (c *client) commandShow(ctx context.Context, raw jsontext.Value) error {
	var a folderArgs
	if err := argument(raw, &a, "uri"); err != nil {
		return err
	}
	folder, err := c.folder(a.URI)
	if err != nil {
		return err
	}
	session, _, _ := c.talks.sessionOf(folder)
	log := c.book.of(session)
	if log == nil {
		return failed("there is no conversation yet")
	}
	if err := log.Flush(); err != nil {
		return failed("writing the conversation: %v", err)
	}
	c.showConversation(ctx, log.Path(), true)
	return nil
}

// showConversation opens the document where the editor can, and says where it
// is where it cannot.
func (c *client) showConversation(ctx context.Context, path string, focus bool) {
	if c.able.showDocument {
		raw, err := protocol.Marshal(&protocol.ShowDocumentParams{URI: uri.URI(workspace.URIOf(path)), TakeFocus: &focus})
		var r struct {
			Success bool `json:"success"`
		}
		if err == nil {
			err = c.call(ctx, "window/showDocument", rpc.RawJSON(raw), &r)
		}
		if err == nil && r.Success {
			return
		}
		c.log.Debug("showing the conversation", "error", err)
	}
	c.say(protocol.MessageTypeInfo, "Sallyport: the conversation is in "+path)
}
