package server

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"

	"sallyport/bridge"
	"sallyport/workspace/text"
	"sallyport/workspace/turns"
)

// undoArgs say what a plain editor wants taken back.
type undoArgs struct {
	Turn  string   `json:"turnId,omitzero"` // or its beginning; absent: the last one that can be
	Paths []string `json:"paths,omitzero"`  // absent: all
	Force bool     `json:"force,omitzero"`  // conflicts, too, without a question
	folderArgs
}

// recordOf is the folder that a command is about, and the record of turns.
func (c *client) recordOf(uri string) (folder string, rec bridge.Recorder, err error) {
	if folder, err = c.folder(uri); err != nil {
		return "", nil, err
	}
	rec, err = c.record()
	return folder, rec, err
}

// commandUndo takes a turn back, or does it again. What becomes of it is told
// by messages: there may be a question on the way.
func (c *client) commandUndo(raw jsontext.Value, redo bool) error {
	var a undoArgs
	if err := argument(raw, &a, "turnId"); err != nil {
		return err
	}
	folder, rec, err := c.recordOf(a.URI)
	if err != nil {
		return err
	}
	session, _, _ := c.talks.sessionOf(folder)
	u := turns.Undo{Folder: folder, Turn: a.Turn, Redo: redo, Force: a.Force, Paths: a.Paths, Session: session}
	ok := c.spawnTurn(func(ctx context.Context, _ context.CancelCauseFunc) {
		done, err := c.takeBack(ctx, rec, u)
		c.standing.forget()
		if err != nil {
			c.complain(err)
			return
		}
		c.told(session, u, done)
	})
	if !ok {
		return errClosing
	}
	return nil
}

// takeBack looks first what would happen, asks when something changed since,
// and then does it. It returns what was done, nil when the person left all.
func (c *client) takeBack(ctx context.Context, rec bridge.Recorder, u turns.Undo) (*turns.Undone, error) {
	plan := u
	plan.DryRun = true
	would, err := rec.TurnUndo(ctx, plan)
	if err != nil {
		return nil, err
	}
	u.Turn = would.Of // what was shown is what is done
	if len(would.Conflicts) > 0 && !u.Force {
		q, choices := conflictQuestion(would, u.Redo)
		i, err := c.decide(ctx, q)
		switch {
		case err != nil:
			return nil, fmt.Errorf("asking about what changed since the turn: %w", err)
		case i < 0 || choices[i] == leaveAll:
			return nil, nil
		}
		u.Force = choices[i] == takeAll
	}
	return rec.TurnUndo(ctx, u)
}

// choice is how to go on where something changed since the turn.
type choice int

const (
	takeRest choice = iota
	takeAll
	leaveAll
)

// conflictQuestion shows the conflicts.
func conflictQuestion(would *turns.Undone, redo bool) (question, []choice) {
	q := question{id: "undo-" + would.Of, title: "changed since, and not by this turn: " + countFiles(would.Conflicts)}
	forceable := false
	for i, p := range would.Conflicts {
		forceable = forceable || p.Forceable
		if i < maxPlaces {
			q.places = append(q.places, text.Visible(p.Path+": "+p.Why))
		}
	}
	if more := len(would.Conflicts) - maxPlaces; more > 0 {
		q.places = append(q.places, fmt.Sprintf("and %d more", more))
	}
	verb := "Undo"
	if redo {
		verb = "Redo"
	}
	var choices []choice
	if len(would.Done) > 0 {
		choices, q.answers = append(choices, takeRest), append(q.answers, fmt.Sprintf("%s the rest (%s)", verb, countFiles(would.Done)))
	}
	if forceable {
		choices, q.answers = append(choices, takeAll), append(q.answers, verb+" these all the same")
	}
	q.answers = append(q.answers, "Leave everything as it is")
	return q, append(choices, leaveAll)
}

// maxPlaces is how many files a message names.
const maxPlaces = 10

// told says what an undo did, in one line, and notes all of it.
func (c *client) told(session string, u turns.Undo, done *turns.Undone) {
	if done == nil {
		return
	}
	verb, back := "took back", commandRedo
	if u.Redo {
		verb, back = "did again", commandUndo
	}
	s := fmt.Sprintf("%s what turn %s did to %s", verb, done.Of, countFiles(done.Done))
	kind := protocol.MessageTypeInfo
	switch {
	case done.Turn == "" && len(done.Conflicts) == 0:
		s = "nothing to do: everything is so already"
	case done.Turn == "":
		s = "nothing was done"
	default:
		s = withHint(s, "the command "+back+" brings it back")
	}
	if n := len(done.Conflicts); n > 0 {
		kind = protocol.MessageTypeWarning
		s += fmt.Sprintf("; left alone: %s", placesOf(done.Conflicts))
	}
	if log := c.book.of(session); log != nil {
		log.Note("Undo", s)
		log.Items("Paths", undoneItems(done))
	}
	c.say(kind, "Sallyport: "+s)
}

// placesOf names a few paths in one line.
func placesOf(list []turns.PathState) string {
	const few = 3
	var names []string
	for _, p := range list[:min(few, len(list))] {
		names = append(names, text.Visible(p.Path)+" ("+text.Visible(p.Why)+")")
	}
	if len(list) > few {
		names = append(names, fmt.Sprintf("%d more", len(list)-few))
	}
	return strings.Join(names, ", ")
}

// countFiles counts paths. One that changed on the disk and in its open document
// is listed twice.
func countFiles(list []turns.PathState) string {
	seen := map[[2]string]bool{}
	for _, p := range list {
		seen[[2]string{p.Root, p.Path}] = true
	}
	return count(len(seen), "file")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
