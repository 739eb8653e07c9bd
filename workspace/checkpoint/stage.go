package checkpoint

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"sallyport/workspace/checkpoint/pack"
)

// staged is a file or link that stands beside its place, ready to be renamed.
type staged struct {
	step Step
	temp string
	info fs.FileInfo // of a temporary file
}

// writeFiles writes all files beside their places, makes them last, and renames them. The journal lists the temporary files, so
// that a later process removes what a crash leaves.
func (r *restore) writeFiles(steps []Step) error {
	var list []staged
	var names []stray
	for _, s := range steps {
		if (s.Before.Kind != File && s.Before.Kind != Link) || r.failed(s) {
			continue
		}
		var b [tempDigits / 2]byte
		_, _ = rand.Read(b[:]) // never fails
		st := staged{step: s, temp: tempPrefix + hex.EncodeToString(b[:]) + tempSuffix}
		list = append(list, st)
		names = append(names, stray{[]byte(s.Root), []byte(siblingOf(s.Path, st.temp))})
	}
	if len(list) == 0 {
		return nil
	}
	journal, err := r.store.begin(names)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(journal) }()
	together := canSyncAll && len(list) > 8 // one sync of everything is quicker than many
	for _, st := range list {
		if err := r.ctx.Err(); err != nil {
			r.unstage()
			return err
		}
		err := r.stage(st, !together)
		if failed := (storeError{}); errors.As(err, &failed) {
			r.unstage()
			return failed.error
		}
		if err != nil {
			r.conflict(st.step, err)
		}
	}
	if together {
		r.syncRoots()
	}
	r.countNames()
	for _, st := range r.staged {
		r.one(st.step, func(s Step) error { return r.place(s, st.temp) })
	}
	return nil
}

func siblingOf(path, name string) string {
	return path[:strings.LastIndexByte(path, '/')+1] + name
}

func (r *restore) stage(st staged, sync bool) error {
	s := st.step
	if s.Now.Kind == File && s.Before.Kind == File && s.Now.Hash == s.Before.Hash {
		r.staged = append(r.staged, staged{step: s}) // the mode alone
		return nil
	}
	dir, name, err := r.at.makeParent(s.Root, s.Path)
	if err != nil {
		return err
	}
	defer dir.Close()
	r.store.step("stage")
	if s.Before.Kind == Link {
		target, err := r.store.content(s.Before.Hash)
		if err != nil {
			return storeError{err}
		}
		err = dir.Symlink(string(target), st.temp)
		if err == nil {
			r.staged = append(r.staged, st)
		}
		return err
	}
	if r.linked(dir, &st) {
		r.staged = append(r.staged, st)
		return nil
	}
	f, err := dir.OpenFile(st.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	r.store.step("temp made")
	err = r.fill(f, &st, dir, name)
	if err == nil && sync {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = dir.Remove(st.temp)
		return err
	}
	r.staged = append(r.staged, st)
	r.store.step("staged")
	return nil
}

// fill gives a temporary file its content, and what it keeps of the file whose place it takes; the mode last, as a change of the
// owner takes bits off.
func (r *restore) fill(f *os.File, st *staged, dir *os.Root, name string) error {
	s := &st.step
	err := r.store.objects.WriteTo(f, s.Before.Hash)
	if errors.Is(err, pack.ErrDamaged) || errors.Is(err, pack.ErrMissing) {
		return storeError{err}
	}
	if err != nil {
		return err
	}
	mode := s.Before.Mode
	if s.Now.Kind == File && s.seen.info != nil {
		s.Lost = keepOf(dir, name, s.seen.info, f)
		if mode&0o6000 != 0 && slices.Contains(s.Lost, lostOwner) {
			mode &^= 0o6000
			s.Lost = append(s.Lost, lostSpecial)
		}
	}
	if err := f.Chmod(fileMode(mode)); err != nil {
		return err
	}
	st.info, err = f.Stat()
	return err
}

// linked makes a file that has several names now, all of which become the same, one file again.
func (r *restore) linked(dir *os.Root, st *staged) bool {
	s := st.step
	if s.Now.Kind != File || s.seen.info == nil {
		return false
	}
	id, names := inodeOf(s.seen.info)
	if names < 2 {
		return false
	}
	i, ok := r.inodes[id]
	if !ok || !r.is(i, id) || r.staged[i].step.Root != s.Root || r.staged[i].step.Before != s.Before {
		if r.inodes == nil {
			r.inodes = map[inode]int{}
		}
		r.inodes[id] = len(r.staged) // this one, if it is staged
		return false
	}
	other := r.staged[i]
	root, err := r.at.root(s.Root)
	if err != nil || root.Link(siblingOf(other.step.Path, other.temp), siblingOf(s.Path, st.temp)) != nil {
		return false
	}
	info, err := dir.Lstat(st.temp)
	if err == nil && os.SameFile(info, other.info) {
		st.info = info
		return true
	}
	_ = dir.Remove(st.temp)
	return false
}

// is says whether a file that takes the place of an inode is staged there.
func (r *restore) is(i int, id inode) bool {
	if i >= len(r.staged) || r.staged[i].info == nil || r.staged[i].step.seen.info == nil {
		return false
	}
	of, _ := inodeOf(r.staged[i].step.seen.info)
	return of == id
}

// countNames tells of files that have names which are not restored with them.
func (r *restore) countNames() {
	restored := map[inode]uint64{}
	for _, st := range r.staged {
		if st.info != nil && st.step.seen.info != nil {
			id, _ := inodeOf(st.step.seen.info)
			restored[id]++
		}
	}
	for i := range r.staged {
		st := &r.staged[i]
		if st.info == nil || st.step.Now.Kind != File || st.step.seen.info == nil {
			continue
		}
		if id, names := inodeOf(st.step.seen.info); names > restored[id] {
			st.step.Lost = append(st.step.Lost, lostLinks)
		}
	}
}

// unstage removes all temporary files: nothing is going to be placed.
func (r *restore) unstage() {
	for _, st := range r.staged {
		if dir, _, err := r.at.parent(st.step.Root, st.step.Path); err == nil && st.temp != "" {
			_ = dir.Remove(st.temp)
			_ = dir.Close()
		}
	}
	r.staged = nil
}

func (r *restore) syncRoots() {
	for _, root := range r.at.open {
		if f, err := root.Open("."); err == nil {
			_ = syncAll(f) // a file system that cannot sync is no reason to stop
			_ = f.Close()
		}
	}
}

// place renames a staged file to where it belongs, if that is still as planned.
func (r *restore) place(s Step, temp string) (err error) {
	dir, name, err := r.at.parent(s.Root, s.Path)
	if err != nil {
		return err
	}
	defer dir.Close()
	defer func() {
		if err != nil && temp != "" {
			_ = dir.Remove(temp)
		}
	}()
	was := s
	if removes(s) {
		was.Now, was.seen = State{}, seen{} // it was removed
	}
	if err := r.same(dir, name, was); err != nil {
		return err
	}
	r.store.step("place")
	if temp == "" {
		err = dir.Chmod(name, fileMode(s.Before.Mode))
	} else {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		return err
	}
	r.store.step("placed")
	r.result.Done = append(r.result.Done, s)
	return nil
}

// stray is a temporary file in a project.
type stray struct {
	Root []byte `json:"root"` // base64: paths are bytes
	Path []byte `json:"path"`
}

// begin writes the journal of a restore.
func (s *Store) begin(names []stray) (string, error) {
	data, err := json.Marshal(names)
	if err != nil {
		return "", fmt.Errorf("writing journal: %w", err)
	}
	name := filepath.Join(s.dir, "restoring", rand.Text())
	if err := pack.Replace(name, data, s.step); err != nil {
		return "", fmt.Errorf("writing journal: %w", err)
	}
	return name, nil
}

// clearUp removes temporary files of restores that a crash ended. The caller has the lock alone, so no restore runs.
func (s *Store) clearUp() {
	for _, folder := range []string{"restoring", "checkpoints", "index"} {
		entries, err := os.ReadDir(filepath.Join(s.dir, folder))
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := filepath.Join(s.dir, folder, e.Name())
			switch {
			case strings.HasPrefix(e.Name(), "."): // our own, half written
				_ = os.Remove(name)
			case folder == "restoring":
				removeStrays(name)
			}
		}
	}
}

func removeStrays(journal string) {
	data, err := os.ReadFile(journal)
	if err != nil {
		return
	}
	var names []stray
	if json.Unmarshal(data, &names) == nil {
		at := &places{}
		defer at.close()
		for _, n := range names {
			path := string(n.Path)
			if !machinery(path[strings.LastIndexByte(path, '/')+1:]) {
				continue // none of ours
			}
			dir, name, err := at.folderOf(string(n.Root), path, false)
			if err == nil {
				_ = dir.Remove(name)
				_ = dir.Close()
			}
		}
	}
	_ = os.Remove(journal)
}
