package receipt

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// The bounds of a receipt.
const (
	maxChanges     = 20_000
	maxChangeBytes = 6 << 20 // of all changes together, as JSON
	maxList        = 2_000   // entries of every other list
	maxListBytes   = 512 << 10
	maxFew         = 200 // roots, changes of the posture, taints, verdicts
	maxLine        = 16 << 20
)

// settle fills in defaults, hides what may be a secret and cuts what is too long. It does so in r, so that what the caller shows is
// what is recorded.
func (r *Receipt) settle() {
	if r.Schema == 0 {
		r.Schema = Version
	}
	if r.Kind == "" {
		r.Kind = Turn
	}
	r.Kind = Kind(strings.ToValidUTF8(string(r.Kind), "?"))
	r.When = When{instant(r.Started), instant(r.Ended)}
	for _, s := range []*string{&r.Turn, &r.Of, &r.Session, &r.End.StopReason, &r.End.AgentStopReason, &r.Cover.Before, &r.Cover.After,
		&r.Held.Mode, &r.Held.Policy} {
		cut(s, 256)
	}
	if r.Agent != nil {
		a := *r.Agent
		for _, s := range []*string{&a.ID, &a.Name, &a.Version} {
			cut(s, 256)
		}
		cut(&a.Program, 4096)
		r.Agent = &a
	}
	r.Roots = few(r.Roots)
	r.Held.settle()
	r.Cover.settle()
	r.Did.settle()
	r.Outcome.settle()
}

func (h *Held) settle() {
	h.Posture.settle()
	h.Changes = few(h.Changes)
	for i := range h.Changes {
		h.Changes[i].Posture.settle()
		h.Changes[i].Time = instant(h.Changes[i].Time)
	}
	names := make([]string, 0, len(h.Environment))
	for _, name := range h.Environment[:min(len(h.Environment), maxList)] {
		name, _, _ = strings.Cut(name, "=") // should anybody hand us values too
		cut(&name, 256)
		names = append(names, name)
	}
	slices.Sort(names)
	h.Environment = slices.Compact(names)
}

func (p *Posture) settle() {
	for _, s := range []*string{&p.Reads, &p.Writes, &p.Commands} {
		cut(s, 64)
	}
	clean(&p.Sentence, 2048)
}

func (c *Cover) settle() {
	clean(&c.None, 1024)
	c.Skipped = fit(c.Skipped, maxList, maxListBytes, func(s *Skipped) { cut(&s.Reason, 256) })
}

func (d *Did) settle() {
	d.Permissions = fit(d.Permissions, maxList, maxListBytes, (*Permission).settle)
	d.Accesses = fit(d.Accesses, maxList, maxListBytes, (*Access).settle)
	d.Refusals = fit(d.Refusals, maxList, maxListBytes, (*Refusal).settle)
	d.Alarms = fit(d.Alarms, maxList, maxListBytes, func(a *Alarm) {
		clean(&a.Text, 1024)
		a.Time = instant(a.Time)
	})
	if len(d.Changes.List) > maxChanges/10 {
		// What an undo must leave alone, or ask about, is cut last.
		theirs := func(c Change) int {
			if c.By == ByUser || c.By == ByUnsure {
				return 0
			}
			return 1
		}
		d.Changes.List = slices.Clone(d.Changes.List)
		slices.SortStableFunc(d.Changes.List, func(a, b Change) int { return theirs(a) - theirs(b) })
	}
	d.Changes = fit(d.Changes, maxChanges, maxChangeBytes, (*Change).settle)
	slices.SortStableFunc(d.Changes.List, func(a, b Change) int {
		if a.Root != b.Root {
			return strings.Compare(a.Root, b.Root)
		}
		return strings.Compare(a.Path, b.Path)
	})
}

func (p *Permission) settle() {
	for _, s := range []*string{&p.Call, &p.Tool, &p.Kind, &p.Outcome, &p.By, &p.Name, &p.Option} {
		cut(s, 256)
	}
	clean(&p.Target, 1024)
	clean(&p.Rule, 256)
	clean(&p.Why, 512)
	p.DelayMS = max(0, p.DelayMS)
	p.Time = instant(p.Time)
}

func (a *Access) settle() {
	for _, s := range []*string{&a.Kind, &a.Source, &a.Before, &a.After} {
		cut(s, 256)
	}
	a.Time = instant(a.Time)
}

func (r *Refusal) settle() {
	cut(&r.Fence, 64)
	cut(&r.Access, 64)
	clean(&r.Why, 1024)
	r.Time = instant(r.Time)
}

func (c *Change) settle() {
	for _, s := range []*string{&c.Kind, (*string)(&c.By), &c.Before.Kind, &c.Before.Mode, &c.Before.Hash, &c.After.Kind, &c.After.Mode, &c.After.Hash} {
		cut(s, 128)
	}
	c.By = Attribution(strings.ToValidUTF8(string(c.By), "?"))
}

func (o *Outcome) settle() {
	o.Taint = few(o.Taint)
	for i := range o.Taint {
		cut(&o.Taint[i].Kind, 64)
		clean(&o.Taint[i].Source, 1024)
		o.Taint[i].Time = instant(o.Taint[i].Time)
	}
	o.Verifier = few(o.Verifier)
	for i := range o.Verifier {
		v := &o.Verifier[i]
		cut(&v.Name, 256)
		cut(&v.Outcome, 64)
		cut(&v.Output, 512)
		clean(&v.Why, 512)
		if !(v.Seconds >= 0 && v.Seconds < 1e9) { // also not a number
			v.Seconds = 0
		}
	}
	clean(&o.End.Error, 1024)
}

// fit settles each entry of a copy and keeps those that fit.
func fit[T any](l List[T], entries, size int, settle func(*T)) List[T] {
	out := List[T]{Total: max(l.Total, len(l.List)), List: []T{}}
	for _, v := range l.List[:min(len(l.List), entries)] {
		if size < 100 { // nothing fits any more
			break
		}
		settle(&v)
		data, err := json.Marshal(v, exactOut)
		if err != nil || len(data)+1 > size {
			continue // a smaller one may still fit
		}
		size -= len(data) + 1
		out.List = append(out.List, v)
	}
	return out
}

// few is a copy of a list that is short but for somebody's malice.
func few[T any](all []T) []T { return slices.Clone(all[:min(len(all), maxFew)]) }

// instant is a time as a receipt has it.
func instant(t time.Time) time.Time {
	t = t.UTC().Truncate(time.Millisecond)
	if y := t.Year(); y < 0 || y > 9999 { // not in RFC 3339
		return time.Time{}
	}
	return t
}

func clean(s *string, size int) {
	cut(s, 2<<10) // looking for patterns takes time
	*s = Redact(*s)
	cut(s, size)
}

// cut shortens a string between characters.
func cut(s *string, size int) {
	if len(*s) <= size {
		return
	}
	end := size - len("…")
	for end > 0 && !utf8.RuneStart((*s)[end]) {
		end--
	}
	*s = (*s)[:end] + "…"
}
