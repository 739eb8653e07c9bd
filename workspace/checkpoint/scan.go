package checkpoint

import (
	"slices"

	"sallyport/workspace/fence"
)

// scan looks at all names of a folder, reads what changed, and queues the folders in it.
func (w *walk) scan(n *node, h *folder, r *reader) {
	defer h.release()
	n.pending.Store(1)
	defer w.leave(n)
	l := listing{walk: w, node: n, in: h, reader: r, old: n.entries, same: true}
	err := l.run()
	w.counts.files.Add(l.files)
	if err != nil {
		n.fault = reasonOf(err) // half a list would look like deletions
		return
	}
	l.end()
	if len(l.folders) > 0 {
		n.pending.Add(int32(len(l.folders)))
		h.keep(len(l.folders))
		w.queue.push(l.folders)
	}
}

// listing compares a folder with what the index has. As long as names come in the order of last time, entries are updated
// where they are; the first difference begins a new list.
type listing struct {
	walk    *walk
	node    *node
	in      *folder
	reader  *reader
	old     []entry
	same    bool
	next    int            // in old, while same
	byName  map[string]int // of old, after the first difference
	anew    bool           // other rules than last time are in force
	files   int64          // seen
	folders []task
}

func (l *listing) run() error {
	if l.node.only != nil {
		l.node.rules.here, l.anew = l.node.rules.above, true
		l.node.rules.repository = l.node.repositoryAbove()
		for _, name := range l.node.only {
			l.name([]byte(name))
		}
		return nil
	}
	var err error
	if l.reader.names, err = l.in.list(l.reader.names); err != nil {
		return err
	}
	was := l.node.rules.here
	if l.node.rules.here, err = l.rules(l.reader.names); err != nil {
		return err
	}
	l.anew = l.node.rules.here != was
	return l.reader.names.each(l.name)
}

func (l *listing) name(name []byte) {
	if machinery(string(name)) || l.node.parent == nil && l.placeholder(string(name)) {
		return
	}
	if l.same && l.next < len(l.old) && l.old[l.next].name == string(name) {
		e := &l.old[l.next]
		l.visit(e, l.next, name)
		l.next++
		return
	}
	l.differ()
	e := entry{item: item{name: string(name)}}
	if i, ok := l.byName[e.name]; ok {
		e = l.old[i]
	}
	slot := len(l.node.entries)
	l.node.entries = append(l.node.entries, e)
	l.visit(&l.node.entries[slot], slot, name)
}

// placeholder says whether a name is an empty folder, directly in a root, that stands there only for as long as an agent is
// fenced off from it. Such come and go with agents, and are no part of any checkpoint.
func (l *listing) placeholder(name string) bool {
	if len(name) == 0 || name[0] != '.' || !slices.Contains(fence.Placeholders(), name) {
		return false
	}
	st, err := l.in.lstat(name)
	if err != nil || st.kind != Folder {
		return false
	}
	in, err := l.in.openFolder(name, st)
	if err != nil {
		return false
	}
	defer in.release()
	list, err := in.list(nil)
	empty := err == nil
	return list.each(func([]byte) { empty = false }) == nil && empty
}

func (l *listing) differ() {
	if !l.same {
		return
	}
	l.same = false
	l.node.dirty.Store(true)
	l.node.entries = append(make([]entry, 0, len(l.old)+4), l.old[:l.next]...)
	l.byName = make(map[string]int, len(l.old)-l.next)
	for i := l.next; i < len(l.old); i++ {
		l.byName[l.old[i].name] = i
	}
}

func (l *listing) end() {
	if l.same && l.next < len(l.old) {
		l.differ()
	}
}

// visit brings one entry up to date.
func (l *listing) visit(e *entry, slot int, name []byte) {
	was := e.State
	why := l.look(e, slot, name)
	if why == gone {
		*e = entry{item: item{name: e.name}}
	} else if why != 0 {
		l.walk.skip(l.node.join(e.name), why)
	}
	if e.Kind != Folder && e.State != was { // folders report when they are done
		l.node.dirty.Store(true)
	}
}

// look returns why the entry is left out, or 0.
func (l *listing) look(e *entry, slot int, name []byte) Reason {
	w := l.walk
	if len(w.options.LeaveOut) > 0 && w.options.leavesOut(e.name) {
		return e.leaveOut(Ignored, key{})
	}
	st, err := l.in.lstatOf(name)
	if err != nil {
		return e.leaveOut(reasonOf(err), key{})
	}
	h := held{whole: true}
	if l.node.rules.here != nil {
		ignored, known := l.ignored(e, st.kind)
		if !known {
			return e.leaveOut(TimeLimit, st.key)
		}
		if ignored {
			h = l.ifIgnored(e, st)
		}
		if !h.whole && h.only == nil {
			return e.leaveIgnored(st)
		}
	}
	switch st.kind {
	case Folder:
		if w.own != "" && l.node.join(e.name) == w.own {
			return e.leaveOut(Own, key{})
		}
		l.enter(e, slot, st, h)
		return 0
	case File:
		l.files++
		if e.key == st.key && !e.racy && (e.Kind == File && e.Mode == st.mode || e.Kind == LeftOut && e.Reason.final() && e.Reason != Ignored) {
			return e.Reason
		}
		e.node = nil
		return l.reader.file(e, l.in, st)
	case Link:
		if e.key == st.key && !e.racy && e.Kind == Link {
			return 0
		}
		e.node = nil
		return l.reader.link(e, l.in, st)
	default:
		return e.leaveOut(Special, key{})
	}
}

// enter queues a folder.
func (l *listing) enter(e *entry, slot int, st stat, h held) {
	if e.node == nil {
		*e = entry{item: item{name: e.name}, ignored: e.ignored, node: &node{name: e.name}}
		l.node.dirty.Store(true)
	}
	if e.Kind != Folder { // until it reports
		e.State = State{Kind: Folder}
		l.node.dirty.Store(true)
	}
	if (e.node.only == nil) != h.whole {
		e.node.tree = Hash{} // to be made anew
	}
	e.node.parent, e.node.slot, e.node.mode, e.node.only = l.node, slot, st.mode, h.only
	if h.whole {
		e.node.only = nil
	}
	e.node.rules.above = l.scopeIn(e)
	l.folders = append(l.folders, task{l.in, st, e.node})
}

// leaveOut makes the entry one that is left out. A file's key shows whether it changed.
func (e *entry) leaveOut(why Reason, k key) Reason {
	e.State, e.key, e.racy, e.node = State{Kind: LeftOut, Reason: why}, k, false, nil
	if k != (key{}) {
		e.Hash = k.digest()
	}
	return why
}
