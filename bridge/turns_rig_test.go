package bridge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/bridge"
	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

// keeping makes the rig's bridge keep turns.
func keeping(r *rig) {
	r.t.Helper()
	store, err := turns.Open(r.ctx(), turns.Config{State: r.state()})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { // runs after the bridge was closed: it was registered before
		if err := store.Close(); err != nil {
			r.t.Errorf("closing the record of turns: %v", err)
		}
	})
	r.Turns = store
}

// state is the folder of our state.
func (r *rig) state() string { return filepath.Join(filepath.Dir(r.folder), "state") }

// receiptOf reads the receipt of a turn.
func (r *rig) receiptOf(turn string) *receipt.Receipt {
	r.t.Helper()
	got, err := r.Receipt(r.ctx(), r.folder, turn)
	if err != nil {
		r.t.Fatalf("the receipt of %q: %v", turn, err)
	}
	return got
}

// changes are the changes of a receipt, a line each: path, kind and whose it is.
func changes(all []receipt.Change) string {
	lines := make([]string, 0, len(all))
	for _, c := range all {
		lines = append(lines, fmt.Sprintf("%s %s %s", c.Path, c.Kind, c.By))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// undo takes a turn back.
func (r *rig) undo(turn string) *turns.Undone {
	r.t.Helper()
	done, err := r.TurnUndo(r.ctx(), turns.Undo{Folder: r.folder, Turn: turn})
	if err != nil {
		r.t.Fatalf("taking back %q: %v", turn, err)
	}
	if len(done.Conflicts) > 0 {
		r.t.Fatalf("taking back %q: conflicts %+v", turn, done.Conflicts)
	}
	return done
}

// tree is every file of the project with its text, a line each.
func (r *rig) tree() string {
	r.t.Helper()
	var lines []string
	err := filepath.WalkDir(r.folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == r.folder {
			return err
		}
		rel, _ := filepath.Rel(r.folder, path)
		if d.IsDir() {
			lines = append(lines, filepath.ToSlash(rel)+"/")
			return nil
		}
		raw, err := os.ReadFile(path)
		lines = append(lines, fmt.Sprintf("%s %q", filepath.ToSlash(rel), raw))
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// noticeOf is the text of the only notice of a kind.
func (r *rig) noticeOf(kind bridge.NoticeKind) bridge.Notice {
	r.t.Helper()
	all := r.display.noticed(kind)
	if len(all) != 1 {
		r.t.Fatalf("notices of kind %s are %+v, want one", kind, all)
	}
	return all[0]
}
