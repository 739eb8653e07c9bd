package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
)

// Result is what a restore did.
type Result struct {
	Done      []Step
	Conflicts []Conflict // those of the plan, and what came up since
	// Kept holds what was overwritten by force, absent paths too; nil when nothing was. Store.Plan(ctx, Kept, before, …)
	// brings it back.
	Kept *Checkpoint
}

// Restore carries out a plan. Each path is looked at again first and left alone if it is not as planned. Files and links are
// replaced whole; no other path is touched, no folder is removed that is not empty. After a crash, some paths are as planned and
// the others as they were; a new plan does the rest.
//
// An error means that the store or ctx ended it; the result says what was done until then. What is wrong with one path is a
// conflict.
func (s *Store) Restore(ctx context.Context, p *Plan) (*Result, error) {
	r := &restore{store: s, ctx: ctx, result: &Result{Conflicts: slices.Clone(p.Conflicts)}}
	unlock, err := s.shared(ctx)
	if err != nil {
		return r.result, err
	}
	defer unlock()
	defer r.at.close()
	steps := slices.Clone(p.Steps)
	slices.SortStableFunc(steps, func(a, b Step) int {
		return cmp.Or(strings.Compare(a.Root, b.Root), strings.Compare(a.Path, b.Path))
	})
	if steps, err = r.keep(steps); err != nil {
		return r.result, fmt.Errorf("keeping what is overwritten: %w", err)
	}
	if err := r.run(steps); err != nil {
		return r.result, fmt.Errorf("restoring: %w", err)
	}
	return r.result, nil
}

type restore struct {
	store  *Store
	ctx    context.Context
	at     places
	result *Result
	staged []staged
	inodes map[inode]int // where staged has the first name of a file that has several now
}

// run goes from folders that are opened, over what is removed, deepest first, and folders, shallowest first, to files and at last the
// modes of folders.
func (r *restore) run(steps []Step) error {
	var modes []Step
	each := func(list []Step, which func(Step) bool, do func(Step) error) error {
		for _, s := range list {
			if err := r.ctx.Err(); err != nil {
				return err
			}
			if which(s) {
				r.one(s, do)
			}
		}
		return nil
	}
	if err := each(steps, opens, r.open); err != nil {
		return err
	}
	deepest := slices.Clone(steps)
	slices.Reverse(deepest)
	if err := each(deepest, removes, r.remove); err != nil {
		return err
	}
	if err := each(steps, makesFolder, r.makeFolder); err != nil {
		return err
	}
	if err := r.writeFiles(steps); err != nil {
		return err
	}
	for _, s := range deepest {
		if s.Before.Kind == Folder {
			modes = append(modes, s)
		}
	}
	return each(modes, func(Step) bool { return true }, r.folderMode)
}

// removes says whether what stands there goes before anything is made: also where another kind takes the place of a folder, or
// a folder takes a place.
func removes(s Step) bool {
	if s.Now.Kind == Absent {
		return false
	}
	return s.Before.Kind == Absent || (s.Before.Kind == Folder) != (s.Now.Kind == Folder)
}

func makesFolder(s Step) bool { return s.Before.Kind == Folder && s.Now.Kind != Folder }

// opens says whether a folder gets a mode with which its owner can do what the one that it has forbids: that comes first, as there
// may be something to do in it.
func opens(s Step) bool {
	const all = 0o700
	return s.Before.Kind == Folder && s.Now.Kind == Folder && s.Before.Mode&all == all && s.Now.Mode&all != all
}

// one does one step in the end or makes a conflict of it.
func (r *restore) one(s Step, do func(Step) error) {
	if err := do(s); err != nil {
		r.conflict(s, err)
	}
}

func (r *restore) conflict(s Step, err error) {
	for _, c := range r.result.Conflicts {
		if c.Root == s.Root && c.Path == s.Path {
			return // of an earlier part of the same step
		}
	}
	r.result.Conflicts = append(r.result.Conflicts, Conflict{Change: s.Change, Now: s.Now, Why: why(err)})
}

func (r *restore) failed(s Step) bool {
	return slices.ContainsFunc(r.result.Conflicts, func(c Conflict) bool { return c.Root == s.Root && c.Path == s.Path })
}

var errSince = errors.New("changed since")

func why(err error) string {
	switch {
	case errors.Is(err, errSince):
		return "changed since"
	case isNotEmpty(err):
		return "has other files in it"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	default:
		return err.Error()
	}
}

// same makes sure that what was planned for still stands there.
func (r *restore) same(dir *os.Root, name string, s Step) error {
	info, err := dir.Lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil {
		info = nil
	}
	if s.Now.Kind == Folder && info != nil && info.IsDir() && modeOf(info.Mode()) == s.Now.Mode {
		return nil // its times change with what is in it
	}
	if unchanged(s.seen.info, info) {
		return nil
	}
	again, err := look(dir, name) // its times may be others, as those of a file whose other hard link was just replaced
	if err == nil && (again.State != s.Now || s.Now.Kind == LeftOut) {
		err = errSince
	}
	return err
}

func (r *restore) remove(s Step) error {
	dir, name, err := r.at.parent(s.Root, s.Path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := r.same(dir, name, s); err != nil {
		return err
	}
	r.store.step("remove")
	if err := dir.Remove(name); err != nil { // of a folder, only when it is empty
		return err
	}
	r.store.step("removed")
	if s.Before.Kind == Absent {
		r.result.Done = append(r.result.Done, s)
	}
	return nil
}

func (r *restore) makeFolder(s Step) error {
	if r.failed(s) {
		return nil
	}
	dir, name, err := r.at.makeParent(s.Root, s.Path)
	if err != nil {
		return err
	}
	defer dir.Close()
	r.store.step("make folder")
	if err := dir.Mkdir(name, newFolder); err != nil { // its mode comes when it is full
		return err
	}
	r.store.step("folder made")
	return nil
}

func (r *restore) open(s Step) error { return r.chmodFolder(s, s.Now.Mode) }

func (r *restore) folderMode(s Step) error {
	if r.failed(s) {
		return nil
	}
	now := s.Now.Mode
	if s.Now.Kind != Folder {
		now = newFolder
	}
	if err := r.chmodFolder(s, now); err != nil {
		return err
	}
	r.result.Done = append(r.result.Done, s)
	return nil
}

// chmodFolder gives a folder its mode, if it has the one that it should have now, or that already.
func (r *restore) chmodFolder(s Step, now uint32) error {
	dir, name, err := r.at.parent(s.Root, s.Path)
	if err != nil {
		return err
	}
	defer dir.Close()
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	switch mode := modeOf(info.Mode()); {
	case !info.IsDir():
		return errSince
	case mode == s.Before.Mode:
		return nil
	case mode&^special != now&^special && canChmod:
		return errSince
	}
	r.store.step("folder mode")
	if err := dir.Chmod(name, fileMode(s.Before.Mode)); err != nil {
		return err
	}
	r.store.step("folder mode set")
	return nil
}

// newFolder is the mode of a folder that is made, until it is full; a system may add special bits, as the folder above has them.
const (
	newFolder = 0o700
	special   = 0o7000
	canChmod  = runtime.GOOS != "windows"
)
