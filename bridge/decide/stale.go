package decide

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sallyport/plugins/decider"
	"sallyport/workspace/disk"
)

// looks is how often the files of deciders are looked at, at most.
const looks = time.Second

// stamp is what a file was when it was last read; nil: it was not there.
type stamp struct {
	path string
	info os.FileInfo
}

// stampOf looks at a file.
func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return stamp{path: path}
	}
	return stamp{path, info}
}

// same reports whether a file is as it was.
func (s stamp) same(now stamp) bool { return disk.Unchanged(s.info, now.info) }

// stamps are the files that make a decider what it is: its manifest, and what its
// command names in its folder. A program on PATH is not looked at, nor what it may
// write itself.
func stamps(folder string, m decider.Manifest) []stamp {
	all := []stamp{stampOf(filepath.Join(folder, decider.ManifestName))}
	for _, word := range m.Command {
		if path := filepath.FromSlash(word); filepath.IsLocal(path) && !strings.HasPrefix(filepath.Clean(path)+string(filepath.Separator), "data"+string(filepath.Separator)) {
			if s := stampOf(filepath.Join(folder, path)); s.info != nil {
				all = append(all, s)
			}
		}
	}
	return all
}

// Stale reports whether a Sync would start a decider anew: its manifest or its
// program is another than when it was started, or what could not be read before can
// be looked at again. A file that is gone is perhaps just being replaced: it
// counts once it is back. It looks at the files once a second at most.
func (p *Pool) Stale() bool {
	p.mu.Lock()
	if p.closed || time.Since(p.looked) < looks {
		p.mu.Unlock()
		return false
	}
	p.looked = time.Now()
	all := slices.Clone(p.broken)
	for _, m := range p.on {
		all = append(all, m.files...)
	}
	p.mu.Unlock()
	return slices.ContainsFunc(all, func(s stamp) bool {
		now := stampOf(s.path)
		return now.info != nil && !s.same(now)
	})
}
