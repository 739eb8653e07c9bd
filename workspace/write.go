package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
	"unicode/utf8"

	"sallyport/workspace/disk"
	"sallyport/workspace/fence"
	"sallyport/workspace/text"
)

// Outcome says what became of a write.
type Outcome struct {
	Path   string
	Source Source // where it was written
	Hashes
	Created   bool
	Unchanged bool // the text was so already: no undo step, nothing written
	Saved     bool // the disk holds it
	KeptCRLF  bool // LF-only content was written with the text's own CRLF
	Merged    bool // the result holds what the user typed since the agent read
}

// Hashes of a text, in the form of text.Hash; empty when there is no such text.
type Hashes struct {
	Before string // of the text that was replaced
	Asked  string // of what the agent asked for, as it would be without others' changes
	After  string // of the result, when a save had settled
}

// ErrNotSeen: the editor said that it applied a write, but its text shows otherwise.
var ErrNotSeen = errors.New("the editor accepted the write, but its text does not show it")

// ConflictError: what the agent changed and what the user typed meanwhile overlap. Nothing
// was written.
type ConflictError struct {
	Path string
	Err  *text.ConflictError
}

// Error names the lines and what to do.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s: %v; read it again and repeat the change on the new text", e.Path, e.Err)
}

// Unwrap gives the conflicting lines.
func (e *ConflictError) Unwrap() error { return e.Err }

// Write writes a file: fence, then the open buffer, else the disk.
//
// In an open document, what the agent changed since the session last read or wrote it is
// brought onto the present text as one undo step (see base for what counts without a read),
// and saved as SaveAfter says. On disk the file is replaced at once, as disk.Write has it.
// Writes to one path happen in the order of Write or Queue. After ctx is over nothing is
// begun any more.
//
// Errors: *fence.Refusal, *ConflictError, ErrReadOnly, ErrNotApplied, ErrNotSeen, those of
// disk.Write, ctx's, and the editor's own. After all of them but ErrNotSeen nothing was
// written.
func (f *Files) Write(ctx context.Context, path, content string) (Outcome, error) {
	return f.Queue(path).Write(ctx, content)
}

// Write is Files.Write from a place in the queue, which it leaves.
func (p *Place) Write(ctx context.Context, content string) (Outcome, error) {
	defer p.Leave()
	out, err := p.write(ctx, content)
	if err != nil {
		out = Outcome{Hashes: Hashes{Asked: text.Hash(content)}}
	}
	out.Path = p.path
	p.files.record(Access{Kind: fence.Write, Outcome: out, Err: err})
	return out, err
}

// maxStale bounds how often a write is made anew because the user types.
const maxStale = 16

func (p *Place) write(ctx context.Context, content string) (Outcome, error) {
	if err := p.Wait(ctx); err != nil {
		return Outcome{}, fmt.Errorf("writing %s: %w", p.path, err)
	}
	f := p.files
	if err := f.Policy.CheckWrite(p.path); err != nil {
		return Outcome{}, err
	}
	if !utf8.ValidString(content) {
		return Outcome{}, fmt.Errorf("writing %s: the new content is not UTF-8", p.path)
	}
	var err error
	for range maxStale {
		doc, open, textErr := f.document(ctx, p.key, f.Policy.CheckWrite)
		if textErr != nil {
			return Outcome{}, textErr
		}
		if !open {
			return f.writeDisk(ctx, p.key, content)
		}
		var out Outcome
		out, err = f.writeBuffer(ctx, doc, p.key, content)
		if !errors.Is(err, ErrStale) && !errors.Is(err, ErrClosed) {
			return out, err
		}
		if err := f.moved(ctx, doc, p.key); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{}, fmt.Errorf("writing %s, which keeps changing: %w", p.path, err)
}

// staleWait is how long a change that the editor has made may take to be announced.
const staleWait = 2 * time.Second

// moved waits until the editor announces what made doc stale, where it can tell.
func (f *Files) moved(ctx context.Context, doc Document, path string) error {
	editor, ok := f.Editor.(waiter)
	if !ok {
		return ctx.Err()
	}
	short, cancel := context.WithTimeout(ctx, staleWait)
	defer cancel()
	_, err := editor.Wait(short, path, func(d Document) bool {
		return d.Version != doc.Version || d.Hash != doc.Hash
	})
	if err == nil || errors.Is(err, ErrClosed) {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("writing %s: %w", path, ctx.Err())
	}
	return fmt.Errorf("writing %s: %w, and does not say how", path, ErrStale)
}

func (f *Files) writeDisk(ctx context.Context, path, content string) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Outcome{}, fmt.Errorf("writing %s: %w", path, err)
	}
	hash := text.Hash(content)
	if f.holds(path, content) {
		f.bases.put(path, content, f.Remember)
		return Outcome{Source: Disk, Hashes: Hashes{hash, hash, hash}, Unchanged: true, Saved: true}, nil
	}
	w, err := disk.Write(f.Policy, path, content)
	if err != nil {
		return Outcome{}, err
	}
	f.bases.put(path, content, f.Remember)
	return Outcome{
		Source: Disk, Hashes: Hashes{w.Before, hash, w.After},
		Created: w.Created, Unchanged: w.Before == w.After, Saved: true, KeptCRLF: w.KeptCRLF,
	}, nil
}

// holds reports whether a file holds just this text already: replacing it would only make
// editors and watchers load it again.
func (f *Files) holds(path, content string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Size() != int64(len(content)) {
		return false
	}
	file, err := disk.Read(f.Policy, path, disk.Window{Max: max(1, info.Size())})
	return err == nil && !file.BOM && file.Text == content
}

func (f *Files) writeBuffer(ctx context.Context, doc Document, path, content string) (Outcome, error) {
	m, err := f.merge(doc, path, content)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Source: Buffer, Hashes: Hashes{hashOf(doc), text.Hash(m.want), hashOf(doc)}, KeptCRLF: m.keptCRLF, Merged: m.result != m.want}
	save := f.SaveAfter == Always || f.SaveAfter == WhenClean && !doc.Dirty
	if len(m.edits) == 0 && (!save || !doc.Dirty) {
		f.bases.put(keyFor(doc, path), m.want, f.Remember)
		out.Unchanged, out.Saved = true, !doc.Dirty
		return out, nil
	}
	if err := ctx.Err(); err != nil {
		return Outcome{}, fmt.Errorf("writing %s: %w", path, err)
	}
	applied, err := f.Editor.Apply(ctx, Apply{Document: doc, Edits: m.edits, Save: save, Label: "by the agent"})
	if err != nil {
		return Outcome{}, f.notApplied(ctx, doc, path, err)
	}
	if !applied.Landed && !Landed(doc.Text, applied.Document.Text, m.result) {
		return Outcome{}, fmt.Errorf("writing %s: %w; read it again", path, ErrNotSeen)
	}
	f.bases.put(keyFor(doc, path), m.want, f.Remember)
	out.After, out.Saved, out.Unchanged = hashOf(applied.Document), applied.Saved, len(m.edits) == 0
	return out, nil
}

// notApplied says why the editor applied nothing. A refusal of a document that has changed
// meanwhile is taken for a stale one: some editors do not say which.
func (f *Files) notApplied(ctx context.Context, doc Document, path string, err error) error {
	if errors.Is(err, ErrNotApplied) {
		now, open, textErr := f.document(ctx, path, f.Policy.CheckWrite)
		if textErr == nil && (!open || now.Version != doc.Version || now.Hash != doc.Hash) {
			return fmt.Errorf("writing %s: %w", path, ErrStale)
		}
	}
	return fmt.Errorf("writing %s: %w", path, err)
}
