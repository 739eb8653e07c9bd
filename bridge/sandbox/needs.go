package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/workspace/fence"
)

// settle brings needs into real paths: folders of state that are missing are made, settings that are missing are held where
// they are folders and told where they are files.
func settle(n Needs, layout *fence.Layout) Needs {
	out := Needs{Sockets: n.Sockets}
	for _, path := range n.State {
		if real, ok := present(path); ok {
			out.State = append(out.State, real)
			continue
		}
		if likeFile(path) || os.MkdirAll(path, 0o700) != nil {
			continue // a file that its folder does not let it make: the agent does without
		}
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
