package facade

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
	"sallyport/workspace"
)

// version is the version of ACP that is spoken here.
const version = 1

// able is what the client can do for us (ACP v1, ClientCapabilities).
type able struct{ read, write bool }

// initialize answers a client's hello with the agent's own, which is started for
// it. The version is picked from the raw params: whoever asks for another is
// answered with ours (ACP, Initialization), and decides whether to go on.
func (q *call) initialize() {
	q.met.mu.Lock()
	again := q.met.asked
	q.met.asked = true
	q.met.mu.Unlock()
	wanted, _ := rpc.Member(q.params, "protocolVersion")
	switch {
	case again:
		q.fail(ours(rpc.InvalidRequest, "initialize was said already"))
		return
	case len(wanted) == 0 || strings.Trim(string(wanted), "0123456789") != "":
		q.met.mu.Lock()
		q.met.asked = false
		q.met.mu.Unlock()
		q.fail(ours(rpc.InvalidParams, "protocolVersion is missing or no version: Sallyport speaks version %d of ACP", version))
		return
	}
	if string(wanted) != fmt.Sprint(version) {
		q.log.Warn("the client asks for another version of ACP", "asked", clip(string(wanted)), "answered", version)
	}
	if !q.lobby.put(len(q.params), q.greet) {
		q.fail(errClosing)
	}
}

// greet starts the agent and answers.
func (q *call) greet() {
	abilities := readAble(q.params)
	b := q.Bridge(q.display(), q.editor, q.params)
	q.met.mu.Lock()
	q.met.able = abilities
	q.met.mu.Unlock()
	answer, err := b.Greet(q.ctx, q.Agent, q.Folder)
	if err == nil {
		q.tellVariables(b, answer)
		answer, err = q.meet(q.signIns(answer, q.Agent))
	}
	q.met.mu.Lock()
	q.met.bridge = b // also after an error: it is closed with the connection
	q.met.mu.Unlock()
	q.answer(answer, err)
	if err != nil && q.life.Err() == nil {
		q.conn.Flush()
		q.end(&StartError{startReason(err)})
	}
}

// startReason is a failed start in one line, with what to do.
func startReason(err error) error {
	if hint := bridge.HintOf(err); hint != "" {
		return fmt.Errorf("%w (%s)", err, hint)
	}
	return err
}

func readAble(greeting []byte) able {
	var said struct {
		Able struct {
			FS struct {
				Read  bool `json:"readTextFile"`
				Write bool `json:"writeTextFile"`
			} `json:"fs"`
		} `json:"clientCapabilities"`
	}
	_ = rpc.Unmarshal(greeting, &said) // what is odd there is not offered
	return able{read: said.Able.FS.Read, write: said.Able.FS.Write}
}

// meet makes our answer of the agent's: its own capabilities are what the client
// can have, since all that they stand for passes, but for its ways to sign in at
// a terminal, which come back to us. Who stands in between is said in
// _meta.
func (q *call) meet(answer jsontext.Value) (jsontext.Value, error) {
	meta, _ := rpc.Member(answer, "_meta")
	if len(meta) == 0 || meta[0] != '{' {
		meta = []byte("{}")
	}
	ours := rpc.AppendQuote([]byte(`{"version":`), q.version())
	meta, err := rpc.SetMember(meta, mark, append(ours, '}'))
	if err != nil {
		return nil, fmt.Errorf("reading the agent's initialize: %w", err)
	}
	return rpc.SetMember(answer, "_meta", meta)
}

// mark is the member of _meta that says what is ours.
const mark = "sallyport"

func (c *client) version() string {
	if c.Version == "" {
		return "devel"
	}
	return c.Version
}

// editor is the client as the holder of open documents, asked in the name of a
// session.
func (c *client) editor(session string) workspace.Editor { return &editor{c, session} }
