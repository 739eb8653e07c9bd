package server

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"sallyport/workspace"
)

// folders are the editor's workspace folders, as plain paths, in its order.
type folders struct {
	mu    sync.Mutex
	paths []string
}

// set takes the folders of initialize: workspaceFolders, else rootUri, else
// rootPath.
func (f *folders) set(p *initializeParams) {
	var uris []string
	for _, x := range p.Folders {
		uris = append(uris, x.URI)
	}
	if len(uris) == 0 {
		uris = []string{p.RootURI}
		if p.RootURI == "" {
			uris = []string{p.RootPath}
		}
	}
	f.change(uris, nil)
}

// change adds and removes folders. One that names no folder is left out
// without harm to the others.
func (f *folders) change(added, removed []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, uri := range removed {
		if path, ok := folderPath(uri); ok {
			f.paths = slices.DeleteFunc(f.paths, func(p string) bool { return p == path })
		}
	}
	for _, uri := range added {
		if path, ok := folderPath(uri); ok && !slices.Contains(f.paths, path) {
			f.paths = append(f.paths, path)
		}
	}
}

// folderPath is the path of a workspace folder, given as a URI or, as some
// editors do, as a path.
func folderPath(s string) (string, bool) {
	path, err := workspace.FolderPath(s)
	return path, err == nil && path != ""
}

// first is the first folder; empty when there is none.
func (f *folders) first() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.paths) == 0 {
		return ""
	}
	return f.paths[0]
}

// of is the innermost folder that holds path, else the first folder, else the
// folder of the file itself.
func (f *folders) of(path string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	best := ""
	for _, p := range f.paths {
		rel, err := filepath.Rel(p, path)
		inside := err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
		if path != "" && inside && len(p) > len(best) {
			best = p
		}
	}
	switch {
	case best != "":
		return best
	case len(f.paths) > 0:
		return f.paths[0]
	case path != "":
		return filepath.Dir(path)
	default:
		return ""
	}
}

func didChangeFolders(c *client, p *struct {
	Event struct {
		Added   []folder `json:"added"`
		Removed []folder `json:"removed"`
	} `json:"event"`
}) {
	uris := func(list []folder) (uris []string) {
		for _, x := range list {
			uris = append(uris, x.URI)
		}
		return uris
	}
	c.folders.change(uris(p.Event.Added), uris(p.Event.Removed))
}
