package server

import (
	"errors"

	"go.lsp.dev/protocol"

	"sallyport/bridge/rpc"
	"sallyport/server/wire"
	"sallyport/workspace"
	"sallyport/workspace/text"
)

// The params of document sync (LSP, "Text Document Synchronization"), with the
// URI as the editor spelt it.
type (
	didOpenParams struct {
		Document struct {
			URI      string  `json:"uri"`
			Language string  `json:"languageId"`
			Version  int32   `json:"version"`
			Text     content `json:"text"`
		} `json:"textDocument"`
	}
	didChangeParams struct {
		Document documentID      `json:"textDocument"`
		Changes  []contentChange `json:"contentChanges"`
	}
	didSaveParams struct {
		Document documentID `json:"textDocument"`
		Text     *content   `json:"text"`
	}
	didCloseParams struct {
		Document documentID `json:"textDocument"`
	}
	documentID struct {
		URI     string `json:"uri"`
		Version int32  `json:"version"`
	}
	contentChange struct {
		Range *wire.Range `json:"range"`
		Text  *content    `json:"text"`
	}
)

func didOpen(c *client, p *didOpenParams) {
	d := &p.Document
	if err := c.docs.Open(d.URI, d.Language, d.Version, string(d.Text)); err != nil {
		c.log.Warn("a document cannot be followed", "error", err)
		return
	}
	c.mirror.order.opened(d.URI, d.Version)
}

// didChange applies a change to the mirror. What cannot be applied makes the
// document lost, also when it cannot even be read: a mirror that is wrong would
// cost the user's text.
func didChange(c *client, m *rpc.Message) {
	var p didChangeParams
	if err := decode("textDocument/didChange", m.Params, &p); err != nil {
		var head struct {
			Document struct {
				URI string `json:"uri"`
			} `json:"textDocument"`
		}
		_ = decode("", m.Params, &head) // an error may stand after what we need
		c.lost(head.Document.URI, p.Document.Version, err)
		return
	}
	changes := make([]text.Change, 0, len(p.Changes))
	for _, x := range p.Changes {
		if x.Text == nil {
			c.lost(p.Document.URI, p.Document.Version, errors.New("a change has no text"))
			return
		}
		one := text.Change{Text: string(*x.Text)}
		if x.Range != nil {
			one.Range = &text.Range{Start: text.Position(x.Range.Start), End: text.Position(x.Range.End)}
		}
		changes = append(changes, one)
	}
	c.mirror.pauses.note(p.Document.URI)
	c.mirror.order.add(change{p.Document.URI, p.Document.Version, changes}, c.able.counting)
}

// lost takes a document off the mirror until the editor sends its whole text.
// It is known to be open, so it must not be taken for a closed file.
func (c *client) lost(uri string, version int32, why error) {
	c.log.Warn("lost track of a document", "error", why)
	if uri == "" {
		return
	}
	never := []text.Change{{Range: &text.Range{Start: text.Position{Line: -1, Character: -1}}}}
	if err := c.docs.Change(uri, version, never, c.able.encoding); errors.Is(err, workspace.ErrClosed) {
		if c.docs.Open(uri, "", version, "") == nil {
			_ = c.docs.Change(uri, version, never, c.able.encoding)
		}
	}
	c.say(protocol.MessageTypeWarning, "Sallyport: lost track of "+text.Visible(uri)+
		"; agents neither read nor change it until it is closed and opened again")
}

// didSave first tells the record of a turn what was saved, so that whoever waits
// for the save finds it told.
func didSave(c *client, p *didSaveParams) {
	c.tellSaved(p)
	c.docs.Save(p.Document.URI, (*string)(p.Text))
}

func (c *client) tellSaved(p *didSaveParams) {
	path, err := workspace.PathOf(p.Document.URI)
	if err != nil {
		return
	}
	rec, err := c.record()
	if err != nil {
		return
	}
	d, open := c.docs.Get(path)
	switch {
	case !open:
	case p.Text != nil:
		rec.DocumentSaved(d.Path, text.Hash(string(*p.Text)))
	default:
		rec.DocumentSaved(d.Path, d.Hash)
	}
}

func didClose(c *client, p *didCloseParams) {
	c.docs.Close(p.Document.URI)
	c.mirror.pauses.forget(p.Document.URI)
	c.mirror.order.closed(p.Document.URI)
}
