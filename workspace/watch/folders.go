package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// ErrMaxFolders says that there are more folders than are watched.
var ErrMaxFolders = errors.New("there are more folders than are watched at once")

// role is why a folder is watched.
type role uint8

const (
	inTree role = 1 << iota
	isFlat
	isAnchor
)

// folders is what is watched. It belongs to the watcher's goroutine.
type folders struct {
	options Options
	source  source
	known   map[string]role
	roots   map[string]role // the trees and flat folders that are wished, there or not
	limited bool
}

// machinery are the folders that version control systems keep for themselves.
var machinery = []string{".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", ".pijul"}

func (f *folders) skips(folder string) bool {
	return slices.Contains(machinery, filepath.Base(folder)) || f.options.Skip != nil && f.options.Skip(folder)
}

// trees begins with the trees.
func (f *folders) trees(ctx context.Context, roots []string) {
	for _, r := range roots {
		f.roots[filepath.Clean(r)] |= inTree
	}
	f.settle(ctx, nil)
}

// flats makes these the flat folders, and reports whether one is new.
func (f *folders) flats(ctx context.Context, list []string) (more bool) {
	wished := map[string]bool{}
	for _, folder := range list {
		wished[filepath.Clean(folder)] = true
	}
	for folder, r := range f.roots {
		if r&isFlat != 0 && !wished[folder] {
			f.roots[folder] &^= isFlat
			f.release(folder, isFlat)
			if f.roots[folder] == 0 {
				delete(f.roots, folder)
			}
		}
	}
	for folder := range wished {
		if f.roots[folder]&isFlat == 0 {
			f.roots[folder] |= isFlat
			more = true
		}
	}
	f.settle(ctx, nil)
	return more
}

// maxTries bounds how often an anchor is sought for one that is not there.
const maxTries = 100

// settle watches the roots that are there, and anchors for those that are not. What has
// come back is noted in b.
func (f *folders) settle(ctx context.Context, b *batch) {
	anchors := map[string]bool{}
	for root, r := range f.roots {
		if f.known[root]&r == r {
			continue
		}
		came := f.watchRoot(ctx, root, r)
		for range maxTries { // folders come and go while an anchor is sought
			if came || ctx.Err() != nil {
				break
			}
			anchor := nearest(root)
			if anchor == "" {
				break
			}
			err := f.watch(anchor, isAnchor)
			anchors[anchor] = err == nil
			if f.full(err) || errors.Is(err, fs.ErrPermission) {
				break
			}
			if came = f.watchRoot(ctx, root, r); err == nil && nearest(root) == anchor {
				break
			}
		}
		if came && b != nil {
			b.overflow = true
		}
	}
	for folder, r := range f.known {
		if r&isAnchor != 0 && !anchors[folder] && !f.anchors(folder) {
			f.release(folder, isAnchor)
		}
	}
}

// anchors reports whether a root that is not there hangs on a folder.
func (f *folders) anchors(folder string) bool {
	for root, r := range f.roots {
		if f.known[root]&r != r && nearest(root) == folder {
			return true
		}
	}
	return false
}

// leads reports whether a root that is not watched is a path, or lies below it.
func (f *folders) leads(path string) bool {
	for root, r := range f.roots {
		if f.known[root]&r != r && (root == path || strings.HasPrefix(root, path+string(filepath.Separator))) {
			return true
		}
	}
	return false
}

// nearest is the lowest folder above a path that is there; "" when there is none.
func nearest(path string) string {
	for {
		up := filepath.Dir(path)
		if up == path {
			return ""
		}
		if isFolder(up) {
			return up
		}
		path = up
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// watchRoot watches a tree or flat folder, and reports whether it does.
func (f *folders) watchRoot(ctx context.Context, root string, r role) bool {
	if !isFolder(root) {
		return false
	}
	if r&isFlat != 0 && f.known[root]&isFlat == 0 {
		_ = f.watch(root, isFlat)
	}
	if r&inTree != 0 && f.known[root]&inTree == 0 {
		f.tree(ctx, root, nil)
	}
	return f.known[root]&r == r
}

// tree watches a folder and all below it, level by level. What lies in them is noted in b:
// it may have been made before we looked.
func (f *folders) tree(ctx context.Context, root string, b *batch) {
	for level := []string{root}; len(level) > 0; {
		var below []string
		for _, folder := range level {
			if ctx.Err() != nil || f.full(f.watch(folder, inTree)) {
				return
			}
			entries, err := os.ReadDir(folder)
			if err != nil {
				continue // it is gone, or closed to us: who compares will see
			}
			for _, e := range entries {
				path := filepath.Join(folder, e.Name())
				if b != nil {
					b.add(path)
				}
				if e.IsDir() && !f.skips(path) {
					below = append(below, path)
				}
			}
		}
		level = below
	}
}

// watch watches one folder for a reason.
func (f *folders) watch(folder string, r role) error {
	if f.known[folder] == 0 {
		if len(f.known) >= f.options.MaxFolders {
			f.limit(fmt.Errorf("%w (%d)", ErrMaxFolders, f.options.MaxFolders))
			return ErrMaxFolders
		}
		if err := f.source.Add(folder); err != nil {
			if isFull(err) {
				f.limit(fmt.Errorf("watching folders: %w", err))
			}
			return err // otherwise it is gone, or closed to us
		}
	}
	f.known[folder] |= r
	return nil
}

// full reports whether an error says that no folder more can be watched.
func (f *folders) full(err error) bool { return errors.Is(err, ErrMaxFolders) || isFull(err) }

func (f *folders) limit(err error) {
	if !f.limited && f.options.Limited != nil {
		f.options.Limited(err)
	}
	f.limited = true
}

// release gives up one reason for watching a folder.
func (f *folders) release(folder string, r role) {
	if f.known[folder] == 0 {
		return
	}
	if f.known[folder] &^= r; f.known[folder] == 0 {
		delete(f.known, folder)
		_ = f.source.Remove(folder) // it may have gone with the folder
	}
}

// forget drops a folder that went away, with all below it.
func (f *folders) forget(folder string) {
	below := folder + string(filepath.Separator)
	for other := range f.known {
		if other == folder || strings.HasPrefix(other, below) {
			delete(f.known, other)
			_ = f.source.Remove(other)
		}
	}
}

// take makes of what the source told a batch, and follows what it says of folders.
func (f *folders) take(ctx context.Context, p *pending, b *batch) {
	ops, lost := p.take()
	gone := false
	for name, op := range ops {
		if f.known[name] != 0 && op&(fsnotify.Remove|fsnotify.Rename) != 0 {
			f.forget(name) // what stands there now, if anything, is another
			gone = true
		}
	}
	for name, op := range ops {
		up := f.known[filepath.Dir(name)]
		if up&(inTree|isFlat) != 0 || f.roots[name] != 0 {
			b.add(name)
		}
		if up&inTree != 0 && op&(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) != 0 && f.known[name]&inTree == 0 {
			f.come(ctx, name, b)
		}
		gone = gone || up&isAnchor != 0 && f.leads(name)
	}
	if lost {
		b.overflow = true
		f.again(ctx)
	}
	if gone || lost {
		f.settle(ctx, b)
	}
}

// come takes in a path that has come in a tree, if it is a folder.
func (f *folders) come(ctx context.Context, path string, b *batch) {
	if info, err := os.Lstat(path); err == nil && info.IsDir() && !f.skips(path) {
		f.tree(ctx, path, b)
	}
}

// again watches what was missed: folders that came, and those that were put in the place of
// one that was watched.
func (f *folders) again(ctx context.Context) {
	for folder := range f.known {
		if f.source.Add(folder) != nil { // it does nothing where the watch lives
			f.forget(folder)
		}
	}
	for root, r := range f.roots {
		if r&inTree != 0 && isFolder(root) {
			f.tree(ctx, root, nil)
		}
	}
}
