package bridge

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/bridge/sandbox"
	"sallyport/workspace/fence"
)

// reserved are the paths of a layout that agents do not write: what acts later,
// and what may hold secrets.
func reserved(l *fence.Layout) map[string]bool {
	all := map[string]bool{}
	for _, path := range l.Closed {
		all[gitOf(path)] = true
	}
	for _, h := range l.Hidden {
		if h.Kind == fence.Unreadable {
			all[h.Path] = true
		}
	}
	for _, a := range l.Absent { // a placeholder, which is ours
		all[gitOf(a.Path)] = true
	}
	return all
}

// gitOf is the git directory of a path in one, and any other path itself.
func gitOf(path string) string {
	const git = string(filepath.Separator) + ".git"
	if at := strings.Index(path, git+string(filepath.Separator)); at >= 0 {
		return path[:at+len(git)]
	}
	return path
}

// tellPlanted tells at the end of a turn which reserved files are there that
// were not when the agent was started, such as the hooks of a repository that it
// made. They could not be held while they were absent.
func (s *session) tellPlanted(ctx context.Context, t *turn) {
	s.state.mu.Lock()
	k := s.state.memory.kernel
	s.state.mu.Unlock()
	if k == nil || k.known == nil || k.report().Level == sandbox.Nothing {
		return
	}
	now, err := s.ground.policy.Layout(ctx)
	if err != nil {
		s.b.Log.Error("looking for reserved files", "session", s.id, "err", err)
		return
	}
	var made []string
	for path := range reserved(now) {
		if k.learn(path) && fence.Beneath(path, s.folder) {
			made = append(made, path)
		}
	}
	if len(made) == 0 {
		return
	}
	slices.Sort(made)
	s.notice(Notice{
		Kind: NoticeDirect, Level: Warning, Turn: t.id, Paths: made,
		Text: "made during the turn: " + s.list(made) + ", which no agent writes through Sallyport",
		Hint: "look at it before a program acts on it",
	})
}

// learn notes a reserved path, and reports whether it is new.
func (k *fenced) learn(path string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.known[path]
	k.known[path] = true
	return !was
}
