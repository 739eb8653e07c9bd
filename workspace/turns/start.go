package turns

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"syscall"
	"time"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
)

// Buffer is the unsaved text of an open document.
type Buffer struct {
	Path string // absolute
	Text string // as the editor has it
}

// Start is how a turn begins.
type Start struct {
	Turn    string // its id, unique: letters, digits, '-' and '_'
	Session string
	Folder  string   // of the session, absolute
	Roots   []string // additional folders, absolute
	Agent   *receipt.Agent
	Held    receipt.Held
	// Documents are all dirty ones of the editor; those outside the folders do not count.
	Documents []Buffer
	// Placeholders are absolute paths at which a fence of ours keeps an empty folder while an agent lives: one that is made or
	// goes is no change of the turn, and no undo touches it.
	Placeholders []string
	// Options of the checkpoints; the zero value is Config.Checkpoint. Base and Texts are not used.
	Options checkpoint.Options
}

// Begin takes the checkpoint and begins the journal. It waits for an undo of these folders, and for the end of turns whose process
// is gone. That no checkpoint could be taken is no error: Running.Uncovered says so. Errors: of the arguments, and ctx's.
func (s *Store) Begin(ctx context.Context, start Start) (*Running, error) {
	if !validID(start.Turn) {
		return nil, fmt.Errorf("beginning turn: %q is no id", start.Turn)
	}
	p, err := settleProject(start.Folder, start.Roots)
	if err != nil {
		return nil, fmt.Errorf("beginning turn %s: %w", start.Turn, err)
	}
	r := &Running{store: s, project: p, options: start.Options}
	r.comparing, r.stop = make(chan struct{}, 1), make(chan struct{})
	if reflect.ValueOf(r.options).IsZero() {
		r.options = s.config.Checkpoint
	}
	r.begun = begun{
		Head:  receipt.Head{Kind: receipt.Turn, Turn: start.Turn, Session: start.Session, Agent: start.Agent},
		Roots: p.bytes(), Started: s.config.Now(), Held: start.Held, Limits: limitsOf(r.options), Placeholders: bytesOf(start.Placeholders),
	}
	s.endDead(ctx, p.roots)
	r.journal, err = s.enter(ctx, &r.begun)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("beginning turn %s: %w", start.Turn, err)
	}
	if err != nil {
		s.warn("a turn has no journal", err, "turn", start.Turn)
		r.covered.None = "its journal cannot be written: " + clause(err)
		return r, nil
	}
	if err := r.cover(ctx, start.Documents); err != nil {
		r.journal.remove()
		return nil, fmt.Errorf("beginning turn %s: %w", start.Turn, err)
	}
	r.beats.Go(r.beat)
	return r, nil
}

// cover takes the checkpoint before the turn. The error is ctx's.
func (r *Running) cover(ctx context.Context, docs []Buffer) error {
	unpin, err := r.store.pinned(ctx)
	var before *checkpoint.Checkpoint
	if err == nil {
		defer unpin()
		before, _, err = r.take(ctx, nil, docs)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		r.store.warn("a turn has no checkpoint", err, "turn", r.begun.Turn)
		r.covered = covered{None: clause(err)}
	} else {
		r.before = before
		r.covered = covered{Before: before.ID, Files: before.Stats.Files}
	}
	err = r.journal.write(&line{Covered: &r.covered})
	if err == nil {
		err = r.journal.sync()
	}
	if err != nil {
		r.store.warn("a turn's journal was not written", err, "turn", r.begun.Turn)
		r.covered = covered{None: "its journal cannot be written: " + clause(err)}
	}
	return nil
}

// take takes a checkpoint of the turn's folders.
func (r *Running) take(ctx context.Context, base *checkpoint.Checkpoint, docs []Buffer) (*checkpoint.Checkpoint, []string, error) {
	held, err := r.store.checkpoints(ctx)
	if err != nil {
		return nil, nil, err
	}
	o := r.options
	o.Base, o.Texts = base, texts(r.project, docs)
	if base != nil {
		return takeAgain(ctx, held, o)
	}
	var there []string
	for i, root := range r.project.roots {
		if _, err := os.Lstat(root); i == 0 || err == nil { // an additional one may be of another machine
			there = append(there, root)
		}
	}
	c, err := held.Take(ctx, there, o)
	return c, nil, err
}

// takeAgain takes a checkpoint of the folders of o.Base. One that is gone is an empty one: all that was in it was removed. Those are
// named.
func takeAgain(ctx context.Context, held *checkpoint.Store, o checkpoint.Options) (c *checkpoint.Checkpoint, gone []string, err error) {
	roots := rootsOf(o.Base)
	for _, root := range roots {
		if _, err := os.Lstat(root); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.Mkdir(root, 0o700); err != nil {
			return nil, gone, fmt.Errorf("the folder %s is gone: %w", root, err)
		}
		gone = append(gone, root)
		defer os.Remove(root) // it is empty
	}
	c, err = held.Take(ctx, roots, o)
	return c, gone, err
}

// aboutGone is the alarm about a folder that was removed whole.
func aboutGone(root string) string {
	return "the folder " + root + " was removed; an undo brings back what the checkpoint holds of it, and no repository of git"
}

// texts are the unsaved texts of documents in the folders, by settled path.
func texts(p project, docs []Buffer) map[string][]byte {
	var out map[string][]byte
	for _, d := range docs {
		path := settle(d.Path)
		if _, _, ok := p.place(path); !ok {
			continue
		}
		if out == nil {
			out = map[string][]byte{}
		}
		out[path] = []byte(d.Text)
	}
	return out
}

// clause says in one clause for people why something could not be kept.
func clause(err error) string {
	switch {
	case errors.Is(err, checkpoint.ErrTooWide):
		return "the folder " + checkpoint.ErrTooWide.Error()
	case errors.Is(err, syscall.ENOSPC):
		return "the disk with the state folder is full"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Sprintf("permission denied (%v)", err)
	default:
		return err.Error()
	}
}

// beatEvery is how often a turn gives a sign of life.
const beatEvery = time.Second

func (r *Running) beat() {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.journal.beat()
		case <-r.stop:
			return
		}
	}
}
