package server

import (
	"strings"
	"testing"
	"unicode/utf8"

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

// Neovim 0.10 makes an empty line too many of an insertion behind the last line.
func TestLinesAreAddedInsideOfLines(t *testing.T) {
	for _, test := range []struct {
		name, old string
		edits     []text.Edit
		last      text.Edit // the last one to send
	}{
		{"a line", "a\nb\n", []text.Edit{{Start: 4, End: 4, New: "c\n"}}, text.Edit{Start: 3, End: 3, New: "\nc"}},
		{"CRLF", "a\r\n", []text.Edit{{Start: 3, End: 3, New: "c\r\n"}}, text.Edit{Start: 1, End: 1, New: "\r\nc"}},
		{"an empty line", "a\n", []text.Edit{{Start: 2, End: 2, New: "\n"}}, text.Edit{Start: 1, End: 1, New: "\n"}},
		{"beside a change", "a\nb\n", []text.Edit{{Start: 2, End: 3, New: "B"}, {Start: 4, End: 4, New: "c\n"}}, text.Edit{Start: 2, End: 3, New: "B\nc"}},
		{"behind a changed end", "a\n", []text.Edit{{Start: 1, End: 2, New: "\n\n"}, {Start: 2, End: 2, New: "c\n"}}, text.Edit{Start: 2, End: 2, New: "c\n"}},
		{"no end to come before", "a", []text.Edit{{Start: 1, End: 1, New: "\nc\n"}}, text.Edit{Start: 1, End: 1, New: "\nc\n"}},
		{"no end added", "a\n", []text.Edit{{Start: 2, End: 2, New: "c"}}, text.Edit{Start: 2, End: 2, New: "c"}},
		{"other ends", "a\n", []text.Edit{{Start: 2, End: 2, New: "c\r\n"}}, text.Edit{Start: 2, End: 2, New: "c\r\n"}},
		{"to an empty text", "", []text.Edit{{New: "c\n"}}, text.Edit{New: "c\n"}},
	} {
		want, err := text.Apply(test.old, test.edits)
		if err != nil {
			t.Fatal(err)
		}
		sent := inLines(test.old, test.edits)
		if got, err := text.Apply(test.old, sent); err != nil || got != want || sent[len(sent)-1] != test.last {
			t.Errorf("%s: %+v on %q gives %q, %v; want %q with %+v at last", test.name, sent, test.old, got, err, want, test.last)
		}
	}
}

func TestLastWords(t *testing.T) {
	for _, test := range []struct{ stderr, want string }{
		{"", ""},
		{"\n \n", ""},
		{"no key\n", ", saying: no key"},
		{"a\nb\nc\nd\n", ", saying: b; c; d"},
	} {
		if got := lastWords(test.stderr); got != test.want {
			t.Errorf("%q: got %q, want %q", test.stderr, got, test.want)
		}
	}
	if got := lastWords(strings.Repeat("é", 1000)); len(got) > 400 || !strings.HasSuffix(got, "é") || !utf8.ValidString(got) {
		t.Errorf("a long line became %q", got)
	}
}
