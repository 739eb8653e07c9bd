package wire

import "sallyport/bridge"

// Position is an LSP position: Character counts code units of the negotiated
// encoding.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is an LSP range, its end exclusive.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Edit replaces a range by a text.
type Edit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// ApplyParams are the params of sallyport/document/apply. The plugin applies
// the edits as one undo step if the open document has exactly this version and
// hash, saves it when asked to, sends its didChange and didSave, and then
// answers. Without edits and with save it only saves.
type ApplyParams struct {
	URI     string `json:"uri"` // as the editor spelt it in didOpen
	Version int32  `json:"version"`
	Hash    string `json:"hash"`  // of the text before the edits
	Edits   []Edit `json:"edits"` // ordered last to first
	Save    bool   `json:"save"`
	Label   string `json:"label"` // for the undo menu
	// Disk says what the edits have to do with the document's file, which somebody else
	// has written; empty: nothing.
	Disk ApplyDisk `json:"disk,omitzero"`
}

// ApplyDisk is what edits have to do with a document's file.
type ApplyDisk string

// The values. Where the plugin can, it must not ask the user about the file's newer state
// afterwards.
const (
	ApplyHolds   ApplyDisk = "holds"   // the file holds what the edits make: the document is unmodified afterwards, for example because the plugin loads the file instead
	ApplyTakenIn ApplyDisk = "takenIn" // what the file has become is merged into unsaved text, and the document stays modified
)

// ApplyStatus says what became of sallyport/document/apply.
type ApplyStatus string

// The statuses. On all but ApplyApplied nothing was changed.
const (
	ApplyApplied  ApplyStatus = "applied"
	ApplyStale    ApplyStatus = "stale"    // version or hash differ: the server rebases and asks again
	ApplyClosed   ApplyStatus = "closed"   // no such open document
	ApplyReadOnly ApplyStatus = "readOnly" // the document may not be changed
)

// ApplyResult answers sallyport/document/apply.
type ApplyResult struct {
	Status  ApplyStatus `json:"status"`
	Version int32       `json:"version"`       // of the document now
	Hash    string      `json:"hash,omitzero"` // of the document now, after a formatter that runs on save
	Saved   bool        `json:"saved"`
	Message string      `json:"message,omitzero"` // why not, one sentence
}

// ContextParams are the params of sallyport/document/context.
type ContextParams struct {
	Session string `json:"sessionId,omitzero"`
}

// ContextResult is what the user is looking at.
type ContextResult struct {
	Active      *ActiveDocument `json:"active,omitzero"` // absent: no editor has the focus
	Visible     []string        `json:"visible"`         // URIs of the documents on screen
	Diagnostics []Diagnostic    `json:"diagnostics"`     // of the visible documents, the most severe first, at most 100
}

// ActiveDocument is the document with the cursor.
type ActiveDocument struct {
	URI       string `json:"uri"`
	Version   int32  `json:"version"`
	Selection Range  `json:"selection"` // empty: only a cursor
	Text      string `json:"text"`      // what is selected, at most 64 KiB
}

// Diagnostic is one diagnostic of the editor, whoever reported it.
type Diagnostic struct {
	URI      string `json:"uri"`
	Range    Range  `json:"range"`
	Severity int    `json:"severity"` // LSP: 1 error, 2 warning, 3 information, 4 hint
	Message  string `json:"message"`
	Source   string `json:"source,omitzero"`
}

// UnsavedParams are the params of sallyport/session/unsaved: before a prompt,
// once a session, the user says what happens to unsaved documents.
type UnsavedParams struct {
	Session   string            `json:"sessionId"`
	Documents []UnsavedDocument `json:"documents"`
	Choices   []Choice          `json:"choices"` // in the order to show
}

// UnsavedDocument is a document whose text differs from the file's.
type UnsavedDocument struct {
	URI  string `json:"uri"`
	Path string `json:"path,omitzero"` // absent for untitled documents
}

// Choice is one way to deal with unsaved documents: save (they are saved
// first), send (their text goes along with the prompt) or leave.
type Choice struct {
	ID   bridge.UnsavedChoice `json:"id"`
	Name string               `json:"name"`
}

// UnsavedResult is the user's answer; anything that is not among the choices
// counts as send.
type UnsavedResult struct {
	Choice bridge.UnsavedChoice `json:"choice"`
}
