package server

import (
	"testing"

	"go.lsp.dev/protocol"

	"sallyport/workspace"
	"sallyport/workspace/text"
)

// Neovim does not look at the version 0, with which it opens every document.
func TestVersionOfAnEdit(t *testing.T) {
	for _, test := range []struct {
		editor        string
		version, want int32
	}{
		{"Neovim", 0, 1},
		{"Neovim", 7, 7},
		{"helix", 0, 0},
		{"helix", 1, 1},
	} {
		p := &initializeParams{Client: clientInfo{Name: test.editor}}
		p.Capabilities = []byte(`{"workspace": {"applyEdit": true, "workspaceEdit": {"documentChanges": true}}}`)
		m := &mirror{client: &client{able: negotiate(p)}}
		edit := m.workspaceEdit(workspace.Document{URI: "file:///a", Version: test.version, Text: "a"}, []text.Edit{{New: "b"}})
		got := edit.DocumentChanges[0].(*protocol.TextDocumentEdit).TextDocument.Version
		if got == nil || *got != test.want {
			t.Errorf("%s at version %d: sent %v, want %d", test.editor, test.version, got, test.want)
		}
	}
}
