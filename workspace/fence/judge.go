package fence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"sallyport/workspace/text"
)

// CheckRead returns a *Refusal when path may not be read, or another error when that cannot be told. The file need not
// exist: it is also for the text of open documents. To read from disk, use OpenRead, which judges what it opened.
func (p *Policy) CheckRead(path string) error {
	_, err := p.judge(Read, path)
	return err
}

// CheckWrite returns a *Refusal when path may not be written, or another error when that cannot be told. To write on disk,
// use Writable.
func (p *Policy) CheckWrite(path string) error {
	_, err := p.judge(Write, path)
	return err
}

// InRegion reports whether path lies where agents may write, as far as the region alone goes. A path that cannot be
// resolved does not.
func (p *Policy) InRegion(path string) bool {
	req, why := native().parse(path)
	if why != "" {
		return false
	}
	pl, err := resolve(req)
	return err == nil && p.inRegion(pl)
}

// judge applies every fence to a path and returns where it leads.
func (p *Policy) judge(a Access, path string) (*place, error) {
	req, why := native().parse(path)
	if why != "" {
		return nil, p.notPlain(a, path, why)
	}
	all := p.allClosed()
	for _, c := range all {
		if (c.reads || a == Write) && c.holdsName(req) {
			return nil, p.refuse(a, path, nil, c.verdict)
		}
	}
	pl, err := resolve(req)
	if errors.Is(err, errLinks) {
		return nil, p.notPlain(a, path, err.Error())
	}
	if err != nil {
		return nil, fmt.Errorf("looking at %s: %w", text.Visible(path), err)
	}
	if v, refused := p.denied(a, req, pl, all); refused {
		return nil, p.refuse(a, path, pl, v)
	}
	if a == Write && !p.inRegion(pl) {
		return nil, p.refuse(a, path, pl, verdict{kind: Region, why: "it is outside the write region"})
	}
	return pl, nil
}

// denied applies every fence but the region.
func (p *Policy) denied(a Access, req parsed, pl *place, all []*closed) (verdict, bool) {
	for _, c := range all {
		if (c.reads || a == Write) && c.holds(pl) {
			return c.verdict, true
		}
	}
	if a == Read && runtime.GOOS == "linux" && len(pl.comps) > 0 && pl.comps[0] == "proc" {
		return processVerdict(), true
	}
	spellings := append([][]string{pl.comps}, pl.via...)
	if !slices.Equal(req.comps, pl.comps) {
		spellings = append(spellings, req.comps)
	}
	for _, comps := range spellings {
		folded := foldAll(comps)
		skip := p.skip(parsed{pl.vol, comps})
		if a == Write {
			if slices.Contains(folded, ".git") {
				return verdict{kind: Reserved, what: ".git", why: reservedWhy(".git")}, true
			}
			if entry, ok := matchAny(p.reserved, comps, folded, skip); ok {
				return verdict{kind: Reserved, what: entry, why: reservedWhy(entry)}, true
			}
		}
		if entry, ok := matchAny(p.unreadable, comps, folded, skip); ok {
			return verdict{kind: Unreadable, what: entry, why: unreadableWhy(entry), reads: true}, true
		}
	}
	if a == Write && p.isGitDir(pl.nodes) {
		return gitDirVerdict(), true
	}
	return verdict{}, false
}

func matchAny(lists []names, comps, folded []string, skip int) (string, bool) {
	for i := range lists {
		if entry, ok := lists[i].match(comps, folded, skip); ok {
			return entry, true
		}
	}
	return "", false
}

// skip is how many leading components the user chose by working there: names count beneath the folders of the session. An
// entry of the region does not count as such: a project's own file may narrow the region, and must open nothing by it.
func (p *Policy) skip(path parsed) int {
	longest := 0
	for i := range p.bases[:1+len(p.rules.Roots)] {
		if n, ok := p.bases[i].textIndex(path); ok {
			longest = max(longest, n)
		}
	}
	return longest
}

// inRegion reports whether an entry of the region opens the place.
func (p *Policy) inRegion(pl *place) bool {
	for i := range p.bases {
		b := &p.bases[i]
		if !b.writable {
			continue
		}
		if n, ok := b.index(pl); ok && b.open(pl.comps[n:]) {
			return true
		}
	}
	return false
}

// isGitDir reports whether one of the nodes is a git directory of a base under another name: .git may be a link, or a file
// that points to one.
func (p *Policy) isGitDir(nodes []fs.FileInfo) bool {
	for i := range p.bases {
		for _, dir := range gitDirs(p.bases[i].path) {
			if slices.ContainsFunc(nodes, func(n fs.FileInfo) bool { return os.SameFile(n, dir) }) {
				return true
			}
		}
	}
	return false
}

// gitDirs is what a base's .git stands for: itself, and for a file the folder that it names.
func gitDirs(base string) []fs.FileInfo {
	path := filepath.Join(base, ".git")
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	dirs := []fs.FileInfo{info}
	if !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return dirs
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return dirs
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	if !ok {
		return dirs
	}
	if info, err := os.Stat(absolute(base, strings.TrimSpace(target))); err == nil {
		dirs = append(dirs, info)
	}
	return dirs
}

func reservedWhy(name string) string   { return name + " is never written by an agent" }
func unreadableWhy(name string) string { return name + " is closed to agents, as it may hold secrets" }

func gitDirVerdict() verdict {
	return verdict{kind: Reserved, what: ".git", why: "it is the git directory of the project, which is never written by an agent"}
}

func processVerdict() verdict {
	return verdict{kind: Special, why: "the process file system shows programs, not files", reads: true}
}

// notPlain refuses what is no plain path.
func (p *Policy) notPlain(a Access, path, why string) *Refusal {
	return &Refusal{Fence: Special, Access: a, Path: path, Why: why,
		Allowed: "a full path such as " + filepath.Join(p.home.path, "name") + " is allowed"}
}

// refuse words a refusal. pl may be nil. Where a private path leads is not told.
func (p *Policy) refuse(a Access, path string, pl *place, v verdict) *Refusal {
	r := &Refusal{Fence: v.kind, Access: a, Path: path, Why: v.why}
	if pl != nil && v.kind != Private {
		if resolved := native().join(pl.vol, pl.comps); resolved != path {
			r.Resolved = resolved
		}
	}
	switch {
	case v.kind == Region && r.Resolved != "" && len(pl.via) > 0:
		r.Why = fmt.Sprintf("it leads to %s, outside the write region", text.Visible(r.Resolved))
		fallthrough
	case v.kind == Region:
		r.Allowed = "files in " + p.regionText() + " are allowed"
	case v.kind == Reserved && v.what != "" && a == Write:
		r.Allowed = fmt.Sprintf("files outside %s in %s are allowed", v.what, p.regionText())
	case a == Write:
		r.Allowed = "other files in " + p.regionText() + " are allowed"
	default:
		r.Allowed = "other files, such as those in " + p.home.path + ", are allowed"
	}
	return r
}

// regionText names the region in a sentence.
func (p *Policy) regionText() string {
	var entries []string
	for i := range p.bases {
		if b := &p.bases[i]; b.writable {
			entries = append(entries, b.text())
		}
	}
	if len(entries) > 3 {
		return strings.Join(entries[:3], ", ") + fmt.Sprintf(" and %d more", len(entries)-3)
	}
	return strings.Join(entries, ", ")
}
