package wire

// Version is the version of these messages, announced in
// experimental.sallyport.version. It grows when a message is added.
const Version = 3

// Requests from the editor.
const (
	MethodAgents          = "sallyport/agents"
	MethodNew             = "sallyport/session/new"
	MethodList            = "sallyport/session/list"
	MethodLoad            = "sallyport/session/load"
	MethodInfo            = "sallyport/session/info"
	MethodClose           = "sallyport/session/close"
	MethodDelete          = "sallyport/session/delete"
	MethodPrompt          = "sallyport/session/prompt"
	MethodCancel          = "sallyport/session/cancel" // a notification, or a request
	MethodSetMode         = "sallyport/session/setMode"
	MethodSetConfigOption = "sallyport/session/setConfigOption"
	MethodSetModel        = "sallyport/session/setModel"
	MethodAuthenticate    = "sallyport/session/authenticate"
	MethodClearTaint      = "sallyport/session/clearTaint"
	MethodTurnList        = "sallyport/turn/list"
	MethodTurnShow        = "sallyport/turn/show"
	MethodTurnUndo        = "sallyport/turn/undo"
	MethodTurnRedo        = "sallyport/turn/redo"
	MethodReceipt         = "sallyport/receipt"
)

// Messages from the server. All but MethodUpdate, MethodNotice, MethodCall and
// MethodSettled are requests. Each is sent only to a plugin that named its
// feature.
const (
	MethodUpdate      = "sallyport/session/update"
	MethodNotice      = "sallyport/session/notice"
	MethodPermission  = "sallyport/permission"
	MethodCall        = "sallyport/permission/call"
	MethodSettled     = "sallyport/permission/settled"
	MethodApply       = "sallyport/document/apply"
	MethodContext     = "sallyport/document/context"
	MethodUnsaved     = "sallyport/session/unsaved"
	MethodElicitation = "sallyport/elicitation"
)

// Feature is one rich message, or a pair of them, that a plugin takes. Each is
// judged alone: what is not named falls back on plain LSP.
type Feature string

// The features.
const (
	FeatureUpdate      Feature = "update"      // MethodUpdate instead of the conversation document and $/progress
	FeatureNotice      Feature = "notice"      // MethodNotice instead of window/showMessage
	FeaturePermission  Feature = "permission"  // MethodPermission and MethodSettled instead of window/showMessageRequest
	FeatureDeciding    Feature = "deciding"    // with FeaturePermission: cards are shown while deciders are asked, and MethodCall follows
	FeatureApply       Feature = "apply"       // MethodApply instead of workspace/applyEdit
	FeatureContext     Feature = "context"     // MethodContext; without it nothing is asked
	FeatureElicitation Feature = "elicitation" // MethodElicitation; without it agents' forms are declined
	FeatureUnsaved     Feature = "unsaved"     // MethodUnsaved instead of window/showMessageRequest
	FeatureJoin        Feature = "join"        // texts of chunks that follow each other come as one MethodUpdate
)

// Plugin is initializationOptions.sallyport: how a plugin declares itself.
// Absent: a plain LSP editor.
type Plugin struct {
	Client   string    `json:"client"`  // the plugin's name, "sallyport.nvim"
	Version  string    `json:"version"` // the plugin's own version
	Features []Feature `json:"features"`
}

// Announcement is experimental.sallyport in the server's capabilities.
type Announcement struct {
	Version int      `json:"version"` // Version
	Methods []string `json:"methods"` // what the editor may send
}

// From says who sends a message.
type From string

// The two sides.
const (
	FromEditor From = "editor"
	FromServer From = "server"
)

// Message describes one method: who sends it, and empty values of what it
// carries. Result is nil for a notification.
type Message struct {
	Method  string
	From    From
	Feature Feature // empty: needs none
	Params  any     // a pointer to the zero value
	Result  any
}

// Messages lists every method of this package, in the order of
// docs/PROTOCOL.md.
func Messages() []Message {
	return []Message{
		{MethodAgents, FromEditor, "", new(AgentsParams), new(AgentsResult)},
		{MethodNew, FromEditor, "", new(NewParams), new(Info)},
		{MethodList, FromEditor, "", new(ListParams), new(ListResult)},
		{MethodLoad, FromEditor, "", new(LoadParams), new(Info)},
		{MethodInfo, FromEditor, "", new(SessionParams), new(Info)},
		{MethodClose, FromEditor, "", new(SessionParams), new(Empty)},
		{MethodDelete, FromEditor, "", new(DeleteParams), new(Empty)},
		{MethodPrompt, FromEditor, "", new(PromptParams), new(TurnResult)},
		{MethodCancel, FromEditor, "", new(SessionParams), new(Empty)},
		{MethodSetMode, FromEditor, "", new(SetModeParams), new(Info)},
		{MethodSetConfigOption, FromEditor, "", new(SetConfigOptionParams), new(SetConfigOptionResult)},
		{MethodSetModel, FromEditor, "", new(SetModelParams), new(Empty)},
		{MethodAuthenticate, FromEditor, "", new(AuthenticateParams), new(Empty)},
		{MethodClearTaint, FromEditor, "", new(SessionParams), new(Info)},
		{MethodTurnList, FromEditor, "", new(TurnListParams), new(TurnListResult)},
		{MethodTurnShow, FromEditor, "", new(TurnParams), new(TurnShowResult)},
		{MethodTurnUndo, FromEditor, "", new(UndoParams), new(Undone)},
		{MethodTurnRedo, FromEditor, "", new(UndoParams), new(Undone)},
		{MethodReceipt, FromEditor, "", new(TurnParams), new(ReceiptResult)},
		{MethodUpdate, FromServer, FeatureUpdate, new(UpdateParams), nil},
		{MethodNotice, FromServer, FeatureNotice, new(Notice), nil},
		{MethodPermission, FromServer, FeaturePermission, new(PermissionParams), new(PermissionResult)},
		{MethodCall, FromServer, FeatureDeciding, new(CallParams), nil},
		{MethodSettled, FromServer, FeaturePermission, new(SettledParams), nil},
		{MethodApply, FromServer, FeatureApply, new(ApplyParams), new(ApplyResult)},
		{MethodContext, FromServer, FeatureContext, new(ContextParams), new(ContextResult)},
		{MethodUnsaved, FromServer, FeatureUnsaved, new(UnsavedParams), new(UnsavedResult)},
		{MethodElicitation, FromServer, FeatureElicitation, new(ElicitationParams), new(ElicitationResult)},
	}
}

// EditorMethods lists what an editor may send, as announced.
func EditorMethods() []string {
	var names []string
	for _, m := range Messages() {
		if m.From == FromEditor {
			names = append(names, m.Method)
		}
	}
	return names
}
