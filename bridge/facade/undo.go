package facade

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/workspace/receipt"
	"sallyport/workspace/turns"
)

// shownCall is a tool call that we author, or its update (ACP v1, ToolCall).
type shownCall struct {
	Update    string     `json:"sessionUpdate"`
	ID        string     `json:"toolCallId"`
	Title     string     `json:"title,omitzero"`
	Kind      string     `json:"kind,omitzero"`
	Status    string     `json:"status"`
	Content   []content  `json:"content,omitempty"`
	Locations []location `json:"locations,omitempty"`
	Meta      marked     `json:"_meta"`
}

func (q *call) undoCommand(e *entry, args []string) { q.takeBack(e, args, false) }
func (q *call) redoCommand(e *entry, args []string) { q.takeBack(e, args, true) }

// The answers to the question whether a turn is taken back.
const (
	undoYes = "take_back"
	undoNo  = "keep"
)

// takeBack shows what an undo would do as the diffs of a tool call, asks, and does
// it, through the client where that has the files.
func (q *call) takeBack(e *entry, args []string, redo bool) {
	e.mu.Lock()
	u := turns.Undo{Folder: e.folder, Session: e.ours, Redo: redo, DryRun: true}
	e.mu.Unlock()
	for _, a := range args {
		switch {
		case a == "--force":
			u.Force = true
		case u.Turn == "" && !strings.HasPrefix(a, "-"):
			u.Turn = a
		default:
			q.tell(e, "I know a turn's id and --force, not "+a)
			return
		}
	}
	dry, err := q.side().TurnUndo(q.ctx, u)
	if err != nil {
		q.tell(e, inWords(err, redo))
		return
	}
	verb := "Take back"
	if redo {
		verb = "Do again"
	}
	if len(dry.Done) == 0 {
		q.tell(e, "nothing is left to change of turn "+dry.Of+left(dry))
		return
	}
	c := shownCall{ // an agent that knew the id could change what is shown
		Update: "tool_call", ID: "sallyport-undo-" + rand.Text(), Title: verb + " turn " + dry.Of, Kind: "edit",
		Status: "pending", Content: e.diffs(dry.Diffs), Meta: marked{struct {
			Undo string `json:"undo"`
		}{dry.Of}},
	}
	files := filesOf(dry.Done)
	for _, path := range files[:min(len(files), maxShown)] {
		c.Locations = append(c.Locations, location{e.spelt(path)})
	}
	q.update(e, c)
	c.Update, c.Content, c.Locations = "tool_call_update", nil, nil
	if !q.agreed(e, c, verb) {
		c.Status = "failed"
		q.update(e, c)
		q.tell(e, "nothing was changed")
		return
	}
	u.DryRun, u.Turn = false, dry.Of
	done, err := q.side().TurnUndo(q.ctx, u)
	if err != nil {
		c.Status = "failed"
		q.update(e, c)
		q.tell(e, inWords(err, redo))
		return
	}
	c.Status = "completed"
	q.update(e, c)
	q.tell(e, q.undone(e, done, redo))
}

// agreed asks the client's user.
func (q *call) agreed(e *entry, c shownCall, verb string) bool {
	raw, err := json.Marshal(struct {
		Session string          `json:"sessionId"`
		Call    any             `json:"toolCall"`
		Options []permit.Option `json:"options"`
	}{e.id, struct {
		ID     string `json:"toolCallId"`
		Title  string `json:"title"`
		Kind   string `json:"kind"`
		Status string `json:"status"`
	}{c.ID, c.Title, c.Kind, c.Status}, []permit.Option{
		{ID: undoYes, Name: verb, Kind: "allow_once"}, {ID: undoNo, Name: "Leave it as it is", Kind: "reject_once"},
	}})
	if err != nil {
		return false
	}
	answer, err := q.conn.CallRaw(q.ctx, "session/request_permission", raw)
	if err != nil {
		return false
	}
	a, err := readAnswer(answer)
	return err == nil && a.Option == undoYes
}

// undone says what an undo did.
func (q *call) undone(e *entry, u *turns.Undone, redo bool) string {
	words, back := "turn "+u.Of+" is taken back", e.ownName("redo")
	if redo {
		words, back = "turn "+u.Of+" is done again", e.ownName("undo")
	}
	words += ": " + plural(len(filesOf(u.Done)), "file") + left(u)
	return words + "\n" + back + " " + u.Of + " goes back"
}

// filesOf are the paths of what an undo does; a file and its unsaved text are one.
func filesOf(done []turns.PathState) (all []string) {
	seen := make(map[string]bool, len(done))
	for _, p := range done {
		if path := filepath.Join(p.Root, filepath.FromSlash(p.Path)); !seen[path] {
			seen[path] = true
			all = append(all, path)
		}
	}
	return all
}

// left names what an undo leaves alone.
func left(u *turns.Undone) string {
	var b strings.Builder
	for i, p := range u.Conflicts {
		if i == 20 {
			fmt.Fprintf(&b, "\nand %d more", len(u.Conflicts)-i)
			break
		}
		b.WriteString("\nleft alone: " + p.Path + " (" + p.Why + ")")
		if p.Forceable {
			b.WriteString("; --force takes it back too")
		}
	}
	return b.String()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// inWords is an error of the record in a user's words.
func inWords(err error, redo bool) string {
	var (
		busy *turns.BusyError
		back *rpc.TakenBack
	)
	switch {
	case errors.As(err, &busy):
		return "a turn runs in this project (" + busy.Turn + "): wait for its end or cancel it"
	case errors.Is(err, turns.ErrNothing) && redo:
		return "no turn was taken back"
	case errors.Is(err, turns.ErrNothing), errors.Is(err, receipt.ErrNotFound) && !redo:
		return "there is no turn to take back"
	case errors.Is(err, context.Canceled), errors.As(err, &back):
		return "cancelled"
	default:
		return err.Error()
	}
}

// maxShown is how many diffs, and files, a dry run shows.
const maxShown = 200

// diffs are the changes of a dry run as contents of a tool call: for each hunk what
// is there and what would be.
func (e *entry) diffs(files []turns.FileDiff) (all []content) {
	for _, f := range files {
		path := e.spelt(filepath.Join(f.Root, filepath.FromSlash(f.Path)))
		hunks := hunksOf(f.Unified)
		if len(hunks) == 0 {
			words := f.Path + ": " + f.Kind
			if f.Omitted != "" {
				words += " (" + f.Omitted + ")"
			}
			all = append(all, content{Type: "content", Content: &textBlock{"text", visibleText(words)}})
		}
		for _, h := range hunks {
			d := content{Type: "diff", Path: path, Old: &h.old, New: &h.new}
			if f.Before.Kind == "" || f.Before.Kind == "absent" {
				d.Old = nil
			}
			all = append(all, d)
		}
		if len(all) > maxShown {
			return all[:maxShown]
		}
	}
	return all
}

type hunk struct{ old, new string }

// hunksOf takes a unified diff of one file apart.
func hunksOf(unified string) (all []hunk) {
	var h *hunk
	last := byte(0)
	for line := range strings.Lines(unified) {
		switch {
		case strings.HasPrefix(line, "@@"):
			all = append(all, hunk{})
			h = &all[len(all)-1]
		case h == nil:
		case line[0] == ' ':
			h.old += line[1:]
			h.new += line[1:]
		case line[0] == '-':
			h.old += line[1:]
		case line[0] == '+':
			h.new += line[1:]
		case line[0] == '\\': // the line before has no end
			if last != '+' {
				h.old = strings.TrimSuffix(h.old, "\n")
			}
			if last != '-' {
				h.new = strings.TrimSuffix(h.new, "\n")
			}
		}
		last = line[0]
	}
	return all
}

// turnsCommand lists the turns of the session's project.
func (q *call) turnsCommand(e *entry, args []string) {
	limit := 10
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 1 || len(args) > 1 {
			q.tell(e, "I know a number of turns, not "+strings.Join(args, " "))
			return
		}
		limit = min(n, 100)
	}
	rows, err := q.side().TurnList(q.ctx, e.place(), limit)
	if err != nil {
		q.tell(e, err.Error())
		return
	}
	if len(rows) == 0 {
		q.tell(e, "no turn is on the record of this project")
		return
	}
	var b strings.Builder
	for _, r := range rows {
		what := strings.TrimSpace(string(r.Kind) + " " + r.Agent) // an undo is nobody's
		fmt.Fprintf(&b, "%s  %s  %s, %s", r.Turn, r.Started.Local().Format("2006-01-02 15:04"), what, plural(r.Changed, "file"))
		switch {
		case r.Running:
			b.WriteString(", running")
		case r.Undone:
			b.WriteString(", taken back")
		case r.Undoable:
			b.WriteString(", can be taken back")
		}
		b.WriteString("\n")
	}
	q.page(e, b.String())
}

// postureCommand says what holds.
func (q *call) postureCommand(e *entry, args []string) {
	if len(args) > 0 {
		q.tell(e, "I know the posture of this session, not "+strings.Join(args, " "))
		return
	}
	i, err := q.side().Info(e.known())
	if err != nil {
		q.tell(e, err.Error())
		return
	}
	p := i.Posture
	words := fmt.Sprintf("reads %s, writes %s, commands %s\n%s\nmode %s", p.Reads, p.Writes, p.Commands, p.Sentence, i.Mode)
	for _, m := range i.Taint {
		words += "\nuntrusted content came in: " + m.String()
	}
	q.tell(e, words)
}

// receiptCommand shows a receipt.
func (q *call) receiptCommand(e *entry, args []string) {
	turn := ""
	switch len(args) {
	case 0:
	case 1:
		turn = args[0]
	default:
		q.tell(e, "I know a turn's id, not "+strings.Join(args[1:], " "))
		return
	}
	r, err := q.side().Receipt(q.ctx, e.place(), turn)
	if err != nil {
		q.tell(e, inWords(err, true))
		return
	}
	var b strings.Builder
	if err := r.Print(&b, receipt.PrintOptions{Width: 100, Height: 200}); err != nil {
		q.tell(e, err.Error())
		return
	}
	q.page(e, b.String())
}

func (e *entry) place() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.folder
}

// tell answers one of our commands in words.
func (q *call) tell(e *entry, words string) {
	q.say(e, quoted("Sallyport: "+words), struct{}{})
}

// page answers one of our commands with text that keeps its columns.
func (q *call) page(e *entry, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	q.say(e, "\n"+fence+"\n"+strings.TrimRight(text, "\n")+"\n"+fence+"\n", struct{}{})
}
