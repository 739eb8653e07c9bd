package quirk

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

const transcripts = "../../testdata/realagents/transcripts"

// line is one line of a transcript.
type line struct {
	Dir    string         `json:"dir"` // "->" to the agent, "<-" from it, stderr, note
	Text   string         `json:"text"`
	Value  any            `json:"value"`
	Signal string         `json:"signal"`
	Files  map[string]any `json:"files"`
	Msg    struct {
		ID     any            `json:"id"`
		Method string         `json:"method"`
		Params map[string]any `json:"params"`
		Result map[string]any `json:"result"`
		Error  map[string]any `json:"error"`
	} `json:"msg"`
	raw string
}

// transcript is one recorded scenario.
type transcript []line

func read(t *testing.T, name string) transcript {
	t.Helper()
	recorded(t)
	data, err := os.ReadFile(filepath.Join(transcripts, filepath.FromSlash(name)+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all transcript
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		l.raw = lines.Text()
		all = append(all, l)
	}
	return all
}

// recorded skips a test in a tree that comes without the recordings.
func recorded(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(transcripts); err != nil {
		t.Skipf("the recordings of real agents are not in this tree: %v", err)
	}
}

// find is the index of the first line at or after from for which ok holds, -1
// for none.
func (tr transcript) find(from int, ok func(line) bool) int {
	for i := from; i >= 0 && i < len(tr); i++ {
		if ok(tr[i]) {
			return i
		}
	}
	return -1
}

func (tr transcript) has(from int, ok func(line) bool) bool { return tr.find(from, ok) >= 0 }

func (tr transcript) count(ok func(line) bool) (n int) {
	for _, l := range tr {
		if ok(l) {
			n++
		}
	}
	return n
}

// agent is the agentInfo of the initialize answer.
func (tr transcript) agent() (name, version string) {
	for _, l := range tr {
		if info := object(l.Msg.Result["agentInfo"]); l.Dir == "<-" && info != nil {
			return str(info["name"]), str(info["version"])
		}
	}
	return "", ""
}

// call matches a request or notification.
func call(dir, method string) func(line) bool {
	return func(l line) bool { return l.Dir == dir && l.Msg.Method == method }
}

// answer matches the answer, going in dir, to the request in line i.
func (tr transcript) answer(i int, dir string) func(line) bool {
	id := tr[i].Msg.ID
	return func(l line) bool {
		return l.Dir == dir && l.Msg.Method == "" && l.Msg.ID == id && (l.Msg.Result != nil || l.Msg.Error != nil)
	}
}

// update matches a session/update of one of the kinds.
func update(kinds ...string) func(line) bool {
	return func(l line) bool {
		kind := str(l.update()["sessionUpdate"])
		for _, k := range kinds {
			if k == kind {
				return true
			}
		}
		return false
	}
}

func (l line) update() map[string]any {
	if l.Dir != "<-" || l.Msg.Method != "session/update" {
		return nil
	}
	return object(l.Msg.Params["update"])
}

// chunk is the text of a message chunk, empty for other lines.
func (l line) chunk() string {
	if !update("agent_message_chunk")(l) {
		return ""
	}
	return str(object(l.update()["content"])["text"])
}

// contents are the content blocks of an update or of a permission's tool call.
func (l line) contents() []map[string]any {
	from := l.update()
	if from == nil {
		from = object(l.Msg.Params["toolCall"])
	}
	list, _ := from["content"].([]any)
	var all []map[string]any
	for _, c := range list {
		all = append(all, object(c))
	}
	return all
}

// callID is the id of the tool call that the line is about.
func (l line) callID() string {
	if id := str(object(l.Msg.Params["toolCall"])["toolCallId"]); id != "" {
		return id
	}
	return str(l.update()["toolCallId"])
}

// rejected is the index of the permission that the client refused, and of its
// answer, -1 for none.
func (tr transcript) rejected() (request, reply int) { return tr.picked("reject_once") }

// picked finds the permission that was answered with an option of a kind.
func (tr transcript) picked(kind string) (request, reply int) {
	for i, l := range tr {
		if !call("<-", "session/request_permission")(l) {
			continue
		}
		at := tr.find(i, tr.answer(i, "->"))
		if at < 0 {
			continue
		}
		id := str(object(tr[at].Msg.Result["outcome"])["optionId"])
		options, _ := l.Msg.Params["options"].([]any)
		for _, o := range options {
			if str(object(o)["optionId"]) == id && str(object(o)["kind"]) == kind {
				return i, at
			}
		}
	}
	return -1, -1
}

// files reports whether the project held a file of that name in the end.
func (tr transcript) file(name string) bool {
	return tr.has(0, func(l line) bool {
		_, ok := l.Files[name]
		return ok && l.Text == "files in project"
	})
}

func (tr transcript) note(text string) func(line) bool {
	return func(l line) bool { return l.Dir == "note" && strings.HasPrefix(l.Text, text) }
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func str(v any) string {
	s, _ := v.(string)
	return s
}
