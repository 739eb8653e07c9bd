package server

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"

	"sallyport/server/wire"
)

// codeActionParams is what we read of LSP's CodeActionParams; the URI stays as
// the editor spelt it and the diagnostics as it sent them.
type codeActionParams struct {
	Document struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
	Range   wire.Range `json:"range"`
	Context struct {
		Diagnostics []jsontext.Value `json:"diagnostics"`
		Only        []string         `json:"only"`
		Trigger     int              `json:"triggerKind"`
	} `json:"context"`
}

// action is one thing to offer.
type action struct {
	title, kind, command string
	argument             any
	diagnostics          []jsontext.Value // that it would fix
}

// actionProvider announces code actions, with their kinds where the editor
// knows such.
func (c *client) actionProvider() protocol.CodeActionProvider {
	if !c.able.literals {
		return protocol.Boolean(true)
	}
	return &protocol.CodeActionOptions{CodeActionKinds: []protocol.CodeActionKind{
		protocol.CodeActionKindQuickFix, protocol.CodeActionKindRefactor, protocol.CodeActionKindSource,
	}}
}

// codeActions is textDocument/codeAction.
func codeActions(ctx context.Context, c *client, p *codeActionParams) (any, error) {
	list := []any{}
	for _, a := range append(c.actions(p), c.undoActions(ctx, p)...) {
		if !wanted(p.Context.Only, a.kind) {
			continue
		}
		command := lspCommand{a.title, a.command, []any{a.argument}}
		if c.able.literals {
			list = append(list, lspAction{a.title, a.kind, a.diagnostics, command})
		} else {
			list = append(list, command)
		}
	}
	return list, nil
}

// lspCommand and lspAction are LSP's Command and CodeAction; the diagnostics
// go back as they came.
type (
	lspCommand struct {
		Title     string `json:"title"`
		Command   string `json:"command"`
		Arguments []any  `json:"arguments"`
	}
	lspAction struct {
		Title       string           `json:"title"`
		Kind        string           `json:"kind"`
		Diagnostics []jsontext.Value `json:"diagnostics,omitzero"`
		Command     lspCommand       `json:"command"`
	}
)

// wanted reports whether an editor that asks for some kinds only wants kind:
// a kind names its sub-kinds too.
func wanted(only []string, kind string) bool {
	for _, o := range only {
		if o == "" || o == kind || strings.HasPrefix(kind, o+".") {
			return true
		}
	}
	return len(only) == 0
}

// actions are, first, the answers to permissions that wait, then what can be
// asked about the place.
func (c *client) actions(p *codeActionParams) []action {
	var list []action
	for _, x := range c.cards.list() {
		for i, title := range x.answers {
			list = append(list, action{
				title: title + ": " + x.title, kind: string(protocol.CodeActionKindQuickFix),
				command: commandAnswer, argument: answerArgs{Option: i + 1, ID: x.id},
			})
		}
	}
	if len(p.Context.Diagnostics) > 0 {
		list = append(list, action{
			title: "Ask the agent to fix this", kind: string(protocol.CodeActionKindQuickFix),
			command: commandFix, diagnostics: p.Context.Diagnostics,
			argument: rawAsk{URI: p.Document.URI, Range: p.Range, Diagnostics: p.Context.Diagnostics},
		})
	}
	if p.Range.Start != p.Range.End {
		list = append(list, action{
			title: "Ask the agent about this selection", kind: string(protocol.CodeActionKindRefactor),
			command: commandAsk, argument: rawAsk{URI: p.Document.URI, Range: p.Range},
		})
	}
	return list
}

// rawAsk is askArgs with the diagnostics as the editor sent them.
type rawAsk struct {
	URI         string           `json:"uri"`
	Range       wire.Range       `json:"range"`
	Diagnostics []jsontext.Value `json:"diagnostics,omitzero"`
}
