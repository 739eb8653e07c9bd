package turns

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
	"sallyport/workspace/text"
)

// maxText is the most bytes of a text that is looked into.
const maxText = 32 << 20

// documents finds the open documents whose unsaved text the agent changed: through us, or because what it wrote to the disk was
// brought into them. agents is what it changed on the disk.
func (c *comparison) documents(ctx context.Context, t *trace, agents map[string]*checkpoint.Change) ([]receipt.Change, error) {
	paths := maps.Clone(c.before.Texts)
	if paths == nil {
		paths = map[string]checkpoint.Hash{}
	}
	maps.Copy(paths, c.after.Texts)
	var out []receipt.Change
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		root, rel, ok := c.project.place(name)
		if !ok {
			continue
		}
		b := buffer{Path: []byte(name)}
		var err error
		if b.Before, err = c.version(ctx, c.before, root, rel); err != nil {
			return nil, err
		}
		if b.After, err = c.version(ctx, c.after, root, rel); err != nil {
			return nil, err
		}
		if b.Before == b.After || b.Before.Text.IsZero() || b.After.Text.IsZero() {
			continue
		}
		if b.By, err = c.whose(ctx, name, b, agents[name]); err != nil {
			return nil, err
		}
		if b.By == "" {
			continue
		}
		t.Buffers = append(t.Buffers, b)
		out = append(out, receipt.Change{
			Root: root, Path: rel, Kind: receipt.Modified, By: b.By, Buffer: true,
			Before: receipt.State{Kind: checkpoint.File.String(), Hash: b.Before.Text.String()},
			After:  receipt.State{Kind: checkpoint.File.String(), Hash: b.After.Text.String()},
		})
	}
	return out, nil
}

// version is what a document had at a checkpoint; none of a clean one whose file is no text.
func (c *comparison) version(ctx context.Context, at *checkpoint.Checkpoint, root, rel string) (version, error) {
	if h, dirty := at.Texts[absolute(root, rel)]; dirty {
		return version{Text: h}, nil
	}
	s, err := c.held.StateOf(ctx, at, root, rel)
	if err != nil || s.Kind != checkpoint.File {
		return version{}, err
	}
	return version{Text: s.Hash, Clean: true}, nil
}

// whose says who changed a document's text; "" when the user alone did.
func (c *comparison) whose(ctx context.Context, name string, b buffer, disk *checkpoint.Change) (receipt.Attribution, error) {
	chain := c.account.writes[name]
	if chain == nil {
		if disk == nil || b.After.Clean {
			return "", nil
		}
		same, err := c.caught(ctx, b, disk)
		if err != nil || !same {
			return receipt.ByUnsure, err
		}
		return c.by(ctx, disk), nil
	}
	first, err := hashOf(ctx, c.held, b.Before.Text)
	if err != nil {
		return "", err
	}
	last, err := hashOf(ctx, c.held, b.After.Text)
	if err != nil {
		return "", err
	}
	if chain.broken || chain.first != first || chain.last != last {
		return receipt.ByUnsure, nil // the user typed too
	}
	return receipt.ByMediated, nil
}

// caught says whether a document's text is what bringing the agent's change of the file into it makes.
func (c *comparison) caught(ctx context.Context, b buffer, disk *checkpoint.Change) (bool, error) {
	want, ok, err := caughtUp(ctx, c.held, b.Before.Text, disk.Before, disk.After)
	if err != nil || !ok {
		return false, err
	}
	now, ok, err := readText(ctx, c.held, b.After.Text)
	return ok && now == want, err
}

// caughtUp is an unsaved text after a change of its file was brought into it (see workspace.Files.CatchUp). False: that cannot be.
func caughtUp(ctx context.Context, held *checkpoint.Store, unsaved checkpoint.Hash, before, after checkpoint.State) (string, bool, error) {
	if before.Kind != checkpoint.File || after.Kind != checkpoint.File {
		return "", false, nil
	}
	var texts [3]string
	for i, h := range []checkpoint.Hash{unsaved, before.Hash, after.Hash} {
		s, ok, err := readText(ctx, held, h)
		if err != nil || !ok {
			return "", false, err
		}
		texts[i] = s
	}
	edits, err := text.Rebase(spelled(texts[1], texts[0]), texts[0], spelled(texts[2], texts[0]))
	if err != nil {
		return "", false, nil // a conflict: nothing was brought in
	}
	out, err := text.Apply(texts[0], edits)
	return out, err == nil, nil
}

// readText reads a text of the store, without byte order mark. False: it is not kept, too large, or no text.
func readText(ctx context.Context, held *checkpoint.Store, h checkpoint.Hash) (string, bool, error) {
	body, err := held.Content(ctx, h)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, maxText+1))
	if err != nil || len(data) > maxText || !utf8.Valid(data) {
		return "", false, err
	}
	return strings.TrimPrefix(string(data), mark), true, nil
}

// hashOf is the hash of a text as the record of accesses has it: a byte order mark does not count.
func hashOf(ctx context.Context, held *checkpoint.Store, h checkpoint.Hash) (string, error) {
	s, ok, err := readText(ctx, held, h)
	if err != nil || !ok {
		return h.String(), err
	}
	return bare(text.Hash(s)), nil
}

// spelled gives a text the line endings of another that has only one kind.
func spelled(s, like string) string {
	switch text.EndingOf(like) {
	case text.CRLF:
		return text.ToCRLF(strings.ReplaceAll(s, "\r\n", "\n"))
	case text.LF:
		return strings.ReplaceAll(s, "\r\n", "\n")
	default:
		return s
	}
}
