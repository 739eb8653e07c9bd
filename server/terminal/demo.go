package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
)

// Story is what the demo's scripted agent is written for: a file, its text on
// the disk and in the editor, and what the person types meanwhile.
type Story struct {
	File    string // below the session's folder
	Saved   string
	Unsaved string
	Typed   string // in the editor after more typing, while the agent asks
	Made    string // a file that the agent writes past us
}

// Demo tells the whole story with a scripted agent: unsaved text that is seen,
// a permission, a write merged with typing, a fence that refuses, and the whole
// turn taken back.
type Demo struct {
	Story    Story
	Terminal *Terminal
	// Bridge makes a bridge for a display and an editor that keeps turns in a
	// state folder. done is called once it was closed.
	Bridge func(ctx context.Context, d bridge.Display, e *Buffers, state string) (b bridge.Sessions, done func(), err error)
}

// Run tells the story in a new folder that it removes again. The error says
// what did not go as it should.
func (d *Demo) Run(ctx context.Context) (err error) {
	folder, err := os.MkdirTemp("", "sallyport-demo-")
	if err != nil {
		return fmt.Errorf("making the demo's folder: %w", err)
	}
	defer os.RemoveAll(folder)
	project := filepath.Join(folder, "project")
	path := filepath.Join(project, d.Story.File)
	if err := os.MkdirAll(filepath.Join(project, ".git", "hooks"), 0o755); err != nil {
		return fmt.Errorf("making the demo's folder: %w", err)
	}
	if err := os.WriteFile(path, []byte(d.Story.Saved), 0o644); err != nil {
		return fmt.Errorf("making the demo's file: %w", err)
	}
	editor := NewBuffers()
	if err := editor.Open(path); err != nil {
		return err
	}
	if err := editor.Type(path, func(string) string { return d.Story.Unsaved }); err != nil {
		return err
	}
	t := d.Terminal
	t.Folder = project
	t.Heading("An editor has " + d.Story.File + " open. The last line is typed and not saved.")
	t.Line(indent(d.Story.Unsaved))

	person := &person{Terminal: t, editor: editor, path: path, typed: d.Story.Typed}
	b, done, err := d.Bridge(ctx, person, editor, filepath.Join(folder, "state"))
	if err != nil {
		return err
	}
	defer done()
	defer func() {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if closeErr := b.Close(bound); err == nil {
			err = closeErr
		}
	}()
	t.Heading("An agent is started and asked for an edit.")
	info, err := b.New(ctx, bridge.NewSession{Agent: "demo", Folder: project, Mode: permit.Default})
	if err != nil {
		return err
	}
	t.Line(t.paint(dim, "posture: "+info.Posture.Sentence))
	result, err := b.Prompt(ctx, info.ID, []jsontext.Value{textBlock("Make two louder, please.")})
	t.Finish()
	if err != nil {
		return err
	}
	t.Line(t.paint(dim, "turn ended: "+plain(string(result.StopReason))))
	if err := d.verdict(editor, person, path, folder); err != nil {
		return err
	}
	rec, ok := b.(bridge.Recorder)
	if !ok {
		return errors.New("the demo's bridge keeps no turns")
	}
	return d.takeBack(ctx, rec, editor, scene{project: project, path: path, turn: result.Turn})
}

// verdict looks at what really happened and says it.
func (d *Demo) verdict(editor *Buffers, p *person, path, folder string) error {
	t := d.Terminal
	doc, _ := editor.Documents.Get(path)
	p.seen.Lock()
	asked, said := p.asked, p.said.String()
	p.seen.Unlock()
	t.Heading("Afterwards, in the editor:")
	t.Line(indent(doc.Text))
	disk, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	want := strings.Replace(d.Story.Typed, "two", "TWO", 1)
	_, outside := os.Stat(filepath.Join(folder, "outside.txt"))
	_, hook := os.Stat(filepath.Join(folder, "project", ".git", "hooks", "pre-commit"))
	return d.checked([]check{
		{"the agent saw the unsaved line", strings.Contains(said, lastLine(d.Story.Unsaved))},
		{"it asked before it wrote", asked > 0},
		{"its edit and the typing are both in the buffer", doc.Text == want},
		{"the buffer is still unsaved: the disk was not touched", doc.Dirty && string(disk) == d.Story.Saved},
		{"the write outside the project was refused", os.IsNotExist(outside)},
		{"the git hook was refused", os.IsNotExist(hook)},
	})
}

// check is something that the demo shows, and whether it was so.
type check struct {
	what string
	ok   bool
}

// checked says what was so; the error is about the first that was not.
func (d *Demo) checked(all []check) error {
	for _, c := range all {
		if !c.ok {
			return fmt.Errorf("the demo did not show this: %s", c.what)
		}
		d.Terminal.Line(d.Terminal.paint(green, "✓ ") + c.what)
	}
	return nil
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	return lines[len(lines)-1]
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n    ")
}

// person is the demo's user: reads the card, types meanwhile, and allows.
type person struct {
	*Terminal
	editor *Buffers
	path   string
	typed  string

	seen  sync.Mutex
	asked int
	said  strings.Builder // what the agent told
}

// Update also keeps what the agent says.
func (p *person) Update(ctx context.Context, u bridge.Update) {
	if u.Kind == "agent_message_chunk" {
		p.seen.Lock()
		p.said.WriteString(chunk(u.Raw))
		p.seen.Unlock()
	}
	p.Terminal.Update(ctx, u)
}

// Ask shows the card and answers it, after some typing.
func (p *person) Ask(_ context.Context, c *permit.Card) (permit.Answer, error) {
	p.seen.Lock()
	p.asked++
	p.seen.Unlock()
	p.card(c)
	if err := p.editor.Type(p.path, func(string) string { return p.typed }); err != nil {
		return permit.Answer{}, err
	}
	p.Line(p.paint(cyan, "  meanwhile you type: ") + lastLine(p.typed))
	for i, o := range c.Options {
		if o.Kind == "allow_once" {
			p.Line(p.paint(bold, "allow? ") + p.options(c.Options) + ": " + fmt.Sprint(i+1) + p.paint(dim, "  (the demo answers for you)"))
			return permit.Answer{Option: o.ID}, nil
		}
	}
	return permit.Answer{}, nil
}
