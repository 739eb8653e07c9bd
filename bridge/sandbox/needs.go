package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/workspace/fence"
)

// settle is wanted, with the folders of state made that are missing.
func settle(n Needs, layout *fence.Layout) Needs {
	for _, path := range n.State {
		if _, ok := present(path); !ok && !likeFile(path) {
			_ = os.MkdirAll(path, 0o700) // where that fails the agent does without, and says so
		}
	}
	return wanted(n, layout)
}

// wanted brings needs into real paths. Settings that are missing are held where they are folders and told where they are
// files; a file of state that is missing cannot be made in a folder that is closed.
func wanted(n Needs, layout *fence.Layout) Needs {
	out := Needs{Sockets: n.Sockets}
	for _, path := range n.State {
		if real, ok := present(path); ok {
			out.State = append(out.State, real)
		}
	}
	for _, path := range n.Settings {
		real, ok := present(path)
		switch {
		case ok:
			out.Settings = append(out.Settings, real)
		case likeFile(path):
			layout.Told = append(layout.Told, path)
		default:
			layout.Absent = append(layout.Absent, fence.Absent{Path: path})
		}
	}
	// An agent reads its own sign-in, which is hidden from all others.
	layout.Hidden = slices.DeleteFunc(layout.Hidden, func(h fence.Hidden) bool {
		return h.Kind == fence.Unreadable && slices.ContainsFunc(out.State, func(s string) bool { return fence.Beneath(h.Path, s) })
	})
	return out
}

// present is the real path of what is there.
func present(path string) (string, bool) {
	real, err := filepath.EvalSymlinks(path)
	return real, err == nil
}

// likeFile guesses from its name whether something that is not there would be a file.
func likeFile(path string) bool { return strings.Contains(filepath.Base(path)[1:], ".") }
