package bridge

import (
	"context"
	"slices"
)

// pastUs is what an agent did with tools of its own, by its own word or, once
// seen, by the comparison.
type pastUs struct {
	declared []string // changed, and named by the agent
	silent   []string // changed without a word; only when seen
	reads    []string // read, by the agent's word
	seen     bool
}

// tellDirect tells the user, at the end of a turn that was not compared, that the
// agent worked past us: no fence held for these accesses (H051).
func (s *session) tellDirect(ctx context.Context, t *turn) {
	writes, reads := t.touched.direct(s.folder)
	s.tellPast(ctx, t, pastUs{declared: writes, reads: reads})
}

func (s *session) tellPast(ctx context.Context, t *turn, p pastUs) {
	writes := slices.Concat(p.declared, p.silent)
	s.state.mu.Lock()
	now := s.postureLocked()
	s.state.mu.Unlock()
	// What the kernel holds is held for its own tools, too.
	low := past{reads: len(p.reads) > 0 && now.Reads != Enforced, writes: len(writes) > 0 && now.Writes != Enforced}
	if low != (past{}) {
		s.lowerPosture(low)
	}
	caught := s.refreshAll(ctx, t, writes)
	tell := func(paths []string, text, hint string) {
		if len(paths) == 0 {
			return
		}
		if among := both(paths, caught); len(among) > 0 {
			text += "; merged into unsaved text: " + s.list(among)
		}
		n := Notice{Kind: NoticeDirect, Level: Warning, Turn: t.id, Paths: paths, Text: text, Hint: hint}
		if !low.writes {
			n.Level = Plain
		}
		s.notice(n)
	}
	between := ": the fences did not stand in between"
	if !low.writes {
		between = ", within the kernel's fence"
	}
	hint := "look at these files; Sallyport saw the agent's word, not the write"
	if p.seen {
		hint = "look at these files"
	}
	tell(p.declared, s.harness.Name+" wrote "+s.list(p.declared)+" with its own tools"+between, hint)
	tell(p.silent, s.list(p.silent)+" changed during the turn without a word of "+s.harness.Name+between, hint)
	if low.reads && s.nearPrivate() {
		s.notice(Notice{
			Kind: NoticeDirect, Level: Plain, Turn: t.id, Paths: p.reads,
			Text: s.harness.Name + " read " + s.list(p.reads) + " with its own tools: the fences did not stand in between",
		})
	}
}

// both lists what is in one and in the other.
func both(one, other []string) (all []string) {
	for _, path := range one {
		if slices.Contains(other, path) {
			all = append(all, path)
		}
	}
	return all
}

// nearPrivate reports whether there are private projects, which a read past us
// could have reached.
func (s *session) nearPrivate() bool {
	private, err := s.b.private(s.folder)
	return err != nil || len(private) > 0
}

// list names the first few paths.
func (s *session) list(paths []string) string {
	const few = 3
	names := make([]string, 0, few)
	for _, p := range paths[:min(few, len(paths))] {
		names = append(names, s.relative(p))
	}
	out := ""
	for i, name := range names {
		if i > 0 {
			out += ", "
		}
		out += name
	}
	if more := len(paths) - few; more > 0 {
		out += " and " + plural(more, "more file")
	}
	return out
}
