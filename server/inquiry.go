package server

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
	"sallyport/server/wire"
	"sallyport/workspace"
	"sallyport/workspace/text"
)

const (
	contextTimeout = 2 * time.Second // for what the user is looking at
	maxExcerpt     = 64 << 10        // bytes of a selection that go along
)

// inquiry is a prompt: its content blocks, and how it reads in the
// conversation.
type inquiry struct {
	heading string
	blocks  []rpc.RawJSON
}

// askArgs is the argument of commandAsk and commandFix.
type askArgs struct {
	Prompt      string       `json:"prompt,omitzero"`
	URI         string       `json:"uri,omitzero"`
	Range       *wire.Range  `json:"range,omitzero"`
	Diagnostics []diagnostic `json:"diagnostics,omitzero"`
}

// diagnostic is what we use of LSP's Diagnostic.
type diagnostic struct {
	Range    wire.Range     `json:"range"`
	Severity int            `json:"severity,omitzero"`
	Source   string         `json:"source,omitzero"`
	Message  jsontext.Value `json:"message"` // a string, or markup with a value
}

func (d *diagnostic) text() string {
	var s string
	if json.Unmarshal(d.Message, &s) == nil {
		return s
	}
	var markup struct {
		Value string `json:"value"`
	}
	_ = json.Unmarshal(d.Message, &markup)
	return markup.Value
}

// What is asked where the editor gives no words: LSP has no way to ask for
// them.
const (
	aboutSelection = "This is about the text below. If it holds a question or an instruction, follow it; else explain it shortly and name what is wrong with it."
	fixProblem     = "Fix this problem."
)

// commandAsk starts a turn and answers as soon as it has been taken on.
func (c *client) commandAsk(ctx context.Context, command string, raw jsontext.Value) error {
	var a askArgs
	if err := argument(raw, &a, "prompt"); err != nil {
		return err
	}
	if a.URI == "" && a.Range == nil {
		c.fillContext(ctx, &a)
	}
	if a.Prompt == "" {
		switch {
		case command == commandFix && a.URI != "":
			a.Prompt = fixProblem
		case command == commandAsk && a.Range != nil:
			a.Prompt = aboutSelection
		default:
			return badParams(command, "/prompt", "it is missing, and nothing is selected")
		}
	}
	folder, err := c.folder(a.URI)
	if err != nil {
		return err
	}
	q, err := c.inquire(&a)
	if err != nil {
		return err
	}
	if err := c.ask(folder, q); err != nil {
		return failed("%v", err)
	}
	return nil
}

// fillContext adds what the user is looking at, where the editor can say it.
func (c *client) fillContext(ctx context.Context, a *askArgs) {
	r, ok := c.context(ctx, "")
	if !ok || r.Active == nil {
		return
	}
	a.URI = r.Active.URI
	if r.Active.Selection.Start != r.Active.Selection.End {
		a.Range = &r.Active.Selection
	}
}

// inquire makes the prompt of a command: the words, the place that they are
// about with its text as the editor has it, and the problems there.
func (c *client) inquire(a *askArgs) (inquiry, error) {
	var b strings.Builder
	b.WriteString(a.Prompt)
	for _, d := range a.Diagnostics {
		fmt.Fprintf(&b, "\n\nLine %d: %s", d.Range.Start.Line+1, d.text())
		if d.Source != "" {
			fmt.Fprintf(&b, " (%s)", d.Source)
		}
	}
	var link rpc.RawJSON
	if a.URI != "" {
		name := a.URI
		path, err := workspace.PathOf(a.URI)
		if err == nil {
			name = path
			if link, err = encode(linkBlock{"resource_link", workspace.URIOf(path), filepath.Base(path)}); err != nil {
				return inquiry{}, err
			}
		} else {
			path = a.URI // untitled documents are kept by their URI
		}
		if a.Range != nil {
			fmt.Fprintf(&b, "\n\n%s, lines %d to %d", name, a.Range.Start.Line+1, a.Range.End.Line+1)
			if doc, ok := c.docs.Get(path); ok {
				b.WriteString(":\n" + fenced(excerpt(doc.Text, *a.Range, c.able.encoding)))
			}
		} else {
			b.WriteString("\n\n" + name)
		}
	}
	words, err := encode(textBlock{"text", b.String()})
	if err != nil {
		return inquiry{}, err
	}
	q := inquiry{heading: b.String(), blocks: []rpc.RawJSON{words}}
	if link != nil {
		q.blocks = append(q.blocks, link)
	}
	return q, nil
}

// The content blocks that we author (ACP, "Content"). Every agent takes these
// two.
type (
	textBlock struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	linkBlock struct {
		Type string `json:"type"`
		URI  string `json:"uri"`
		Name string `json:"name"`
	}
)

// excerpt is the text of a range, or of the whole lines of an empty one.
func excerpt(s string, r wire.Range, enc text.Encoding) string {
	start, end := text.Position(r.Start), text.Position(r.End)
	if start == end {
		start.Character, end = 0, text.Position{Line: end.Line + 1}
	}
	from, to := text.OffsetAt(s, start, enc), text.OffsetAt(s, end, enc)
	if from > to {
		from, to = to, from
	}
	if to-from > maxExcerpt {
		return strings.ToValidUTF8(s[from:from+maxExcerpt], "") + "\n…"
	}
	return s[from:to]
}

// fenced puts s into a code fence that it cannot close.
func fenced(s string) string {
	mark := "```"
	for strings.Contains(s, mark) {
		mark += "`"
	}
	if !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return mark + "\n" + s + mark
}

// context asks what the user is looking at; false where the editor cannot say.
func (c *client) context(ctx context.Context, session string) (r wire.ContextResult, ok bool) {
	if !c.able.has(wire.FeatureContext) {
		return r, false
	}
	ctx, cancel := context.WithTimeout(ctx, contextTimeout)
	defer cancel()
	if err := c.call(ctx, wire.MethodContext, wire.ContextParams{Session: session}, &r); err != nil {
		c.log.Debug("asking for the context", "error", err)
		return r, false
	}
	return r, true
}

// contextBlocks is the context as content blocks; none where there is nothing
// to say.
func (c *client) contextBlocks(ctx context.Context, session string) []rpc.RawJSON {
	r, ok := c.context(ctx, session)
	if !ok {
		return nil
	}
	var b strings.Builder
	if a := r.Active; a != nil {
		fmt.Fprintf(&b, "The user looks at %s, line %d.\n", nameOf(a.URI), a.Selection.Start.Line+1)
		if a.Text != "" {
			b.WriteString("Selected:\n" + fenced(strings.ToValidUTF8(a.Text[:min(len(a.Text), maxExcerpt)], "")) + "\n")
		}
	}
	for i, d := range r.Diagnostics {
		if i == 0 {
			b.WriteString("Problems on screen:\n")
		}
		if i == 100 {
			break
		}
		fmt.Fprintf(&b, "%s:%d: %s\n", nameOf(d.URI), d.Range.Start.Line+1, text.Visible(d.Message))
	}
	if b.Len() == 0 {
		return nil
	}
	block, err := encode(textBlock{"text", b.String()})
	if err != nil {
		return nil
	}
	return []rpc.RawJSON{block}
}

// nameOf is the path of a URI where it has one.
func nameOf(uri string) string {
	if path, err := workspace.PathOf(uri); err == nil {
		return path
	}
	return uri
}
