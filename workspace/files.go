package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"sallyport/workspace/disk"
	"sallyport/workspace/fence"
	"sallyport/workspace/text"
)

// Files is the door through which one session reads and writes. Its methods may be called
// from any goroutine. It must not be copied.
type Files struct {
	// Editor with open documents; nil: everything is on disk.
	Editor Editor
	// Policy of the fences; required.
	Policy *fence.Policy
	// SaveAfter a write into a buffer; default WhenClean.
	SaveAfter SavePolicy
	// Record is called once for every access, refused ones too, when it is over; may be nil.
	Record func(Access)
	// Remember this many bytes of the texts that the session has read, as bases for its
	// writes; default 64 MiB. The least recently used ones go first.
	Remember int64
	// MaxRead bytes that one read may give; default disk.MaxRead.
	MaxRead int64

	bases memory
	queue queue
}

// SavePolicy says when a buffer is saved after an agent wrote into it.
type SavePolicy uint8

// The policies: when it was clean before, always, never.
const (
	WhenClean SavePolicy = iota
	Always
	Never
)

// Source is where a text was read or written.
type Source string

// The sources.
const (
	Buffer Source = "buffer"
	Disk   Source = "disk"
)

// Content is what an agent reads.
type Content struct {
	Text   string // the lines asked for, without a byte order mark
	Source Source
	Hash   string // of the whole text; empty for a part of a large file on disk
}

// Access is one access for the record.
type Access struct {
	Kind fence.Access
	// Line and Limit of a read, as asked for.
	Line, Limit int
	// Outcome of a write; of a read the path, the source and the hash After.
	Outcome Outcome
	// Err is why it failed, a *fence.Refusal among others; nil when it was done.
	Err error
}

func (f *Files) record(a Access) {
	if f.Record != nil {
		f.Record(a)
	}
}

// Read gives the text of a file as the user sees it: fence, then the open buffer, then the
// disk. A clean buffer gives way to newer bytes on disk. line counts from 1, limit counts
// lines; 0 or less is no bound; past the end is "". What was read is remembered as the base
// of a later write.
//
// Errors: *fence.Refusal, fs.ErrNotExist, those of disk.Read, and the editor's own for a
// document that is open but whose text is not known: then the disk is not read.
func (f *Files) Read(ctx context.Context, path string, line, limit int) (Content, error) {
	content, err := f.read(ctx, path, line, limit)
	a := Access{Kind: fence.Read, Line: line, Limit: limit, Err: err}
	a.Outcome = Outcome{Path: path, Source: content.Source, Hashes: Hashes{After: content.Hash}}
	f.record(a)
	return content, err
}

func (f *Files) read(ctx context.Context, path string, line, limit int) (Content, error) {
	if err := f.Policy.CheckRead(path); err != nil {
		return Content{}, err
	}
	path = clean(own(), path)
	doc, open, err := f.document(ctx, path, f.Policy.CheckRead)
	if err != nil {
		return Content{}, err
	}
	if open && !doc.Loaded.Behind {
		whole := strings.TrimPrefix(doc.Text, mark)
		f.bases.put(keyFor(doc, path), whole, f.Remember)
		return Content{Text: text.Window(whole, line, limit), Source: Buffer, Hash: hashOf(doc)}, nil
	}
	file, err := f.readDisk(path, line, limit)
	if err != nil {
		return Content{}, err
	}
	key := path
	if open {
		key = keyFor(doc, path)
	}
	if file.Hash != "" {
		f.bases.put(key, file.Text, f.Remember)
	}
	return Content{Text: text.Window(file.Text, file.line, file.limit), Source: Disk, Hash: file.Hash}, nil
}

// document asks the editor for the document of a path that has passed the fence. A document
// that the editor has under another name passes it under that one too: a link could have
// been turned since.
func (f *Files) document(ctx context.Context, path string, fenced func(path string) error) (Document, bool, error) {
	if f.Editor == nil {
		return Document{}, false, nil
	}
	doc, open, err := f.Editor.Text(ctx, path)
	if err != nil {
		return Document{}, false, fmt.Errorf("asking the editor for %s: %w", path, err)
	}
	if open && doc.Path != "" && doc.Path != path {
		if err := fenced(doc.Path); err != nil {
			return Document{}, false, err
		}
	}
	return doc, open, nil
}

// hashOf is the hash of a document as one would have it of the same text on disk: a byte
// order mark does not count.
func hashOf(doc Document) string {
	if content, ok := strings.CutPrefix(doc.Text, mark); ok {
		return text.Hash(content)
	}
	return doc.Hash
}

// keyFor is what a document's base is remembered under: one name, whatever names it has.
func keyFor(doc Document, path string) string {
	if doc.Path != "" {
		return doc.Path
	}
	return path
}

// part is a file of which Text is either the whole (line and limit are still to be taken
// from it) or, with no Hash, just the lines asked for.
type part struct {
	disk.File
	line, limit int
}

// wholeUpTo is the size in bytes up to which a file is read whole for a few of its lines,
// so that the base of a later write is known.
const wholeUpTo = 4 << 20

func (f *Files) readDisk(path string, line, limit int) (part, error) {
	if line > 1 || limit > 0 {
		file, err := disk.Read(f.Policy, path, disk.Window{Max: wholeUpTo})
		if err == nil {
			return part{file, line, limit}, nil
		}
		var large *disk.TooLargeError
		var notText *disk.NotTextError // perhaps not in the lines asked for
		if !errors.As(err, &large) && !errors.As(err, &notText) {
			return part{}, err
		}
	}
	file, err := disk.Read(f.Policy, path, disk.Window{Line: line, Limit: limit, Max: f.MaxRead})
	return part{File: file}, err
}

// Preview gives the present text of a file for a person to look at before a write: neither
// recorded nor remembered. False: there is no such file. Errors as of Read.
func (f *Files) Preview(ctx context.Context, path string) (old string, exists bool, err error) {
	if err := f.Policy.CheckRead(path); err != nil {
		return "", false, err
	}
	path = clean(own(), path)
	doc, open, err := f.document(ctx, path, f.Policy.CheckRead)
	if err != nil {
		return "", false, err
	}
	if open && !doc.Loaded.Behind {
		return strings.TrimPrefix(doc.Text, mark), true, nil
	}
	file, err := f.readDisk(path, 0, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return file.Text, err == nil, err
}

// DirtyInRegion gives the dirty documents that lie in the region and that the agent may
// read, sorted by URI: those that it would not see on disk. It is empty when the editor
// cannot list its documents.
func (f *Files) DirtyInRegion() []Document {
	editor, ok := f.Editor.(lister)
	if !ok {
		return nil
	}
	var list []Document
	for _, doc := range editor.Dirty() {
		if !doc.Untitled() && f.Policy.InRegion(doc.Path) && f.Policy.CheckRead(doc.Path) == nil {
			list = append(list, doc)
		}
	}
	return list
}
