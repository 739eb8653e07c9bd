package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"sallyport/bridge/rpc"
	"sallyport/server/wire"
	"sallyport/workspace"
	"sallyport/workspace/text"
)

// defaultSettle is how long an edit may take to show in the mirror after the
// editor's answer. Editors gather what is typed for some 150 ms.
const defaultSettle = 10 * time.Second

// mirror gives agents the open documents and changes them through the editor.
type mirror struct {
	*client
	slots  workspace.Slots
	pauses pauses
	order  order

	rousing rousing
}

func newMirror(c *client) *mirror {
	m := &mirror{client: c}
	m.order.apply = m.follow
	m.order.lost = c.lost
	m.order.later = func(f func(ctx context.Context)) bool {
		_, ok := c.tasks.start("", f)
		return ok
	}
	return m
}

// follow makes one change of the editor's here too.
func (m *mirror) follow(x change) {
	if err := m.docs.Change(x.uri, x.version, x.changes, m.able.encoding); err != nil {
		m.lost(x.uri, x.version, err)
	}
}

// errUnclear says that an editor claims an edit which its text does not show.
var errUnclear = errors.New("the editor says that it applied the change, but its text is neither the new one nor a merge with what was typed; read the file again")

// Text implements workspace.Editor.
func (m *mirror) Text(ctx context.Context, path string) (workspace.Document, bool, error) {
	return m.docs.Text(ctx, path)
}

// Dirty and Wait are what workspace.Files asks of an editor that can tell.
func (m *mirror) Dirty() []workspace.Document { return m.docs.Dirty() }

// Wait waits until a document is in a state.
func (m *mirror) Wait(ctx context.Context, path string, state func(workspace.Document) bool) (workspace.Document, error) {
	return m.docs.Wait(ctx, path, state)
}

// Apply implements workspace.Editor: one undo step, and a success only when
// the mirror has shown it. Edits of one document happen one after the other.
func (m *mirror) Apply(ctx context.Context, a workspace.Apply) (workspace.Applied, error) {
	key := a.Document.Path
	if key == "" {
		key = a.Document.URI
	}
	release, err := m.slots.Take(ctx, key)
	if err != nil {
		return workspace.Applied{}, err
	}
	defer release()
	if !m.able.has(wire.FeatureApply) { // a plugin looks at the text itself
		if err := m.pauses.wait(ctx, a.Document.URI); err != nil {
			return workspace.Applied{}, err
		}
	}
	now, open, err := m.docs.Text(ctx, key)
	switch {
	case err != nil:
		return workspace.Applied{}, err
	case !open:
		return workspace.Applied{}, workspace.ErrClosed
	case now.Hash != a.Document.Hash || now.Version != a.Document.Version:
		return workspace.Applied{}, workspace.ErrStale
	}
	want, err := text.Apply(now.Text, a.Edits)
	if err != nil {
		return workspace.Applied{}, err
	}
	if want == now.Text {
		a.Edits = nil
		if !a.Save {
			return applied(now, false), nil
		}
	}
	if m.able.has(wire.FeatureApply) {
		return m.applyRich(ctx, key, now, want, a)
	}
	return m.applyPlain(ctx, key, now, want, a)
}

func applied(doc workspace.Document, saved bool) workspace.Applied {
	return workspace.Applied{Document: doc, Landed: true, Saved: saved}
}

func (m *mirror) settle() time.Duration {
	if m.Settle > 0 {
		return m.Settle
	}
	return defaultSettle
}

// edits are the changes as LSP has them, ordered last to first.
func (m *mirror) edits(s string, edits []text.Edit) []text.RangeEdit {
	list := text.Ranges(s, inLines(s, edits), m.able.encoding)
	slices.Reverse(list)
	return list
}

// inLines says lines added behind the last one in other words with the same
// result: behind the last line's text, before its end. Neovim 0.10 makes an
// empty line too many of an insertion where no line is.
func inLines(s string, edits []text.Edit) []text.Edit {
	if len(edits) == 0 {
		return edits
	}
	ending := "\n"
	if strings.HasSuffix(s, "\r\n") {
		ending = "\r\n"
	}
	head, last := edits[:len(edits)-1], edits[len(edits)-1]
	at := len(s) - len(ending)
	if last.Start != len(s) || !strings.HasSuffix(s, ending) || !strings.HasSuffix(last.New, ending) ||
		strings.HasSuffix(last.New, "\r\n") != (ending == "\r\n") {
		return edits
	}
	moved := text.Edit{Start: at, End: at, New: ending + strings.TrimSuffix(last.New, ending)}
	if n := len(head); n > 0 && head[n-1].End >= at {
		if head[n-1].End > at {
			return edits // it changes that end
		}
		moved.Start, moved.New = head[n-1].Start, head[n-1].New+moved.New
		head = head[:n-1]
	}
	return append(slices.Clone(head), moved)
}

// applyRich lets the plugin do it.
func (m *mirror) applyRich(ctx context.Context, key string, now workspace.Document, want string, a workspace.Apply) (workspace.Applied, error) {
	p := wire.ApplyParams{URI: now.URI, Version: now.Version, Hash: now.Hash, Save: a.Save, Label: a.Label, Edits: []wire.Edit{}, Disk: fromDisk(a.Disk)}
	for _, e := range m.edits(now.Text, a.Edits) {
		p.Edits = append(p.Edits, wire.Edit{
			Range:   wire.Range{Start: wire.Position(e.Range.Start), End: wire.Position(e.Range.End)},
			NewText: e.New,
		})
	}
	w := m.watch(key, now, want)
	defer w.stop()
	var r wire.ApplyResult
	if err := m.call(ctx, wire.MethodApply, p, &r); err != nil {
		return w.afterError(err)
	}
	switch r.Status {
	case wire.ApplyApplied:
		w.result = r.Hash
		doc, err := w.shown(ctx, m.settle())
		return applied(doc, r.Saved && err == nil), err
	case wire.ApplyStale:
		return workspace.Applied{}, because(workspace.ErrStale, r.Message)
	case wire.ApplyClosed:
		return workspace.Applied{}, because(workspace.ErrClosed, r.Message)
	case wire.ApplyReadOnly:
		return workspace.Applied{}, because(workspace.ErrReadOnly, r.Message)
	default:
		return w.afterError(fmt.Errorf("unknown status %q", clip(string(r.Status))))
	}
}

// applyPlain uses workspace/applyEdit, with the version where the editor takes
// one. Its answer is not believed: see watch.
func (m *mirror) applyPlain(ctx context.Context, key string, now workspace.Document, want string, a workspace.Apply) (workspace.Applied, error) {
	switch {
	case len(a.Edits) == 0:
		return workspace.Applied{}, because(workspace.ErrNotApplied, "LSP has no message that saves a document")
	case !m.able.applyEdit:
		return workspace.Applied{}, because(workspace.ErrNotApplied, "the editor takes no edits (workspace.applyEdit)")
	}
	params := protocol.ApplyWorkspaceEditParams{Edit: m.workspaceEdit(now, a.Edits)}
	if a.Label != "" {
		params.Label = &a.Label
	}
	raw, err := protocol.Marshal(&params)
	if err != nil {
		return workspace.Applied{}, fmt.Errorf("encoding edits: %w", err)
	}
	w := m.watch(key, now, want)
	defer w.stop()
	var r struct {
		Applied bool   `json:"applied"`
		Reason  string `json:"failureReason"`
	}
	if err := m.call(ctx, "workspace/applyEdit", rpc.RawJSON(raw), &r); err != nil {
		return w.afterError(err)
	}
	if !r.Applied {
		if m.able.versioned {
			w.news(ctx)
		}
		return w.afterError(errors.New(cmp.Or(text.Visible(r.Reason), "it gave no reason")))
	}
	w.retry = m.able.versioned
	doc, err := w.shown(ctx, m.settle())
	if err == nil && doc.Text == want {
		m.pauses.forget(now.URI) // the change was ours
	}
	return applied(doc, false), err
}

func (m *mirror) workspaceEdit(now workspace.Document, edits []text.Edit) protocol.WorkspaceEdit {
	ranges := m.edits(now.Text, edits)
	if !m.able.versioned {
		list := make([]protocol.TextEdit, len(ranges))
		for i, e := range ranges {
			list[i] = textEdit(e)
		}
		return protocol.WorkspaceEdit{Changes: map[uri.URI][]protocol.TextEdit{uri.URI(now.URI): list}}
	}
	d := &protocol.TextDocumentEdit{}
	d.TextDocument.URI = uri.URI(now.URI)
	version := m.expected(now.Version)
	d.TextDocument.Version = &version
	for _, e := range ranges {
		one := textEdit(e)
		d.Edits = append(d.Edits, &one)
	}
	return protocol.WorkspaceEdit{DocumentChanges: []protocol.DocumentChange{d}}
}

// expected is the version to send for an edit of a document at version v.
// Neovim opens documents at version 0, drops an edit only when the buffer is
// newer than its version, and does not look at all when that is 0: an edit would
// hit what was typed just before. Its next version is the buffer's changedtick,
// which is above 1, so 1 says the same as 0 and is looked at.
func (m *mirror) expected(v int32) int32 {
	if v == 0 && m.able.blindAtZero {
		return 1
	}
	return v
}

func textEdit(e text.RangeEdit) protocol.TextEdit {
	at := func(p text.Position) protocol.Position {
		return protocol.Position{Line: uint32(p.Line), Character: uint32(p.Character)}
	}
	return protocol.TextEdit{Range: protocol.Range{Start: at(e.Range.Start), End: at(e.Range.End)}, NewText: e.New}
}

// because adds an editor's reason to one of workspace's errors.
func because(err error, reason string) error {
	if reason == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, text.Visible(reason))
}
