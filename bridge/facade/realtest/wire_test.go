package realtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sallyport/bridge/rpc"
)

// wires are the recordings of both connections of one run: between client and
// sallyport, and between sallyport and the agent.
type wires struct{ client, agent string }

// guarded is the command line of sallyport with the stage's agent, with recorders
// before and behind it.
func (s *stage) guarded(t *testing.T) []string {
	t.Helper()
	a, node, tee := s.agent, "node", client(t, "tee.mjs")
	dir := filepath.Join(s.Dir, "wires")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	s.wires = wires{filepath.Join(dir, "client"), filepath.Join(dir, "agent")}
	installed := s.program()
	real, err := os.Readlink(installed)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(installed); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nexec " + strings.Join([]string{node, tee, s.wires.agent, real}, " ") + " \"$@\"\n"
	if err := os.WriteFile(installed, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s.configure(t, func(config map[string]any) { // its recorder runs inside the fences, too
		config["agents"].(map[string]any)[a.ID].(map[string]any)["state"] = []string{dir}
	})
	command := []string{node, tee, s.wires.client, program.Path(t), "acp"}
	if !s.chosen {
		command = append(command, "--agent", a.ID)
	}
	return command
}

// recording is one connection: what went up to the agent's side and what came down.
type recording struct{ up, down []rpc.Message }

func read(t *testing.T, wire string) (r recording) {
	t.Helper()
	raw, err := os.ReadFile(wire)
	if err != nil {
		t.Fatal(err)
	}
	life := 0 // of the program: ids begin anew with each
	for line := range bytes.Lines(raw) {
		mark, text := line[:2], bytes.TrimSpace(line[2:])
		m, err := rpc.Scan(text)
		if err != nil {
			if string(mark) == "> " || wire[strings.LastIndexByte(wire, '/'):] == "/client" {
				t.Errorf("no message was sent: %s", text) // an agent may write what it likes
			}
			continue
		}
		if string(m.Method) == "initialize" {
			life++
		}
		if m.Kind != rpc.Notification {
			m.ID = rpc.RawID(fmt.Sprintf("%d/%s", life, m.ID))
		}
		if string(mark) == "> " {
			r.up = append(r.up, m)
		} else {
			r.down = append(r.down, m)
		}
	}
	return r
}

// results are the answers to the requests of a method among asked, as they are, in
// the order of the requests.
func results(asked, answered []rpc.Message, method string, which func(rpc.Message) bool) (all []string) {
	for _, q := range asked {
		if string(q.Method) != method || q.Kind != rpc.Request || which != nil && !which(q) {
			continue
		}
		i := slices.IndexFunc(answered, func(a rpc.Message) bool { return a.Kind == rpc.Response && a.ID == q.ID })
		if i >= 0 {
			all = append(all, string(answered[i].Result))
		}
	}
	return all
}

// params are those of the messages of a method.
func params(all []rpc.Message, method string, which func(rpc.Message) bool) (out []string) {
	for _, m := range all {
		if string(m.Method) == method && (which == nil || which(m)) {
			out = append(out, string(m.Params))
		}
	}
	return out
}

// whole and cutShort are how a run ended: what the agent said last may have found
// no client any more.
const (
	whole    = false
	cutShort = true
)

// checkWires validates what we authored, and compares what passed.
func (s *stage) checkWires(t *testing.T, cut bool) {
	t.Helper()
	client, agent := read(t, s.wires.client), read(t, s.wires.agent)
	rules := official(t)
	rules.checkAuthored(t, client)
	rules.checkAnswers(t, client, agent)
	rules.checkAdded(t, client, s.chosen)
	passed := func(what string, got, want []string) {
		t.Helper()
		for i := range got {
			got[i] = theirs(got[i])
		}
		for i := range want {
			want[i] = theirs(want[i])
		}
		if cut {
			want = want[:min(len(want), len(got))]
		}
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s that passed are\n%s\nand were sent as\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	got, want := params(client.down, "session/update", passes), params(agent.down, "session/update", passes)
	passed("updates", got, want[:max(len(want)-late(agent.down), min(len(got), len(want)))])
	passed("sessions", results(client.up, client.down, "session/new", nil), results(agent.up, agent.down, "session/new", nil))
	passed("prompts", prompts(client.up), prompts(agent.up))
	if loads := results(agent.up, agent.down, "session/load", nil); len(loads) > 0 {
		passed("loads", results(client.up, client.down, "session/load", nil), loads)
	}
	if set := results(client.up, client.down, "session/set_config_option", ofAgent); len(set) > 0 {
		all := results(agent.up, agent.down, "session/set_config_option", nil)
		passed("options", set, all[len(all)-len(set):]) // before them ours, which set its mode
	}
	passed("ends of turns", results(client.up, client.down, "session/prompt", toAgent), results(agent.up, agent.down, "session/prompt", nil))
	s.checkCards(t, client, agent)
}

// late is how many updates an agent sent behind its last answer: the client, which
// waits for answers only, may be gone by then.
func late(down []rpc.Message) (n int) {
	for _, m := range slices.Backward(down) {
		if m.Kind == rpc.Response {
			break
		}
		if string(m.Method) == "session/update" && passes(m) {
			n++
		}
	}
	return n
}

// ofAgent reports whether a set_config_option is about an option of the agent's own.
func ofAgent(m rpc.Message) bool {
	id, _ := rpc.Member(m.Params, "configId")
	return !strings.HasPrefix(string(id), `"sallyport.`)
}

// prompts are the texts of those for the agent: ours, which go before, are left out.
func prompts(up []rpc.Message) (all []string) {
	for _, m := range up {
		if string(m.Method) != "session/prompt" || !toAgent(m) {
			continue
		}
		prompt, _ := rpc.Member(m.Params, "prompt")
		at := max(0, bytes.LastIndex(prompt, []byte("script:")))
		all = append(all, string(prompt[at:]))
	}
	return all
}

// checkCards compares the permissions that passed, and the client's answers.
func (s *stage) checkCards(t *testing.T, client, agent recording) {
	t.Helper()
	sent := params(agent.down, "session/request_permission", nil)
	for i := range sent {
		sent[i] = nameless(sent[i])
	}
	answers := results(agent.down, agent.up, "session/request_permission", nil)
	given := results(client.down, client.up, "session/request_permission", passes)
	for i, card := range params(client.down, "session/request_permission", passes) {
		at := slices.Index(sent, nameless(card))
		if at < 0 {
			t.Errorf("the agent did not send this permission, or not here: %s", card)
			return
		}
		// An answer of ours instead: a cancel was faster than the client.
		if i < len(given) && at < len(answers) && given[i] != answers[at] && !marked([]byte(answers[at])) {
			t.Errorf("the client answered %s, and the agent got %s", given[i], answers[at])
		}
		sent, answers = sent[at+1:], answers[min(at+1, len(answers)):]
	}
}

var names = regexp.MustCompile(`"name":"(?:[^"\\]|\\.)*"`)

// nameless is a card without the names of its options, in which we say what a
// lasting answer keeps.
func nameless(card string) string {
	options, _ := rpc.Member([]byte(card), "options")
	return strings.Replace(card, string(options), names.ReplaceAllString(string(options), `"name":""`), 1)
}

// passes reports whether a message to the client is not ours.
func passes(m rpc.Message) bool { return authoredAs(m) == "" }

// toAgent reports whether a prompt is none of our own commands.
func toAgent(m rpc.Message) bool {
	prompt, _ := rpc.Member(m.Params, "prompt")
	return !bytes.Contains(prompt, []byte(`"text":"/`))
}
