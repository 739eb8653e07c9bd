package facade_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

// An agent's questions and a client's answers pass whole, too. A question reaches a
// person with the agent's own params, but for the names of lasting options; the
// answer goes back as it came, unless the client picked a lasting option or none
// that was offered. What cannot reach a person is answered here.
func TestLossless_Permissions(t *testing.T) { generated(t, 11, permissions) }

func permissions(t *testing.T, g *generator) {
	var all []*inquiry
	var steps []string
	for i := range 60 {
		q := g.inquiry(i)
		all = append(all, q)
		steps = append(steps, `{"raw":`+quote(`{"jsonrpc":"2.0","id":`+q.id+`,"method":"session/request_permission","params":`+q.params+"}\n")+`}`)
	}
	r := newRig(t, `{"prompts":[{"steps":[`+strings.Join(steps, ",")+`,{"request":{"method":"_settled","params":{}}}]}]}`)
	for _, q := range all { // as the agent says it
		q.params = strings.ReplaceAll(q.params, "${cwd}", r.folder)
	}
	var mu sync.Mutex
	asked := map[string]string{}
	r.answers("session/request_permission", func(params jsontext.Value) string {
		n, _ := rpc.Member(params, "n")
		i, err := strconv.Atoi(string(n))
		if err != nil || i >= len(all) {
			t.Errorf("a question of nobody's: %s", params)
			return `"result":null`
		}
		mu.Lock()
		defer mu.Unlock()
		asked[string(n)] = string(params)
		return all[i].answer
	})
	r.answers("_settled", func(jsontext.Value) string { return "" })
	turn := r.prompt(r.open(), "go")
	settled := r.find("_settled", func(m rpc.Message) bool { return string(m.Method) == "_settled" })
	for i, q := range all {
		got := r.reply(q.id)
		mu.Lock()
		params, reached := asked[strconv.Itoa(i)]
		mu.Unlock()
		if reached != (q.by == "") {
			t.Errorf("reached a person: %v, want it decided by %q: %s", reached, q.by, q.params)
		}
		if want := unnamed(q.params, q.plan); reached && unnamed(params, q.plan) != want {
			t.Errorf("the client was asked\n%s\nwant, but for the names of lasting options,\n%s", params, want)
		}
		if err := q.check(got); err != nil {
			t.Errorf("the agent got %s\nto %s\nwhich the client answered with %s: %v", got, q.params, q.answer, err)
		}
	}
	r.write1(`{"jsonrpc":"2.0","id":` + string(settled.ID) + `,"result":{}}`)
	if got := member(t, r.result(turn), "stopReason"); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
}

// inquiry is one question of the agent, and what becomes of it.
type inquiry struct {
	id, params string
	plan       bool // what the agent asks for is to leave a mode
	options    []offered
	by         string // who decides it before a person is asked: fence, policy, or a code of JSON-RPC; "": nobody
	answer     string // the client's, as the rest of a message
	picked     string // the option that it names
	odd        bool   // it names none, and does not say cancelled
}

type offered struct{ id, kind string }

// inquiry makes a question, most of them such as a person is asked.
func (g *generator) inquiry(n int) *inquiry {
	q := &inquiry{id: []string{strconv.Itoa(7000 + n), `"q-` + strconv.Itoa(n) + `"`, "90071992547409" + strconv.Itoa(100+n)}[g.IntN(3)]}
	call := map[string]string{"toolCallId": []string{quote("call-" + strconv.Itoa(n)), `""`}[g.IntN(2)], "path": `"${cwd}/a b.txt"`}
	call["kind"] = []string{`"read"`, `"edit"`, `"delete"`, `"move"`, `"search"`, `"execute"`, `"think"`, `"fetch"`, `"switch_mode"`, `"other"`, `"_custom"`, "null"}[g.IntN(12)]
	q.plan = call["kind"] == `"switch_mode"`
	var options []string
	for range g.IntN(5) {
		id := []string{`"once"`, `"no"`, `"w"`, g.text()}[g.IntN(4)]
		kind := []string{`"allow_once"`, `"allow_always"`, `"reject_once"`, `"reject_always"`, `"allow_once"`, `"reject_once"`, `"allow_session"`, `"_custom"`, "null", "7"}[g.IntN(10)]
		options = append(options, g.made("PermissionOption", map[string]string{"optionId": id, "kind": kind}))
		o := offered{}
		o.id, _ = rpc.Unquote([]byte(id))
		o.kind, _ = rpc.Unquote([]byte(kind)) // what is no text is no kind
		q.options = append(q.options, o)
	}
	if g.IntN(8) == 0 {
		options = append(options, []string{"null", "7", "[]", `"allow"`}[g.IntN(4)]) // no option at all
	}
	request := map[string]string{"sessionId": `"fake-1"`, "n": strconv.Itoa(n)}
	switch list := "[" + strings.Join(options, g.comma()) + "]"; {
	case n%10 == 3: // a change outside the region
		q.by, q.plan, call["kind"], call["locations"], request["options"] = "fence", false, `"edit"`, `[{"path":"/etc/x"}]`, list
	case n%10 == 6:
		q.by, request["options"] = "-32602", list
		if g.IntN(4) == 0 { // more than anybody could judge
			request["options"] = "[" + strings.Repeat(`{"optionId":"a","name":"A","kind":"allow_once"},`, 100) + "null]"
			break
		}
		request[[]string{"sessionId", "toolCall", "options"}[g.IntN(3)]] = []string{"null", "7", `"other"`}[g.IntN(3)]
	default:
		request["options"] = list
		if len(q.options) == 0 {
			q.by = "policy"
		}
	}
	if request["toolCall"] == "" {
		request["toolCall"] = g.made("ToolCallUpdate", call)
	}
	q.params = g.made("RequestPermissionRequest", request)
	g.answers(q)
	return q
}

// made is of with members that have these values, whether the schema knows them or not.
func (g *generator) made(def string, fixed map[string]string) string {
	before := g.fixed
	g.fixed = maps.Clone(before)
	maps.Copy(g.fixed, fixed)
	members := g.members(g.defs[def].(map[string]any), 0)
	g.fixed = before
	if nested := fixed["path"]; nested != "" {
		fixed = maps.Clone(fixed)
		delete(fixed, "path") // not of the object itself
	}
	maps.Copy(members, fixed)
	return g.object(members)
}

// answers makes the client's answer.
func (g *generator) answers(q *inquiry) {
	outcome := g.made("SelectedPermissionOutcome", map[string]string{"outcome": `"cancelled"`, "optionId": `"once"`})
	switch n := g.IntN(10); {
	case n == 0:
		q.answer, q.odd = `"error":{"code":-1,"message":"<no>","data":[1.0,null]}`, true
		return
	case n == 1:
		q.answer, q.odd = `"result":`+[]string{"null", "[]", "{}", `{"outcome":{}}`, `{"outcome":{"outcome":"selected"}}`, `{"outcome":{"outcome":"_x"}}`, `{"outcome":{"outcome":"selected","optionId":7}}`}[g.IntN(7)], true
		return
	case n == 2: // cancelled
	case n == 3 || len(q.options) == 0:
		q.picked = "nobody's"
	default:
		q.picked = q.options[g.IntN(len(q.options))].id
		q.odd = q.picked == ""
	}
	if q.picked != "" || q.odd {
		outcome = g.made("SelectedPermissionOutcome", map[string]string{"outcome": `"selected"`, "optionId": quote(q.picked)})
	}
	q.answer = `"result":` + g.made("RequestPermissionResponse", map[string]string{"outcome": outcome})
}

// unnamed is a question without what Sallyport may change in it: the names of
// lasting options, and of those that share an id with one.
func unnamed(params string, plan bool) string {
	list, _ := rpc.Member([]byte(params), "options")
	var items []jsontext.Value
	if err := rpc.Unmarshal(list, &items); err != nil || plan {
		return params
	}
	lasting := map[string]bool{}
	for _, item := range items {
		if kind := memberOf(item, "kind"); kind == "allow_always" || kind == "reject_always" {
			lasting[memberOf(item, "optionId")] = true
		}
	}
	if len(lasting) == 0 {
		return params
	}
	for i, item := range items {
		if id := memberOf(item, "optionId"); lasting[id] && item.Kind() == '{' {
			items[i], _ = rpc.SetMember(item, "name", []byte(`"?"`))
		}
	}
	out := "["
	for i, item := range items {
		if i > 0 {
			out += ","
		}
		out += string(item)
	}
	named, _ := rpc.SetMember([]byte(params), "options", []byte(out+"]"))
	return string(named)
}

// check holds the answer that the agent got against what is to come of it.
func (q *inquiry) check(got string) error {
	if strings.HasPrefix(q.by, "-") {
		if code, _ := rpc.Member([]byte(got), "code"); string(code) != q.by {
			return fmt.Errorf("want error %s", q.by)
		}
		return nil
	}
	option, by, raw := q.outcome()
	if raw {
		if want := strings.TrimPrefix(q.answer, `"result":`); got != want {
			return fmt.Errorf("want it as it came")
		}
		return nil
	}
	want := `{"outcome":"cancelled"}`
	if option != "" {
		want = `{"outcome":"selected","optionId":` + quote(option) + `}`
	}
	outcome, _ := rpc.Member([]byte(got), "outcome")
	meta, _ := rpc.Member([]byte(got), "_meta")
	ours, _ := rpc.Member(meta, "sallyport")
	if string(outcome) != want || memberOf(ours, "by") != by {
		return fmt.Errorf("want %s by %s", want, by)
	}
	return nil
}

// outcome is the option that the agent is to get ("": cancelled) and by whom it was
// settled; or raw: the client's own answer.
func (q *inquiry) outcome() (option, by string, raw bool) {
	refusal := q.once("reject_once")
	if refusal == "" {
		refusal = q.once("reject_always")
	}
	unanswered := refusal
	if q.plan {
		unanswered = ""
	}
	with := q.with(q.picked)
	lasting := func(o offered) bool { return o.kind == "allow_always" || o.kind == "reject_always" }
	switch {
	case q.by == "fence":
		return refusal, "fence", false
	case q.by == "policy":
		return "", "policy", false
	case q.odd:
		return unanswered, "policy", false
	case q.picked == "":
		return "", "", true
	case len(with) == 0:
		return refusal, "user", false
	case q.plan || !slices.ContainsFunc(with, lasting):
		return "", "", true
	case len(with) == 1 && with[0].kind == "allow_always" && q.count("allow_once") == 1:
		return q.once("allow_once"), "user", false
	default: // refused for good, or no way to allow it once
		return refusal, "user", false
	}
}

func (q *inquiry) with(id string) (all []offered) {
	for _, o := range q.options {
		if o.id == id {
			all = append(all, o)
		}
	}
	return all
}

// count is how many options of a kind can be told apart from all others, and once
// the first of them.
func (q *inquiry) count(kind string) (n int) {
	for _, o := range q.options {
		if o.kind == kind && o.id != "" && len(q.with(o.id)) == 1 {
			n++
		}
	}
	return n
}

func (q *inquiry) once(kind string) string {
	for _, o := range q.options {
		if o.kind == kind && o.id != "" && len(q.with(o.id)) == 1 {
			return o.id
		}
	}
	return ""
}
