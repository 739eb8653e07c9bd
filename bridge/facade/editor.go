package facade

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
	"sallyport/workspace"
	"sallyport/workspace/text"
)

// editor is the client as the holder of open documents, in the name of a session.
// It cannot say what is open: whatever it gives the text of counts as open.
type editor struct {
	*client
	session string // the bridge's id
}

type fileParams struct {
	Session string  `json:"sessionId"`
	Path    string  `json:"path"`
	Content *string `json:"content,omitzero"`
}

// Text implements workspace.Editor by fs/read_text_file (ACP v1, File System). A
// file that the client has not is not open; neither is one that is not there yet
// and whose text is empty, which is how clients show that.
func (e *editor) Text(ctx context.Context, path string) (workspace.Document, bool, error) {
	entry, able := e.table.of(e.session), e.abilities()
	if entry == nil || !able.read {
		return workspace.Document{}, false, nil
	}
	content, err := e.read(ctx, entry, entry.spelt(path))
	var said *rpc.Error
	switch {
	case errors.As(err, &said) && (said.Code == notFound || missing(path)):
		return workspace.Document{}, false, nil
	case err != nil:
		return workspace.Document{}, false, fmt.Errorf("the client does not give its text: %w", err)
	case content == "" && missing(path):
		return workspace.Document{}, false, nil
	}
	doc := document(path, content)
	e.met.unsaved.saw(doc)
	if !able.write && !doc.Dirty { // the disk is as good, and can be written
		return workspace.Document{}, false, nil
	}
	return doc, true, nil
}

func (e *editor) read(ctx context.Context, entry *entry, path string) (string, error) {
	raw, err := e.call(ctx, "fs/read_text_file", fileParams{Session: entry.id, Path: path})
	if err != nil {
		return "", err
	}
	value, _ := rpc.Member(raw, "content")
	content, err := rpc.Unquote(value)
	if err != nil {
		return "", fmt.Errorf("its answer to fs/read_text_file has no content: %w", err)
	}
	return content, nil
}

func (e *editor) call(ctx context.Context, method string, params any) (jsontext.Value, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", method, err)
	}
	return e.ask(ctx, method, raw)
}

// ask is a call that is written here and now rather than by another goroutine: an
// agent waits for it.
func (c *client) ask(ctx context.Context, method string, params jsontext.Value) (jsontext.Value, error) {
	type answer struct {
		result jsontext.Value
		err    error
	}
	answers := make(chan answer, 1)
	asked, err := c.conn.Ask(ctx, method, params, func(result []byte, err error) {
		answers <- answer{append(jsontext.Value(nil), result...), err}
	})
	if err != nil {
		return nil, err
	}
	select {
	case a := <-answers:
		return a.result, a.err
	case <-ctx.Done():
		asked.Cancel(context.Cause(ctx))
		asked.GiveUp()
		a := <-answers
		if errors.Is(a.err, context.Canceled) {
			a.err = ctx.Err()
		}
		return a.result, a.err
	}
}

// document is a client's text. What is not as on the disk counts as unsaved, made
// from what the disk has.
func document(path, content string) workspace.Document {
	doc := workspace.Document{URI: workspace.URIOf(path), Path: path, Text: content, Hash: text.Hash(content)}
	disk, ok := workspace.OnDisk(path)
	doc.Dirty = !ok || !shows(content, disk)
	doc.Loaded = workspace.Loaded{Known: ok, Text: disk}
	return doc
}

// shows reports whether a client that has loaded a file shows this content. Some, such
// as Zed, keep only LF in their buffers and make it the file's CRLF again when they save.
// disk is without byte order mark.
func shows(content, disk string) bool {
	content = strings.TrimPrefix(content, "\uFEFF")
	return content == disk || strings.Contains(disk, "\r") && content == lineFeeds.Replace(disk)
}

var lineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// Apply implements workspace.Editor by fs/write_text_file: the client's text is
// read and compared first, written as a whole with the edits in it, and read again.
// Whatever the client made of it besides, a formatter or its user, is in the result.
func (e *editor) Apply(ctx context.Context, a workspace.Apply) (workspace.Applied, error) {
	path, entry := a.Document.Path, e.table.of(e.session)
	if entry == nil || !e.abilities().write {
		return workspace.Applied{}, fmt.Errorf("%w: the client takes no texts (fs/write_text_file)", workspace.ErrNotApplied)
	}
	spelt := entry.spelt(path)
	release, err := e.met.paths.Take(ctx, spelt)
	if err != nil {
		return workspace.Applied{}, err
	}
	defer release()
	now, open, err := e.Text(ctx, path)
	switch {
	case err != nil:
		return workspace.Applied{}, err
	case !open:
		return workspace.Applied{}, workspace.ErrClosed
	case now.Hash != a.Document.Hash:
		return workspace.Applied{}, workspace.ErrStale
	}
	want, err := text.Apply(now.Text, a.Edits)
	if err != nil {
		return workspace.Applied{}, err
	}
	if want == now.Text && (!a.Save || !now.Dirty) {
		return workspace.Applied{Document: now, Landed: true, Saved: !now.Dirty}, nil
	}
	if _, err := e.call(ctx, "fs/write_text_file", fileParams{Session: entry.id, Path: spelt, Content: &want}); err != nil {
		var said *rpc.Error
		if errors.As(err, &said) {
			return workspace.Applied{}, fmt.Errorf("%w: %s", workspace.ErrNotApplied, text.Visible(said.Message))
		}
		return workspace.Applied{}, err
	}
	content, err := e.read(context.WithoutCancel(ctx), entry, spelt)
	if err != nil {
		return workspace.Applied{}, fmt.Errorf("%w: %w", workspace.ErrNotSeen, err)
	}
	after := document(path, content)
	e.met.unsaved.saw(after)
	applied := workspace.Applied{Document: after, Landed: content == want, Saved: !after.Dirty}
	if applied.Saved { // spelt as the file, with which the record compares it
		applied.Document.Text, applied.Document.Hash = after.Loaded.Text, text.Hash(after.Loaded.Text)
	}
	return applied, nil
}
