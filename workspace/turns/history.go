package turns

import (
	"context"
	"errors"
	"slices"

	"sallyport/workspace/receipt"
)

// entry is a row with what is kept of it.
type entry struct {
	Row
	trace *trace // nil when there is none
	takes string // of undo and redo: the very record that it takes back
	parts bool   // a later one, which stands, took back some of it
}

// history goes through the records of a folder, newest first, as long as each says true; through those of all for "".
func (s *Store) history(ctx context.Context, folder string, each func(entry) bool) error {
	var roots []string
	if folder != "" {
		folder = settle(folder)
		roots = []string{folder}
	}
	s.endDead(ctx, roots)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	runs, err := s.runningRows(ctx, folder)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, row := range runs {
		seen[row.Turn] = true
		if !each(entry{Row: row}) {
			return nil
		}
	}
	h := &historian{store: s, whole: map[string]bool{}, parts: map[string]bool{}, redone: map[string]bool{}, again: map[string]int{}}
	h.kept, h.none = s.keptIDs(ctx)
	for r, err := range s.receipts.Newest(folder) {
		if damaged := (*receipt.Damaged)(nil); errors.As(err, &damaged) {
			s.warn("a receipt is damaged", err)
			continue
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if seen[r.Turn] {
			continue // its journal is just about to go
		}
		if !each(h.entry(r)) {
			return nil
		}
	}
	return nil
}

// runningRows are what runs, newest first.
func (s *Store) runningRows(ctx context.Context, folder string) ([]Row, error) {
	bases, err := s.journals()
	if err != nil || len(bases) == 0 {
		return nil, err
	}
	unlock, err := s.alone(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	list, err := s.running(nil)
	if err != nil {
		return nil, err
	}
	var out []Row
	for _, l := range list {
		p := l.project()
		if folder != "" && p.folder != folder {
			continue
		}
		row := Row{
			RowHead:  RowHead{Turn: l.Turn, Kind: l.Kind, Of: l.Of, Session: l.Session, Folder: p.folder},
			When:     receipt.When{Started: l.Started},
			RowState: RowState{Running: !l.ending, Interrupted: l.ending, Why: "it is running"},
		}
		if l.ending {
			row.Why = "it was interrupted, and is being ended"
		}
		if l.Agent != nil {
			row.Agent = l.Agent.ID
		}
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b Row) int { return b.Started.Compare(a.Started) })
	return out, nil
}

// keptIDs are the checkpoints that there are, or why there are none.
func (s *Store) keptIDs(ctx context.Context) (map[string]bool, string) {
	held, err := s.checkpoints(ctx)
	var ids []string
	if err == nil {
		ids, err = held.List()
	}
	if err != nil {
		return nil, clause(err)
	}
	out := map[string]bool{}
	for _, id := range ids {
		out[id] = true
	}
	return out, ""
}

// historian makes rows of receipts, which come newest first: what became of a record is known from those after it.
type historian struct {
	store  *Store
	kept   map[string]bool // ids of checkpoints
	none   string          // why kept is not known
	whole  map[string]bool // records that a later one, which stands, took back wholly
	parts  map[string]bool // records that such a one took back at all
	redone map[string]bool // turns that such a redo did again
	again  map[string]int  // turns that were done again, by redos of which nothing more is kept
}

func (h *historian) entry(r *receipt.Receipt) entry {
	e := entry{Row: Row{
		RowHead:       RowHead{Turn: r.Turn, Kind: r.Kind, Of: r.Of, Session: r.Session, Folder: r.Folder},
		When:          r.When,
		StopReason:    r.End.StopReason,
		Changed:       max(r.Did.Changes.Total, len(r.Did.Changes.List)),
		ByAttribution: map[receipt.Attribution]int{},
	}}
	if r.Agent != nil {
		e.Agent = r.Agent.ID
	}
	for _, c := range r.Did.Changes.List {
		e.ByAttribution[c.By]++
	}
	t, err := h.store.trace(r.Folder, r.Turn)
	if err == nil {
		e.trace, e.takes = t, t.Takes
		e.ByAttribution = t.count()
	} else if !errors.Is(err, errNoTrace) {
		h.store.warn("reading what is kept of a turn", err, "turn", r.Turn)
	}
	e.Interrupted = r.End.Interrupted
	e.Undone = h.undone(&e)
	e.parts = h.parts[e.Turn]
	e.Why = h.why(r, &e)
	e.Undoable = e.Why == ""
	return e
}

// undone says whether nothing is left to take back of a record, and notes what that means for those before it.
func (h *historian) undone(e *entry) bool {
	out := h.whole[e.Turn]
	if e.trace == nil && e.Kind == receipt.Undo && h.again[e.Of] > 0 {
		h.again[e.Of]--
		out = true
	}
	if !out && e.Kind == receipt.Redo {
		h.redone[e.Of] = true
	}
	switch {
	case out || e.Kind == receipt.Turn:
	case e.trace != nil && e.trace.empty() && h.redone[e.takes]: // it only said that all was back then
	case e.trace != nil:
		h.parts[e.takes] = true
		h.whole[e.takes] = h.whole[e.takes] || !e.trace.Rest
	case e.Kind == receipt.Undo:
		h.whole[e.Of] = true
	default: // a redo of the turn's undo, which comes next
		h.again[e.Of]++
	}
	return out
}

// why says why a record cannot be taken back, "" when it can.
func (h *historian) why(r *receipt.Receipt, e *entry) string {
	switch {
	case e.Undone:
		return "it was taken back"
	case r.Cover.None != "":
		return r.Cover.None
	case e.trace == nil && r.Cover.After == "" && e.Kind == receipt.Turn:
		return "no checkpoint could be taken at its end"
	case e.trace == nil:
		return "its checkpoints are no longer kept"
	case h.kept == nil:
		return h.none
	}
	for _, id := range e.trace.needs() {
		if !h.kept[id] {
			return "its checkpoints are no longer kept"
		}
	}
	switch {
	case e.trace.empty():
		return "it changed nothing"
	case e.trace.takeable() == 0:
		return "it changed nothing that can be taken back"
	default:
		return ""
	}
}

// count counts changes by whose they are.
func (t *trace) count() map[receipt.Attribution]int {
	out := map[receipt.Attribution]int{}
	for _, c := range t.Changes {
		out[c.By]++
	}
	for _, b := range t.Buffers {
		out[b.By]++
	}
	return out
}
