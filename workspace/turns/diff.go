package turns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"unicode/utf8"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
	"sallyport/workspace/text"
)

// FileDiff is what became of one path, for people.
type FileDiff struct {
	Root   string              `json:"root"`
	Path   string              `json:"path"` // slashed, relative to Root
	Kind   string              `json:"kind"` // as in receipt.Change
	By     receipt.Attribution `json:"by"`
	Before Side                `json:"before"`
	After  Side                `json:"after"`
	Buffer bool                `json:"buffer,omitzero"` // of an open document, not of the disk
	Shown
}

// Side is one state of a path.
type Side struct {
	Kind   string `json:"kind"`            // as in receipt.State
	Mode   string `json:"mode,omitzero"`   // as in receipt.State
	Size   int64  `json:"size"`            // bytes of a file; -1 when it is not kept
	Target string `json:"target,omitzero"` // of a link
}

// Shown is the difference as text. What is in it comes from files: before a terminal it goes through text.Visible.
type Shown struct {
	Binary  bool   `json:"binary,omitzero"`  // one side is no text
	Omitted string `json:"omitted,omitzero"` // why Unified is empty although the texts differ, one clause
	Unified string `json:"unified,omitzero"` // as of text.Unified
}

// Bounds of what is shown.
const (
	maxShown    = 1 << 20  // bytes of one side
	maxShownAll = 16 << 20 // bytes of all Unified
)

// Diff gives what a record changed, by root and path; for "" the newest turn. Errors: as of Find, and *GoneError.
func (s *Store) Diff(ctx context.Context, folder, turn string) ([]FileDiff, error) {
	unpin, err := s.pinned(ctx)
	if err != nil {
		return nil, fmt.Errorf("showing a turn: %w", err)
	}
	defer unpin()
	e, err := s.recordFor(ctx, folder, turn)
	if err != nil {
		return nil, err
	}
	if e.trace == nil {
		return nil, &GoneError{Turn: e.Turn, Why: e.Why}
	}
	held, _, err := s.points(ctx, e.trace)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &GoneError{Turn: e.Turn, Why: "its checkpoints are no longer kept"}
	}
	if err != nil {
		return nil, fmt.Errorf("showing %s: %w", e.Turn, err)
	}
	d := &showing{ctx: ctx, held: held, left: maxShownAll}
	out, err := d.trace(e.trace)
	if err != nil {
		return nil, fmt.Errorf("showing %s: %w", e.Turn, err)
	}
	return out, nil
}

// recordFor is find, but "" is the newest turn.
func (s *Store) recordFor(ctx context.Context, folder, ref string) (entry, error) {
	if ref != "" {
		return s.find(ctx, folder, ref)
	}
	var out entry
	err := s.history(ctx, folder, func(e entry) bool {
		if e.Kind == receipt.Turn {
			out = e
		}
		return out.Turn == ""
	})
	if err == nil && out.Turn == "" {
		err = ErrNotFound
	}
	return out, err
}

// showing makes differences for people.
type showing struct {
	ctx  context.Context
	held *checkpoint.Store
	left int // bytes of Unified that may still come
	// disk, if not nil, reads what stands at a path now, for states that no checkpoint has.
	disk func(root, path string) []byte
}

func (d *showing) trace(t *trace) ([]FileDiff, error) {
	states, err := statesOf(d.ctx, d.held, t)
	if err != nil {
		return nil, err
	}
	var out []FileDiff
	for i := range t.Changes {
		c := &t.Changes[i]
		s, ok := states[c.key()]
		if !ok {
			continue // the trace is of other checkpoints
		}
		f := FileDiff{Root: string(c.Root), Path: string(c.Path), Kind: string(c.Kind), By: c.By}
		if err := d.show(&f, s[0], s[1]); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	p := t.project()
	for i := range t.Buffers {
		f := d.buffer(&t.Buffers[i], p)
		file := checkpoint.State{Kind: checkpoint.File}
		before, after := file, file
		before.Hash, after.Hash = t.Buffers[i].Before.Text, t.Buffers[i].After.Text
		if err := d.show(&f, before, after); err != nil {
			return nil, err
		}
		f.Before.Mode, f.After.Mode = "", ""
		out = append(out, f)
	}
	return out, nil
}

func (d *showing) buffer(b *buffer, p project) FileDiff {
	root, rel, _ := p.place(string(b.Path))
	return FileDiff{Root: root, Path: rel, Kind: receipt.Modified, By: b.By, Buffer: true}
}

// body is the content of one side, as far as it is shown.
type body struct {
	data  []byte
	whole bool
	size  int64
}

// show fills in the two sides and their difference.
func (d *showing) show(f *FileDiff, before, after checkpoint.State) error {
	b, err := d.side(f, &f.Before, before)
	if err != nil {
		return err
	}
	a, err := d.side(f, &f.After, after)
	if err != nil {
		return err
	}
	for _, s := range []checkpoint.State{before, after} {
		if s.Kind != checkpoint.File && s.Kind != checkpoint.Absent {
			return nil
		}
	}
	if before.Hash == after.Hash && before.Kind == after.Kind {
		return nil // the mode alone
	}
	switch {
	case f.Before.Size < 0 || f.After.Size < 0:
		f.Omitted = "a side is no longer kept"
	case isBinary(b.data) || isBinary(a.data):
		f.Binary = true
	case !b.whole || !a.whole:
		f.Omitted = "too large to show"
	case d.left <= 0:
		f.Omitted = "there is too much to show"
	default:
		f.Unified = text.Unified(path.Clean(f.Path), string(b.data), string(a.data))
		d.left -= len(f.Unified)
	}
	return nil
}

func (d *showing) side(f *FileDiff, out *Side, s checkpoint.State) (body, error) {
	r := stateOf(s)
	out.Kind, out.Mode = r.Kind, r.Mode
	if s.Kind != checkpoint.File && s.Kind != checkpoint.Link {
		if s.Kind == checkpoint.LeftOut {
			out.Size = -1
		}
		return body{whole: true}, nil
	}
	b, err := d.read(f, s)
	if errors.Is(err, fs.ErrNotExist) {
		out.Size = -1
		return body{}, nil
	}
	if err != nil {
		return b, err
	}
	if s.Kind == checkpoint.Link {
		out.Target = string(b.data)
		return b, nil
	}
	out.Size = b.size
	return b, nil
}

func (d *showing) read(f *FileDiff, s checkpoint.State) (body, error) {
	in, err := d.held.Content(d.ctx, s.Hash)
	if errors.Is(err, fs.ErrNotExist) && d.disk != nil {
		data := d.disk(f.Root, f.Path)
		if data == nil {
			return body{}, fs.ErrNotExist
		}
		return body{data: data[:min(len(data), maxShown)], whole: len(data) <= maxShown, size: int64(len(data))}, nil
	}
	if err != nil {
		return body{}, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxShown))
	if err != nil {
		return body{}, err
	}
	rest, err := io.Copy(io.Discard, in)
	return body{data: data, whole: rest == 0, size: int64(len(data)) + rest}, err
}

// isBinary judges by what was read, which may end within a rune.
func isBinary(data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return true
	}
	for cut := range utf8.UTFMax {
		if len(data) == maxShown && len(data) > cut && utf8.Valid(data[:len(data)-cut]) {
			return false
		}
	}
	return !utf8.Valid(data)
}

// rehearse shows what an undo would do.
func (o *undoing) rehearse(ctx context.Context) (*Undone, error) {
	d := &showing{ctx: ctx, held: o.held, left: maxShownAll, disk: func(root, path string) []byte {
		return []byte(o.onDisk(absolute(root, path)))
	}}
	add := func(f FileDiff, now, then checkpoint.State) error {
		err := d.show(&f, now, then)
		o.result.Diffs = append(o.result.Diffs, f)
		return err
	}
	by := map[string]*change{}
	for i := range o.target.Changes {
		by[o.target.Changes[i].key()] = &o.target.Changes[i]
	}
	for _, p := range o.disk {
		for i := range p.Steps {
			s := &p.Steps[i]
			state := o.stateFor(s.Change, by)
			o.result.Done = append(o.result.Done, state)
			t := &trace{}
			t.addStep(s, 0, 1)
			if err := add(FileDiff{Root: s.Root, Path: s.Path, Kind: string(t.Changes[0].Kind), By: state.By}, s.Now, s.Before); err != nil {
				return nil, err
			}
		}
	}
	for i := range o.texts {
		t := &o.texts[i]
		o.result.Done = append(o.result.Done, o.stateOfText(&t.buffer))
		f := d.buffer(&t.buffer, o.project)
		now := t.doc.Text
		f.Before = Side{Kind: checkpoint.File.String(), Size: int64(len(now))}
		f.After = Side{Kind: checkpoint.File.String(), Size: int64(len(t.want))}
		if len(now)+len(t.want) > 2*maxShown || d.left <= 0 {
			f.Omitted = "too large to show"
		} else {
			f.Unified = text.Unified(path.Clean(f.Path), now, t.want)
			d.left -= len(f.Unified)
		}
		o.result.Diffs = append(o.result.Diffs, f)
	}
	return o.result, nil
}
