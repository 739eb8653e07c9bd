package realtest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

// authoredAs is the definition that a message of ours has to fit, "" for one that
// is not ours.
func authoredAs(m rpc.Message) string {
	switch string(m.Method) {
	case "fs/read_text_file":
		return "ReadTextFileRequest"
	case "fs/write_text_file":
		return "WriteTextFileRequest"
	case "session/update":
		update, _ := rpc.Member(m.Params, "update")
		if marked(update) {
			return "SessionNotification"
		}
	case "session/request_permission":
		call, _ := rpc.Member(m.Params, "toolCall")
		id, _ := rpc.Member(call, "toolCallId")
		if marked(call) || strings.HasPrefix(string(id), `"sallyport-`) {
			return "RequestPermissionRequest"
		}
	}
	return ""
}

func marked(object []byte) bool {
	meta, _ := rpc.Member(object, "_meta")
	_, ok := rpc.Member(meta, "sallyport")
	return ok
}

// checkAuthored holds what we author against ACP's own schema.
func (r *rules) checkAuthored(t *testing.T, client recording) {
	t.Helper()
	authored := 0
	for _, m := range client.down {
		if def := authoredAs(m); def != "" {
			authored++
			r.fits(t, def, string(m.Params))
		}
	}
	if authored == 0 {
		t.Error("nothing that we author was seen")
	}
}

// fits validates JSON texts against one definition.
func (r *rules) fits(t *testing.T, def string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if text == "" { // an error
			continue
		}
		if err := r.check(def, text); err != nil {
			t.Errorf("%s: %v\n%s", def, err, text)
		}
	}
}

// checkAnswers holds what we say to the agent, and our own answers to the client,
// against ACP's own schema.
func (r *rules) checkAnswers(t *testing.T, client, agent recording) {
	t.Helper()
	r.fits(t, "InitializeRequest", params(agent.up, "initialize", nil)...)
	r.fits(t, "InitializeResponse", results(client.up, client.down, "initialize", nil)...)
	r.fits(t, "SetSessionModeRequest", params(agent.up, "session/set_mode", nil)...)
	r.fits(t, "SetSessionConfigOptionRequest", params(agent.up, "session/set_config_option", nil)...)
	r.fits(t, "PromptResponse", results(client.up, client.down, "session/prompt", nil)...)
	for method, def := range map[string]string{
		"fs/read_text_file": "ReadTextFileResponse", "fs/write_text_file": "WriteTextFileResponse", "session/request_permission": "RequestPermissionResponse",
	} {
		r.fits(t, def, results(agent.down, agent.up, method, nil)...)
	}
}

// lists are those to which we add elements, with what each of them is.
var lists = map[string]string{"availableCommands": "AvailableCommand", "configOptions": "SessionConfigOption"}

// checkAdded wants our elements in every list of an agent's, and holds them against
// ACP's own schema, and all of it where the agent's part fits. picks: agents are a
// config option.
func (r *rules) checkAdded(t *testing.T, client recording, picks bool) {
	t.Helper()
	want := map[string]int{"availableCommands": 5} // undo, redo, turns, posture, receipt
	if picks {
		want["configOptions"] = 1
	}
	all := map[string][]string{"SessionNotification": params(client.down, "session/update", nil)}
	for method, def := range map[string]string{
		"session/new": "NewSessionResponse", "session/load": "LoadSessionResponse", "session/set_config_option": "SetSessionConfigOptionResponse",
	} {
		all[def] = results(client.up, client.down, method, nil)
	}
	for def, texts := range all {
		for _, text := range texts {
			for name, element := range lists {
				agents, ours, there := parted([]byte(text), name)
				n := len(ours)
				if len(agents) == 0 { // what an agent without options has instead stands for them
					n -= strings.Count(text, `"id":"sallyport.mode"`) + strings.Count(text, `"id":"sallyport.model"`)
				}
				if there && n != want[name] {
					t.Errorf("%s has %d elements of ours, want %d: %s", name, n, want[name], text)
				}
				for _, o := range ours {
					r.fits(t, element, string(o))
				}
				if len(ours) > 0 && r.check(def, theirs(text)) == nil {
					r.fits(t, def, text)
				}
			}
		}
	}
	if !strings.Contains(strings.Join(all["SessionNotification"], ""), `"availableCommands"`) {
		t.Error("no commands were told")
	}
}

// parted is a list in a message, or in its update, as the agent's elements and ours.
func parted(text []byte, name string) (agents, ours [][]byte, there bool) {
	if update, ok := rpc.Member(text, "update"); ok {
		text = update
	}
	list, _ := rpc.Member(text, name)
	var all []jsontext.Value
	if rpc.Unmarshal(list, &all) != nil {
		return nil, nil, false
	}
	for _, element := range all {
		if marked(element) {
			ours = append(ours, element)
		} else {
			agents = append(agents, element)
		}
	}
	return agents, ours, true
}

// theirs is a message without our elements, and without options where the agent has
// none. All other bytes stay as they are.
func theirs(text string) string {
	for name := range lists {
		agents, ours, _ := parted([]byte(text), name)
		if len(ours) == 0 {
			continue
		}
		at := strings.LastIndex(text, `"`+name+`":`) + len(name) + len(`"":`)
		list, err := jsontext.NewDecoder(strings.NewReader(text[at:])).ReadValue()
		if err != nil {
			return err.Error()
		}
		text = text[:at] + "[" + string(bytes.Join(agents, []byte(","))) + "]" + text[at+len(list):]
	}
	return strings.ReplaceAll(text, `,"configOptions":[]`, "")
}
