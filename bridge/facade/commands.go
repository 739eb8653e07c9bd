package facade

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
)

// slash is one of our slash commands (ACP v1, Slash Commands).
type slash struct {
	name, description, hint string
	run                     func(q *call, e *entry, args []string)
}

func slashes() []slash {
	return []slash{
		{"undo", "Take back what a turn of the agent changed (Sallyport)", "turn; the last one if none is named", (*call).undoCommand},
		{"redo", "Take back that a turn was taken back (Sallyport)", "turn; the last one if none is named", (*call).redoCommand},
		{"turns", "List the turns on the record (Sallyport)", "how many", (*call).turnsCommand},
		{"posture", "Say which fences hold, and how strongly (Sallyport)", "", (*call).postureCommand},
		{"receipt", "Show the receipt of a turn (Sallyport)", "turn; the last one if none is named", (*call).receiptCommand},
	}
}

// availableCommand is AvailableCommand of ACP v1.
type availableCommand struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Input       *commandInput `json:"input,omitzero"`
	Meta        marked        `json:"_meta"`
}

type commandInput struct {
	Hint string `json:"hint"`
}

// ownName is how the user calls one of our commands in a session: by its name,
// unless the agent has a command of that name.
func (e *entry) ownName(name string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return "/" + e.ownNameLocked(name)
}

func (e *entry) ownNameLocked(name string) string {
	if e.offer.commands[name] {
		return "sallyport-" + name
	}
	return name
}

// slashCommands are our commands for a session, as elements of availableCommands.
func (e *entry) slashCommands() (all [][]byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range slashes() {
		c := availableCommand{Name: e.ownNameLocked(s.name), Description: s.description, Meta: marked{struct{}{}}}
		if s.hint != "" {
			c.Input = &commandInput{s.hint}
		}
		if raw, err := json.Marshal(c); err == nil { // strings only
			all = append(all, raw)
		}
	}
	return all
}

// updateCommands hands on an agent's list of commands with ours behind them.
func (d display) updateCommands(ctx context.Context, e *entry, u *bridge.Update) {
	list, _ := rpc.Member(u.Raw, "availableCommands")
	var theirs []struct {
		Name string `json:"name"`
	}
	_ = rpc.Unmarshal(list, &theirs) // what cannot be read has no names
	e.mu.Lock()
	e.offer.told = true
	e.offer.commands = make(map[string]bool, len(theirs))
	for _, c := range theirs {
		e.offer.commands[c.Name] = true
	}
	e.mu.Unlock()
	if err := setMember(u, "availableCommands", appended(list, e.slashCommands()...)); err != nil {
		d.log.Debug("our commands were not added", "error", err)
	}
	d.pass(ctx, e, u.From)
}

// sayCommands tells a client our commands in a session whose agent has told none.
func (c *client) sayCommands(e *entry) {
	e.mu.Lock()
	told := e.offer.told
	e.offer.told = true
	e.mu.Unlock()
	if told {
		return
	}
	c.update(e, struct {
		Kind     string         `json:"sessionUpdate"`
		Commands jsontext.Value `json:"availableCommands"`
		Meta     marked         `json:"_meta"`
	}{"available_commands_update", appended(nil, e.slashCommands()...), marked{struct{}{}}})
}

// invocation is one of our commands as the user has typed it.
type invocation struct {
	slash
	args []string
}

// command reads a prompt that is one of our commands: its only text begins with the
// name. What a client adds of its own, such as the file that is open, is no text.
func (e *entry) command(params jsontext.Value) (invocation, bool) {
	words := strings.Fields(onlyText(params))
	if len(words) == 0 || !strings.HasPrefix(words[0], "/") {
		return invocation{}, false
	}
	for _, s := range slashes() {
		if words[0] == e.ownName(s.name) {
			return invocation{s, words[1:]}, true
		}
	}
	return invocation{}, false
}

// maxCommand is how long a command may be.
const maxCommand = 4 << 10

// onlyText is the text of the only text block of a prompt, "" when there are more of
// them, or none.
func onlyText(params jsontext.Value) (text string) {
	list, _ := rpc.Member(params, "prompt")
	var blocks []jsontext.Value
	if rpc.Unmarshal(list, &blocks) != nil {
		return ""
	}
	found := false
	for _, b := range blocks {
		kind, _ := rpc.Member(b, "type")
		if k, err := rpc.Unquote(kind); err != nil || k != "text" {
			continue
		}
		value, _ := rpc.Member(b, "text")
		if found || len(value) > maxCommand {
			return ""
		}
		found = true
		text, _ = rpc.Unquote(value) // what is no text is ""
	}
	return text
}

// command runs one of our commands in the place of a turn.
func (q *call) command(e *entry, c invocation) {
	c.run(q, e, c.args)
	q.turnEnded(bridge.TurnResult{StopReason: "end_turn"}, q.ctx.Err())
}
