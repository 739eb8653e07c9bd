package permit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
	"sallyport/workspace/text"
)

var (
	errNoCall    = errors.New("reading a permission request: toolCall is no object")
	errNoOptions = errors.New("reading a permission request: options is no array")
	errTooMany   = fmt.Errorf("reading a permission request: more than %d options or %d files: nobody could judge it", MaxOptions, MaxPaths)
)

// MaxOptions is how many options a permission may offer.
const MaxOptions = 100

// Reader makes the cards of one session. Safe for concurrent use.
type Reader struct {
	Session string            // our session id
	Tools   map[string]string // the harness's acp.tools; nil: none
	Calls   Calls

	// CommandInTitle: the agent gives a command only as the title of its call
	// (quirk.CommandInTitle), so that is the command where the input has none.
	CommandInTitle bool

	made atomic.Uint64
}

// Read turns the params of session/request_permission into a card. params is
// borrowed. An error means that the request is malformed (-32602).
func (r *Reader) Read(turn string, params jsontext.Value) (*Card, error) {
	raw, options := member(params, "toolCall"), member(params, "options")
	if len(raw) == 0 || raw[0] != '{' {
		return nil, errNoCall
	}
	if !isArray(options) {
		return nil, errNoOptions
	}
	offered, ok := readOptions(options)
	if !ok {
		return nil, errTooMany
	}
	call, err := r.Calls.Request(raw)
	if err != nil {
		return nil, err
	}
	c := r.card(turn)
	c.Options, c.Diffs, c.Paths = offered, call.Diffs(), call.Paths()
	if len(c.Diffs) > MaxPaths || len(c.Paths) > MaxPaths {
		return nil, errTooMany
	}
	c.Request = Classify(call, r.Tools)
	if r.CommandInTitle && c.Request.Kind == Command && null(call.Input) {
		w := inputWriter{done: map[string]bool{}}
		w.text("command", call.Title)
		c.Request.Input = w.end()
	}
	c.Request.ID = c.ID
	c.Params = bytes.Clone(params)
	c.Raw = member(c.Params, "toolCall")
	c.Title = text.Visible(call.Title)
	if strings.TrimSpace(c.Title) == "" {
		c.Title = c.Request.Tool
	}
	return c, nil
}

// Option ids of the cards that Write makes.
const (
	WriteAllow  = "allow"
	WriteReject = "reject"
)

// Write makes the card for a write through fs/write_text_file that no
// permission of its turn covers. old is nil when the file does not exist.
func (r *Reader) Write(turn, path string, old *string, content string) *Card {
	c := r.card(turn)
	tool := "Edit"
	if old == nil {
		tool = "Write"
	}
	call := Call{Kind: "edit", Locations: []string{path}, Input: jsontext.Value(`{"content":` + string(rpc.AppendQuote(nil, content)) + `}`)}
	c.Title = text.Visible(tool + " " + path)
	c.Request = Request{ID: c.ID, Kind: Edit, Tool: tool, Input: inputOf(&call, tool)}
	c.Options = []Option{{ID: WriteAllow, Name: "Allow once", Kind: allowOnce}, {ID: WriteReject, Name: "Refuse", Kind: rejectOnce}}
	c.Diffs = []Diff{{Path: path, Old: old, New: content}}
	c.Paths = []string{path}
	return c
}

// ReadFile makes the card for a read through fs/read_text_file that has to be
// asked about. Its options are those of Write.
func (r *Reader) ReadFile(turn, path string) *Card {
	c := r.card(turn)
	call := Call{Kind: "read", Locations: []string{path}}
	c.Title = text.Visible("Read " + path)
	c.Request = Request{ID: c.ID, Kind: Read, Tool: "Read", Input: inputOf(&call, "Read")}
	c.Options = []Option{{ID: WriteAllow, Name: "Allow once", Kind: allowOnce}, {ID: WriteReject, Name: "Refuse", Kind: rejectOnce}}
	c.Paths = []string{path}
	return c
}

// Command makes the card for a command that an agent wants to run at the client
// (terminal/create), in a folder. Its options are those of Write.
func (r *Reader) Command(turn, line, folder string) *Card {
	c := r.card(turn)
	call := Call{Kind: "execute", Input: jsontext.Value(`{"command":` + string(rpc.AppendQuote(nil, line)) + `,"cwd":` + string(rpc.AppendQuote(nil, folder)) + `}`)}
	c.Title = text.Visible(line)
	c.Request = Request{ID: c.ID, Kind: Command, Tool: "Bash", Input: inputOf(&call, "Bash")}
	c.Options = []Option{{ID: WriteAllow, Name: "Allow once", Kind: allowOnce}, {ID: WriteReject, Name: "Refuse", Kind: rejectOnce}}
	c.Paths = []string{folder}
	return c
}

// Switch makes the card for an agent that switched itself to a mode of its own in
// which it asks less, and that was put back. It is a question: only a person
// answers it. Its options are those of Write.
func (r *Reader) Switch(turn, agent, mode, back string) *Card {
	c := r.card(turn)
	c.Title = text.Visible(fmt.Sprintf("%s switched itself to its mode %q, in which it asks less, and was put back to %q. Let it switch?", agent, mode, back))
	input := rpc.AppendQuote([]byte(`{"mode":`), mode)
	c.Request = Request{ID: c.ID, Kind: Question, Tool: "SetMode", Input: append(input, '}')}
	c.Options = []Option{{ID: WriteAllow, Name: "Let it switch", Kind: allowOnce}, {ID: WriteReject, Name: "Keep it where it is", Kind: rejectOnce}}
	return c
}

func (r *Reader) card(turn string) *Card {
	return &Card{ID: fmt.Sprintf("%s/p%d", r.Session, r.made.Add(1)), Session: r.Session, Turn: turn}
}

// readOptions reads the options; false: there are too many.
func readOptions(array []byte) (all []Option, ok bool) {
	n := 0
	EachElement(array, func(item []byte) {
		if n++; n > MaxOptions {
			return
		}
		var o Option
		err := rpc.Members(item, func(key, value []byte) bool {
			switch string(key) {
			case "optionId":
				o.ID = str(value)
			case "name":
				o.Name = str(value)
			case "kind":
				o.Kind = str(value)
			case "_meta":
				if !null(value) {
					o.Meta = bytes.Clone(value)
				}
			}
			return true
		})
		if err == nil {
			all = append(all, o)
		}
	})
	return all, n <= MaxOptions
}
