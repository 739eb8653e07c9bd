package server

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"

	"sallyport/bridge/rpc"
	"sallyport/server/wire"
	"sallyport/workspace/text"
)

// initializeParams is what we read of LSP's InitializeParams. Its URIs are
// plain strings: a broken folder must not cost the others (go.lsp.dev/protocol
// would refuse the whole message).
type initializeParams struct {
	ProcessID    *int           `json:"processId"`
	Client       clientInfo     `json:"clientInfo"`
	RootURI      string         `json:"rootUri"`
	RootPath     string         `json:"rootPath"`
	Folders      []folder       `json:"workspaceFolders"`
	Capabilities jsontext.Value `json:"capabilities"`
	Options      jsontext.Value `json:"initializationOptions"`
}

type clientInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// folder is a workspace folder as LSP has it.
type folder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

// abilities is what was negotiated.
type abilities struct {
	encoding text.Encoding
	features []wire.Feature // of the plugin
	client   string         // the editor's name, for the log
	lsp
}

// lsp is what a plain editor can do.
type lsp struct {
	applyEdit    bool // workspace/applyEdit
	versioned    bool // documentChanges, which name a version
	blindAtZero  bool // version 0 is not compared, only later ones are
	counting     bool // versions go up by one, and changes may come in another order
	showDocument bool
	progress     bool // window/workDoneProgress/create
	literals     bool // code actions as objects, not as commands only
}

func (a *abilities) has(f wire.Feature) bool { return slices.Contains(a.features, f) }

// negotiate reads what the editor can do. Nothing in it is worth refusing an
// editor for: what cannot be read counts as not there.
func negotiate(p *initializeParams) abilities {
	a := abilities{client: p.Client.Name}
	a.blindAtZero = p.Client.Name == "Neovim"
	a.counting = p.Client.Name == "helix"
	var caps protocol.ClientCapabilities
	if len(p.Capabilities) > 0 {
		if err := protocol.Unmarshal(p.Capabilities, &caps); err != nil {
			caps = protocol.ClientCapabilities{}
		}
	}
	if g := caps.General; g != nil {
		a.encoding = pickEncoding(g.PositionEncodings)
	}
	if w := caps.Workspace; w != nil {
		a.applyEdit = is(w.ApplyEdit)
		if e := w.WorkspaceEdit; e != nil {
			// LSP, WorkspaceEdit: resource operations stand in documentChanges too.
			// Neovim says only that it has them.
			a.versioned = is(e.DocumentChanges) || len(e.ResourceOperations) > 0
		}
	}
	if w := caps.Window; w != nil {
		a.progress = is(w.WorkDoneProgress)
		a.showDocument = w.ShowDocument != nil && w.ShowDocument.Support
	}
	if t := caps.TextDocument; t != nil {
		a.literals = literalActions(t)
	}
	var options struct {
		Sallyport wire.Plugin `json:"sallyport"`
	}
	if rpc.Unmarshal(p.Options, &options) == nil {
		a.features = options.Sallyport.Features
	}
	return a
}

func literalActions(t *protocol.TextDocumentClientCapabilities) bool {
	return t.CodeAction != nil && len(t.CodeAction.CodeActionLiteralSupport.CodeActionKind.ValueSet) > 0
}

func is(b *bool) bool { return b != nil && *b }

// pickEncoding takes UTF-8 where it is offered: it is what we have, and the
// only one without arithmetic. UTF-16 may be left out of an offer and holds
// always (LSP, PositionEncodingKind).
func pickEncoding(offered []protocol.PositionEncodingKind) text.Encoding {
	for _, want := range []text.Encoding{text.UTF8, text.UTF16, text.UTF32} {
		if slices.Contains(offered, protocol.PositionEncodingKind(want.String())) {
			return want
		}
	}
	return text.UTF16
}

// capabilities is what we announce.
func (c *client) capabilities() protocol.InitializeResult {
	yes := true
	kind := protocol.TextDocumentSyncKindIncremental
	version := c.Version
	if version == "" {
		version = "devel"
	}
	experimental, _ := json.Marshal(struct { // strings and numbers only
		Sallyport wire.Announcement `json:"sallyport"`
	}{wire.Announcement{Version: wire.Version, Methods: wire.EditorMethods()}})
	return protocol.InitializeResult{
		Capabilities: protocol.ServerCapabilities{
			PositionEncoding: protocol.PositionEncodingKind(c.able.encoding.String()),
			TextDocumentSync: &protocol.TextDocumentSyncOptions{
				OpenClose: &yes, Change: &kind, Save: &protocol.SaveOptions{IncludeText: &yes},
			},
			CodeActionProvider:     c.actionProvider(),
			ExecuteCommandProvider: protocol.ExecuteCommandOptions{Commands: commandNames()},
			Workspace: &protocol.WorkspaceOptions{WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
				Supported: &yes, ChangeNotifications: protocol.Boolean(true),
			}},
			Experimental: protocol.LSPAny(experimental),
		},
		ServerInfo: protocol.ServerInfo{Name: "sallyport", Version: protocol.NewOptional(version)},
	}
}

// encode makes JSON of what we send. LSP's types have an encoder of their own.
// A string with broken UTF-8, which only a file name can bring, is mended: a
// message that cannot be sent would be worse.
func encode(v any) (rpc.RawJSON, error) {
	switch v := v.(type) {
	case nil:
		return rpc.RawJSON("{}"), nil // Lua clients trip over absent params
	case rpc.RawJSON:
		return v, nil
	default:
		return json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	}
}
