package turns

import (
	"maps"
	"slices"
	"strings"
	"time"

	"sallyport/workspace/receipt"
)

// note is one thing that happened in a turn. One of its fields is set.
type note struct {
	Permission *receipt.Permission    `json:"permission,omitzero"`
	Access     *receipt.Access        `json:"access,omitzero"`
	Refusal    *receipt.Refusal       `json:"refusal,omitzero"`
	Taint      *receipt.Taint         `json:"taint,omitzero"`
	Alarm      *receipt.Alarm         `json:"alarm,omitzero"`
	Posture    *receipt.PostureChange `json:"posture,omitzero"`
	Saved      *saved                 `json:"saved,omitzero"`
	Found      *saved                 `json:"found,omitzero"`
}

// saved is a document that was saved from the editor, or whose file was found with another text than the editor knew of.
type saved struct {
	Path string `json:"path"`
	Hash string `json:"hash"` // as of text.Hash, without its prefix
}

// account is what happened in a turn so far.
type account struct {
	did      receipt.Did
	taint    []receipt.Taint
	postures []receipt.PostureChange
	writes   map[string]*chain   // through us, by settled path
	saves    map[string][]string // hashes, by settled path
	found    map[string][]string // the same
}

// Bounds of an account. What is above them is counted where it can be.
const (
	maxNoted = 2000   // entries of a list
	maxPaths = 100000 // written or saved
	maxSaves = 64     // hashes of one path
)

// chain is the writes through us to one path.
type chain struct {
	first  string              // hash before the first
	last   string              // hash that the last one left
	broken bool                // one did not begin where the one before had ended
	left   map[string]struct{} // hashes that they left
}

// subject is the settled path that a note is about, "" for none.
func (n *note) subject() string {
	switch {
	case n.Access != nil && n.Access.Kind == "write":
		return settle(n.Access.Path)
	case n.Saved != nil:
		return settle(n.Saved.Path)
	case n.Found != nil:
		return settle(n.Found.Path)
	default:
		return ""
	}
}

// add takes in a note about a settled path.
func (a *account) add(n note, path string) {
	switch {
	case n.Permission != nil:
		a.did.Permissions.Add(*n.Permission, maxNoted)
	case n.Access != nil:
		a.did.Accesses.Add(*n.Access, maxNoted)
		if n.Access.Kind == "write" {
			a.write(n.Access, path)
		}
	case n.Refusal != nil:
		a.did.Refusals.Add(*n.Refusal, maxNoted)
	case n.Alarm != nil:
		a.did.Alarms.Add(*n.Alarm, maxNoted)
	case n.Taint != nil && len(a.taint) < maxNoted:
		a.taint = append(a.taint, *n.Taint)
	case n.Posture != nil && len(a.postures) < maxNoted:
		a.postures = append(a.postures, *n.Posture)
	case n.Saved != nil:
		a.saves = withHash(a.saves, path, n.Saved.Hash)
	case n.Found != nil:
		a.found = withHash(a.found, path, n.Found.Hash)
	default: // of a later version, or above the bounds
	}
}

// copy is an account that may be read while this one goes on.
func (a *account) copy() account {
	out := account{did: a.did, taint: slices.Clone(a.taint), postures: slices.Clone(a.postures), saves: maps.Clone(a.saves), found: maps.Clone(a.found)}
	out.writes = make(map[string]*chain, len(a.writes))
	for path, c := range a.writes {
		c := *c
		c.left = maps.Clone(c.left)
		out.writes[path] = &c
	}
	return out
}

func (a *account) write(w *receipt.Access, path string) {
	c := a.writes[path]
	before, after := bare(w.Before), bare(w.After)
	switch {
	case c == nil && len(a.writes) >= maxPaths:
		return
	case c == nil:
		c = &chain{first: before, left: map[string]struct{}{}}
		if a.writes == nil {
			a.writes = map[string]*chain{}
		}
		a.writes[path] = c
	case c.last != before:
		c.broken = true
	}
	c.last = after
	if len(c.left) < maxSaves {
		c.left[after] = struct{}{}
	}
}

// withHash adds a hash to those of a path, of which the last are kept.
func withHash(all map[string][]string, path, hash string) map[string][]string {
	list := all[path]
	if list == nil && len(all) >= maxPaths {
		return all
	}
	if all == nil {
		all = map[string][]string{}
	}
	if len(list) == maxSaves {
		list = list[1:]
	}
	all[path] = append(list, hash)
	return all
}

// byUser are the saves of a path that hold something else than what a write through us had left, or than the file had already.
func (a *account) byUser(path string) []string {
	var out []string
	c := a.writes[path]
	for _, hash := range a.saves[path] {
		ours := slices.Contains(a.found[path], hash)
		if c != nil && !ours {
			_, ours = c.left[hash]
		}
		if !ours {
			out = append(out, hash)
		}
	}
	return out
}

// bare is a hash without the name of its kind.
func bare(hash string) string { return strings.TrimPrefix(hash, "sha256:") }

// or is the time, or now where there is none.
func or(t, now time.Time) time.Time {
	if t.IsZero() {
		return now
	}
	return t
}
