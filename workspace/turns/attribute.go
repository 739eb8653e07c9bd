package turns

import (
	"bytes"
	"context"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
	"sallyport/workspace/text"
)

// evidence is what is known of who changed something. The differences themselves are those of the checkpoints.
type evidence struct {
	account  *account
	declared map[string]bool // by settled path
	shared   bool            // another turn ran on the same folders
	// alive is the last moment that the turn's process is known to have lived, when it died; zero if it did not.
	alive time.Time
	held  *checkpoint.Store
}

// afterDeath is how long after its last sign of life what changed is still the agent's: it gives one each second, and the agent's
// processes die with it.
const afterDeath = beatEvery + 1500*time.Millisecond

// attribute says of each change whose it is. Changes are by root and path.
func (e *evidence) attribute(ctx context.Context, changes []checkpoint.Change) []receipt.Attribution {
	out := make([]receipt.Attribution, len(changes))
	folders := map[string][]receipt.Attribution{} // what lies in a folder that was made or removed
	for i := len(changes) - 1; i >= 0; i-- {      // a folder comes before what is in it
		c := &changes[i]
		if isFolder(c) {
			out[i] = e.folder(c, folders[key(c.Root, c.Path)])
		} else {
			out[i] = e.by(ctx, c)
		}
		up := key(c.Root, path.Dir(c.Path))
		folders[up] = append(folders[up], out[i])
	}
	return out
}

func isFolder(c *checkpoint.Change) bool {
	return c.Kind == checkpoint.Added && c.After.Kind == checkpoint.Folder || c.Kind == checkpoint.Deleted && c.Before.Kind == checkpoint.Folder
}

// folder attributes a folder as what is in it: it was made for that.
func (e *evidence) folder(c *checkpoint.Change, in []receipt.Attribution) receipt.Attribution {
	has := map[receipt.Attribution]bool{}
	for _, by := range in {
		has[by] = true
	}
	switch {
	case len(in) > 0 && len(has) == 1:
		return in[0]
	case has[receipt.ByMediated]:
		return receipt.ByMediated
	case has[receipt.ByDeclared]:
		return receipt.ByDeclared
	case has[receipt.BySilent]:
		return receipt.BySilent
	case len(in) > 0:
		return receipt.ByUnsure
	default:
		return e.silent(c)
	}
}

func (e *evidence) by(ctx context.Context, c *checkpoint.Change) receipt.Attribution {
	name := absolute(c.Root, c.Path)
	writes, saves, declared := e.account.writes[name], e.account.byUser(name), e.declared[name]
	if c.Kind == checkpoint.Mode {
		writes, declared = nil, false // those are about contents
	}
	left := func(hash string) bool { return e.holds(ctx, c.After, hash) }
	switch {
	case len(saves) > 0 && writes == nil && !declared && !e.found(ctx, c, name) && c.Kind != checkpoint.Mode && left(saves[len(saves)-1]):
		return receipt.ByUser
	case len(saves) > 0:
		return receipt.ByUnsure
	case writes != nil && left(writes.last):
		return receipt.ByMediated
	case declared:
		return receipt.ByDeclared
	default:
		return e.silent(c)
	}
}

// found says whether somebody wrote a file of an open document past us.
func (e *evidence) found(ctx context.Context, c *checkpoint.Change, name string) bool {
	return slices.ContainsFunc(e.account.found[name], func(hash string) bool { return !e.holds(ctx, c.Before, hash) })
}

// silent attributes what nobody spoke of: it is the agent's, unless somebody else may have done it too.
func (e *evidence) silent(c *checkpoint.Change) receipt.Attribution {
	if e.shared || !e.alive.IsZero() && changedAfter(absolute(c.Root, c.Path), e.alive.Add(afterDeath)) {
		return receipt.ByUnsure
	}
	return receipt.BySilent
}

// holds says whether a file's text has a hash, as of text.Hash. What is left out may have.
func (e *evidence) holds(ctx context.Context, s checkpoint.State, hash string) bool {
	switch {
	case s.Kind == checkpoint.LeftOut:
		return true
	case s.Kind != checkpoint.File:
		return false
	case s.Hash.String() == hash:
		return true
	}
	body, err := e.held.Content(ctx, s.Hash)
	if err != nil {
		return false
	}
	defer body.Close()
	var first [len(mark)]byte
	if _, err := io.ReadFull(body, first[:]); err != nil || string(first[:]) != mark {
		return false
	}
	var rest bytes.Buffer // the text is without the byte order mark
	if _, err := rest.ReadFrom(body); err != nil {
		return false
	}
	return bare(text.Hash(rest.String())) == hash
}

// mark is the byte order mark, which is no part of a text.
const mark = "\uFEFF"

// declaredPaths are the settled paths of what the agent said. Of a link it may have meant both ends.
func declaredPaths(p project, d Declared) map[string]bool {
	out := map[string]bool{}
	for _, name := range d.Paths {
		if strings.ContainsRune(name, 0) || name == "" {
			continue
		}
		name = absoluteIn(p.folder, name)
		out[settleParent(name)] = true
		out[settle(name)] = true
	}
	return out
}
