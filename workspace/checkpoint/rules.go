package checkpoint

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"sallyport/workspace/checkpoint/ignore"
	"sallyport/workspace/checkpoint/pack"
)

const rulesFile = ".gitignore"

// scope is a folder's .gitignore and those above. It does not change: another text is another scope.
type scope struct {
	above *scope
	own   *ignore.Rules // nil: it could not be read, so nothing beneath is ignored
	text  Hash
	cut   int  // bytes of a path before what is relative to the folder
	whole bool // the folder itself is ignored, so all in it is
}

// ignores says whether the rules name a path of the root. In doubt they do not.
func (s *scope) ignores(path string, folder bool) bool {
	for ; s != nil; s = s.above {
		if s.whole {
			return true
		}
		switch s.own.Match(path[s.cut:], folder) {
		case ignore.Ignored:
			return true
		case ignore.Kept, ignore.Doubt:
			return false
		case ignore.Nothing:
		}
	}
	return false
}

// rules are what a node knows of the rules in its folder.
type rules struct {
	above, here *scope // nil where no .gitignore is
	own         *scope // of its own .gitignore
	key         key    // of that

	repository *repository // that the folder is in, or nil
}

// verdict is what a scope said of an entry, as a file or as a folder.
type verdict byte

const (
	undecided verdict = iota
	fileHeld
	fileIgnored
	folderHeld
	folderIgnored
)

// rules finds the scope in a folder, that of last time unless something changed, and the repository. A .gitignore that is a link
// is none, as for git.
func (l *listing) rules(list names) (*scope, error) {
	r := &l.node.rules
	if l.walk.options.Ignored == IgnoredAll || r.above != nil && r.above.whole {
		r.repository = l.node.repositoryAbove()
		return r.above, nil
	}
	found, git := false, false
	err := list.each(func(name []byte) {
		if name[0] == '.' {
			found = found || string(name) == rulesFile
			git = git || string(name) == ".git"
		}
	})
	if above := l.walk.repositoryAbove(l.node); git {
		r.repository = l.walk.repositoryIn(l.node, above)
	} else {
		r.repository = above
	}
	if err != nil || !found {
		return r.above, err
	}
	st, err := l.in.lstat(rulesFile)
	if err == nil && st.kind != File || errors.Is(err, fs.ErrNotExist) {
		return r.above, nil
	}
	if err == nil && r.own != nil && r.own.above == r.above && r.key == st.key {
		return r.own, nil
	}
	s := &scope{above: r.above}
	if p := l.node.path(); p != "" {
		s.cut = len(p) + 1
	}
	text, stable, err := readRules(l.in)
	if err == nil {
		s.own, s.text = ignore.Parse(text), pack.Sum(text)
	}
	if r.own == nil || r.own.above != s.above || r.own.text != s.text || r.own.own == nil || s.own == nil {
		r.own = s
	}
	r.key = stable
	return r.own, nil
}

// ignores says whether a folder beneath a root is left out by the .gitignore files on the way to it. In doubt it is not.
func (o *Options) ignores(root, path string) bool {
	if o.Ignored == IgnoredAll || path == "." {
		return false
	}
	in, err := openRoot(root)
	if err != nil {
		return false
	}
	defer func() { in.release() }()
	var here *scope
	cut := 0
	for name := range strings.SplitSeq(path, "/") {
		if st, err := in.lstat(rulesFile); err == nil && st.kind == File {
			here = &scope{above: here, cut: cut}
			if text, _, err := readRules(in); err == nil {
				here.own = ignore.Parse(text)
			}
		}
		cut += len(name)
		if here.ignores(path[:cut], true) {
			return true
		}
		cut++ // the slash
		st, err := in.lstat(name)
		if err != nil {
			return false
		}
		next, err := in.openFolder(name, st)
		if err != nil {
			return false
		}
		in.release()
		in = next
	}
	return false
}

// readRules reads a .gitignore, and says with which key it need not be read again: the zero one when it may yet change unseen.
func readRules(in *folder) ([]byte, key, error) {
	began := time.Now()
	file, st, err := in.openFile(rulesFile)
	if err != nil {
		return nil, key{}, err
	}
	defer file.close()
	text, err := io.ReadAll(io.LimitReader(file, ignore.MaxSize+1))
	if err != nil || st.key.racy(began) {
		return text, key{}, err
	}
	return text, st.key, nil
}

// ignored says whether the rules in the folder name an entry, and whether there was time to find out: rules may be many.
func (l *listing) ignored(e *entry, kind Kind) (ignored, known bool) {
	yes, no := fileIgnored, fileHeld
	if kind == Folder {
		yes, no = folderIgnored, folderHeld
	}
	if l.anew || e.ignored != yes && e.ignored != no {
		if e.ignored = undecided; l.walk.over() {
			return false, false
		}
		e.ignored = no
		if l.node.rules.here.ignores(l.node.join(e.name), kind == Folder) {
			e.ignored = yes
		}
	}
	return e.ignored == yes, true
}

// held says what is held of something that is ignored: the whole, or if only is not nil, what has these names in the folder.
type held struct {
	whole bool
	only  []string
}

// ifIgnored finds what is held all the same: what is small, what git tracks, what Base held, and what Base would not have ignored.
func (l *listing) ifIgnored(e *entry, st stat) held {
	w := l.walk
	if st.kind == LeftOut || w.options.Ignored == IgnoredSmall && (st.kind == Link || st.kind == File && st.key.size <= smallIgnored) {
		return held{whole: true} // a special file is one first of all
	}
	path, repository := l.node.join(e.name), l.node.rules.repository
	if repository.has(w, path) { // a submodule, if it is a folder
		return held{whole: true}
	}
	var h held
	if st.kind == Folder {
		h.only, h.whole = repository.in(w, path)
	}
	if h.whole || w.base == nil {
		return h
	}
	based, err := w.base.holds(path, st.kind == Folder)
	if err != nil {
		w.fail(err)
	}
	if based.only != nil {
		h.only = slices.Compact(slices.Sorted(slices.Values(append(h.only, based.only...))))
		if h.only == nil {
			h.only = []string{}
		}
	}
	h.whole = based.whole
	return h
}

// leaveIgnored leaves an entry out. Of a file, its key is kept.
func (e *entry) leaveIgnored(st stat) Reason {
	if st.kind != File {
		return e.leaveOut(Ignored, key{})
	}
	if e.Kind == LeftOut && e.Reason == Ignored && e.key == st.key {
		return Ignored
	}
	return e.leaveOut(Ignored, st.key)
}

// scopeIn is what is in force in a folder before its own .gitignore is read.
func (l *listing) scopeIn(e *entry) *scope {
	here := l.node.rules.here
	if here == nil || here.whole || e.ignored != folderIgnored {
		return here
	}
	if above := e.node.rules.above; above != nil && above.whole && above.above == here {
		return above
	}
	return &scope{above: here, whole: true}
}
