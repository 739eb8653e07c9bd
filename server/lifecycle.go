package server

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
	"sallyport/server/wire"
)

// parentEvery is how often the editor's process is looked at. Its end closes
// our stdin, unless another child of it has inherited the pipe.
const parentEvery = 2 * time.Second

// initialize answers at once and only then makes what a session needs.
func initialize(c *client, m *rpc.Message) {
	if c.state != fresh {
		c.refuse(m.ID, rpc.Errorf(wire.CodeInvalidRequest, "initialize was answered already"))
		return
	}
	p := new(initializeParams)
	if err := decode("initialize", m.Params, p); err != nil {
		c.refuse(m.ID, err)
		return
	}
	c.able = negotiate(p)
	c.folders.set(p)
	c.state = running
	result, err := encode(c.capabilities())
	c.reply(c.tasks.ctx, m.ID, result, err)
	c.sessions = c.Sessions(c.display(), c.mirror, c.docs)
	c.log.Info("initialized", "editor", p.Client.Name, "version", p.Client.Version,
		"encoding", c.able.encoding.String(), "features", c.able.features)
	c.watchParent(p.ProcessID)
	c.watchDocuments()
	if folder := c.folders.first(); c.Initialized != nil && folder != "" {
		c.Initialized(folder)
	}
}

// watchParent ends the connection when the editor's process has ended. A
// process that cannot be seen now lives elsewhere (a container, another
// machine) and is not watched.
func (c *client) watchParent(pid *int) {
	if pid == nil || *pid <= 0 || !alive(*pid) {
		return
	}
	c.tasks.start("", func(ctx context.Context) {
		ticker := time.NewTicker(parentEvery)
		defer ticker.Stop()
		for alive(*pid) {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
		c.end(errParentGone)
	})
}

// shutdown answers at once and ends the agents, so that exit finds little left
// to wait for.
func shutdown(c *client, m *rpc.Message) {
	c.state = down
	c.reply(c.tasks.ctx, m.ID, nil, nil)
	c.tasks.stop(errClosing)
}

// cancelRequest is $/cancelRequest. The request is still answered.
func cancelRequest(c *client, m *rpc.Message) {
	var p struct {
		ID jsontext.Value `json:"id"`
	}
	if decode("$/cancelRequest", m.Params, &p) == nil {
		c.tasks.cancel(rpc.RawID(p.ID))
	}
}

// routes says who handles which method. What is not here is unknown. Methods
// of LSP that we have no use for stand here only where editors send them
// unasked, as requests.
var routes = map[string]route{
	"initialize":      {run: initialize, request: true},
	"shutdown":        {run: shutdown, request: true},
	"$/cancelRequest": {run: cancelRequest, notification: true},

	"textDocument/didOpen":                told(didOpen),
	"textDocument/didChange":              {run: didChange, notification: true},
	"textDocument/didSave":                told(didSave),
	"textDocument/didClose":               told(didClose),
	"workspace/didChangeWorkspaceFolders": told(didChangeFolders),
	"window/workDoneProgress/cancel":      told(cancelProgress),

	"textDocument/codeAction":  asked(codeActions),
	"workspace/executeCommand": {run: command, request: true},

	wire.MethodAgents:          asked(listAgents),
	wire.MethodNew:             {run: newSession, request: true},
	wire.MethodList:            asked(listSessions),
	wire.MethodLoad:            asked(loadSession),
	wire.MethodInfo:            asked(sessionInfo),
	wire.MethodClose:           asked(closeSession),
	wire.MethodDelete:          asked(deleteSession),
	wire.MethodPrompt:          {run: prompt, request: true},
	wire.MethodCancel:          {run: cancelTurn, request: true, notification: true},
	wire.MethodSetMode:         asked(setMode),
	wire.MethodSetConfigOption: asked(setConfigOption),
	wire.MethodSetModel:        asked(setModel),
	wire.MethodAuthenticate:    asked(authenticate),

	wire.MethodClearTaint: asked(clearTaint),
	wire.MethodTurnList:   asked(listTurns),
	wire.MethodTurnShow:   asked(showTurn),
	wire.MethodTurnUndo:   asked(undoTurn),
	wire.MethodTurnRedo:   asked(redoTurn),
	wire.MethodReceipt:    asked(turnReceipt),
}
