package turns

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"sallyport/workspace"
	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
	"sallyport/workspace/text"
)

// textStep brings one open document from After to Before.
type textStep struct {
	buffer
	doc  workspace.Document // as planned for
	want string             // the text, without byte order mark
	kept bool               // the overwritten text is stored apart
	done bool
}

// planText plans one buffer of the target, if its document does not stand against it.
func (o *undoing) planText(ctx context.Context, b *buffer) (stand, error) {
	before, ok, err := readText(ctx, o.held, b.Before.Text)
	if err != nil {
		return stand{}, err
	}
	if !ok {
		return stand{"the text from before is not kept", false}, nil
	}
	doc, open, err := o.open(ctx, string(b.Path))
	switch {
	case err != nil && ctx.Err() != nil:
		return stand{}, context.Cause(ctx)
	case err != nil:
		return stand{"the editor does not tell its text", false}, nil
	case !open && b.Before.Clean && o.onDisk(string(b.Path)) == before:
		o.result.Already = append(o.result.Already, o.stateOfText(b))
		return stand{}, nil
	case !open:
		return stand{"it was unsaved in an editor, and is not open here", false}, nil
	}
	now := strings.TrimPrefix(doc.Text, mark)
	if now == spelled(before, now) {
		o.result.Already = append(o.result.Already, o.stateOfText(b))
		return stand{}, nil
	}
	left, err := o.asLeft(ctx, b, now)
	switch {
	case err != nil:
		return stand{}, err
	case !left && !o.ask.Force:
		return stand{"its text changed since", true}, nil
	case b.By == receipt.ByUnsure && !o.ask.Force:
		return stand{mayBeTheUsers, true}, nil
	}
	o.addText(textStep{buffer: *b, doc: doc, want: before})
	return stand{}, nil
}

const mayBeTheUsers = "may be the user's own change"

func (o *undoing) stateOfText(b *buffer) PathState {
	root, rel, _ := o.project.place(string(b.Path))
	return PathState{Root: root, Path: rel, Change: checkpoint.Modified, By: b.By, Buffer: true}
}

// addText plans a step, and that the overwritten text is stored where it is not yet.
func (o *undoing) addText(t textStep) {
	if t.After.Clean || sumOf(t.doc.Text) != t.After.Text {
		t.kept = true
		o.keep = append(o.keep, Buffer{Path: string(t.Path), Text: t.doc.Text})
	}
	o.texts = append(o.texts, t)
}

// asLeft says whether a document's text is what the target left, or what bringing its change of the file into that makes.
func (o *undoing) asLeft(ctx context.Context, b *buffer, now string) (bool, error) {
	after, ok, err := readText(ctx, o.held, b.After.Text)
	if err != nil || ok && now == spelled(after, now) {
		return err == nil, err
	}
	root, rel, _ := o.project.place(string(b.Path))
	for _, p := range o.points {
		var states [2]checkpoint.State
		for i := range states {
			if states[i], err = o.held.StateOf(ctx, p[i], root, rel); err != nil {
				return false, err
			}
		}
		want, ok, err := caughtUp(ctx, o.held, b.After.Text, states[0], states[1])
		if err != nil || ok && want == now {
			return err == nil, err
		}
	}
	return false, nil
}

// document looks at the open document of a file that is going to change, and says whether it stands against that.
func (o *undoing) document(ctx context.Context, pair int, step *checkpoint.Step) (stand, error) {
	name := absolute(step.Root, step.Path)
	doc, open, err := o.open(ctx, name)
	switch {
	case err != nil && ctx.Err() != nil:
		return stand{}, context.Cause(ctx)
	case err != nil:
		return stand{"the editor does not tell its text", false}, nil
	case !open:
		return stand{}, nil
	case !doc.Dirty:
		o.clean[name] = doc
		return stand{}, nil
	}
	unsaved, dirty := o.points[pair][0].Texts[name]
	if dirty && unsaved == o.points[pair][1].Texts[name] {
		return o.leftAlone(ctx, name, unsaved, doc, step)
	}
	if !o.ask.Force {
		return stand{hasUnsaved, true}, nil
	}
	if step.Before.Kind != checkpoint.File {
		return stand{}, nil // the text stays where it is
	}
	want, ok, err := readText(ctx, o.held, step.Before.Hash)
	if err != nil || !ok {
		return stand{}, err
	}
	b := buffer{Path: []byte(name), By: receipt.ByUnsure, Before: version{step.Before.Hash, true}}
	o.addText(textStep{buffer: b, doc: doc, want: want})
	return stand{}, nil
}

const hasUnsaved = "its open document has unsaved text"

// leftAlone plans for a document that was dirty before the record and that it did not write: its text is what it was, or what
// bringing in the change of the file made of it later.
func (o *undoing) leftAlone(ctx context.Context, name string, unsaved checkpoint.Hash, doc workspace.Document, step *checkpoint.Step) (stand, error) {
	now := strings.TrimPrefix(doc.Text, mark)
	was, ok, err := readText(ctx, o.held, unsaved)
	if err != nil || ok && now == spelled(was, now) {
		return stand{}, err
	}
	merged, can, err := caughtUp(ctx, o.held, unsaved, step.Before, step.After)
	switch {
	case err != nil:
		return stand{}, err
	case ok && (can && merged == now || o.ask.Force):
		b := buffer{Path: []byte(name), By: receipt.BySilent, Before: version{Text: unsaved}}
		o.addText(textStep{buffer: b, doc: doc, want: was})
		return stand{}, nil
	default:
		return stand{hasUnsaved, ok}, nil
	}
}

func (o *undoing) open(ctx context.Context, path string) (workspace.Document, bool, error) {
	if o.ask.Editor == nil {
		return workspace.Document{}, false, nil
	}
	return o.ask.Editor.Text(ctx, path)
}

// onDisk is the text of a file, "" when it has none.
func (o *undoing) onDisk(name string) string {
	root, rel, ok := o.project.place(name)
	if !ok {
		return ""
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return ""
	}
	defer dir.Close()
	info, err := dir.Lstat(filepath.FromSlash(rel))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxText {
		return ""
	}
	data, err := dir.ReadFile(filepath.FromSlash(rel))
	if err != nil || !utf8.Valid(data) {
		return ""
	}
	return string(bytes.TrimPrefix(data, []byte(mark)))
}

// loader is an Editor that may load the file of a document without unsaved text by itself (see package workspace).
type loader interface {
	Load(ctx context.Context, doc workspace.Document, hurry bool) (loaded bool, err error)
}

// follow brings an open document without unsaved text to its file, which was restored. Where it does not take it, it is behind,
// and the editor's to load.
func (o *undoing) follow(ctx context.Context, name, want string) {
	doc, open, err := o.open(ctx, name)
	if err != nil || !open {
		return
	}
	now := strings.TrimPrefix(doc.Text, mark)
	if now == spelled(want, now) || doc.Hash != o.clean[name].Hash {
		return // it was quicker, or the user types
	}
	loaded := false
	if l, ok := o.ask.Editor.(loader); ok {
		loaded, err = l.Load(ctx, doc, true)
	}
	if !loaded && err == nil {
		a := edit(doc, want)
		a.Disk = workspace.Holds
		_, err = o.ask.Editor.Apply(ctx, a)
	}
	o.store.warn("an open document did not take on its restored file", err)
}

// edit changes a document's text into another, with its own line endings.
func edit(doc workspace.Document, want string) workspace.Apply {
	now := strings.TrimPrefix(doc.Text, mark)
	skip := len(doc.Text) - len(now)
	edits := text.Diff(now, spelled(want, now))
	for i := range edits {
		edits[i].Start, edits[i].End = edits[i].Start+skip, edits[i].End+skip
	}
	return workspace.Apply{Document: doc, Edits: edits, Label: "taken back"}
}

// apply carries out one step of a document. The error says why it was not done.
func (o *undoing) apply(ctx context.Context, t *textStep) error {
	a := edit(t.doc, t.want)
	if t.Before.Clean {
		if o.onDisk(string(t.Path)) == t.want {
			a.Disk = workspace.Holds
		} else {
			a.Save = true
		}
	}
	applied, err := o.ask.Editor.Apply(ctx, a)
	if err != nil {
		return err
	}
	want := spelled(t.want, strings.TrimPrefix(t.doc.Text, mark))
	if !applied.Landed && !workspace.Landed(t.doc.Text, applied.Document.Text, want) {
		return workspace.ErrNotSeen
	}
	t.done = true
	return nil
}
