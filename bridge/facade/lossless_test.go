package facade_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

// What passes is what came: messages generated from the official schemas, in both
// directions, compared byte by byte and in their order.
func TestLossless(t *testing.T) {
	generated(t, 42, func(t *testing.T, g *generator) {
		g.fixed["sessionId"] = `"fake-1"`
		lossless(t, g)
	})
}

// generated runs a test with generators of the stable and the unstable schema.
func generated(t *testing.T, stream uint64, test func(*testing.T, *generator)) {
	for _, name := range []string{"schema.json", "schema.unstable.json"} {
		o := schema(t, name)
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s/%d", strings.TrimSuffix(name, ".json"), seed), func(t *testing.T) {
				test(t, &generator{official: o, Rand: rand.New(rand.NewPCG(seed, stream)), fixed: map[string]string{}})
			})
		}
	}
}

// passing is one message from the agent and how it is known again.
type passing struct{ method, params, id string }

func lossless(t *testing.T, g *generator) {
	var sent []passing
	var steps []string
	raw := func(line string) {
		line = strings.NewReplacer("\n", " ", "${", "$ {").Replace(line)
		steps = append(steps, `{"raw":`+quote(line+"\n")+`}`)
	}
	notification := func(method, params string) {
		params = strings.ReplaceAll(params, "${", "$ {")
		sent = append(sent, passing{method: method, params: params})
		raw(`{"jsonrpc":"2.0","method":` + quote(method) + `,"params":` + params + `}`)
	}
	for i := range 120 {
		switch g.IntN(6) {
		case 0:
			notification(fmt.Sprintf("_ext/%d", i), g.anything(true))
		case 1:
			params := strings.ReplaceAll(g.of("CreateElicitationRequest"), `"requestId"`, `"requestIdx"`)
			id := []string{fmt.Sprintf(`"s-%d"`, i), fmt.Sprint(1000 + i)}[g.IntN(2)]
			sent = append(sent, passing{"elicitation/create", params, id})
			raw(`{"jsonrpc":"2.0","id":` + id + `,"method":"elicitation/create","params":` + params + `}`)
		default:
			notification("session/update", `{"sessionId":"fake-1","update":`+g.of("SessionUpdate")+`,"n":`+fmt.Sprint(i)+`}`)
		}
	}
	const calls = 40
	results := make([]string, calls)
	var on []string
	for i := range results {
		results[i] = strings.ReplaceAll(g.anything(i%2 == 0), "${", "")
		on = append(on, fmt.Sprintf(`"_c/%d":{"answer":{"raw":%s}}`, i, quote(`{"jsonrpc":"2.0","id":${id},"result":`+results[i]+`}`+"\n")))
	}
	r := newRig(t, `{"on":{`+strings.Join(on, ",")+`},"prompts":[{"steps":[`+strings.Join(steps, ",")+`]}]}`)
	r.answers("elicitation/create", func(p jsontext.Value) string {
		if len(p)%3 == 0 {
			return `"error":{"code":-1,"message":"<no>","data":[1.0,null]}`
		}
		return `"result":{"action":"accept","content":{"n":1.50,"l":[]},"_meta":null}`
	})
	r.open()

	// The client's own, before the turn.
	var ids, asked []string
	for i := range results {
		params := g.object(map[string]string{"sessionId": `"fake-1"`, "v": g.anything(false)})
		asked = append(asked, params)
		ids = append(ids, r.ask(fmt.Sprintf("_c/%d", i), params))
	}
	for i, id := range ids {
		if got := r.result(id); got != results[i] {
			t.Errorf("answer %d: got %s, want %s", i, got, results[i])
		}
	}
	prompt := `{"prompt":[` + g.of("ContentBlock") + `,{"type":"text","text":"go"}],"_meta":` + g.anything(true) + `,"sessionId":"fake-1","q":` + g.number() + `}`
	r.result(r.ask("session/prompt", prompt))

	received := r.received()
	at := 0
	for i, want := range append(asked, prompt) {
		for ; at < len(received); at++ {
			m, err := rpc.Scan([]byte(received[at]))
			if err == nil && (string(m.Method) == fmt.Sprintf("_c/%d", i) || i == len(asked) && string(m.Method) == "session/prompt") {
				if string(m.Params) != want {
					t.Errorf("request %d: the agent got %s, want %s", i, m.Params, want)
				}
				break
			}
		}
		if at == len(received) {
			t.Fatalf("request %d did not come to the agent, or not in order", i)
		}
	}
	compare(t, r, sent)
}

// compare holds what came to the client against what the agent sent.
func compare(t *testing.T, r *rig, sent []passing) {
	t.Helper()
	r.mu.Lock()
	lines := append([]string(nil), r.lines...)
	r.mu.Unlock()
	at := 0
	for _, l := range lines {
		m, err := rpc.Scan([]byte(l))
		if err != nil || m.Kind == rpc.Response || ours(m) {
			continue
		}
		if at == len(sent) {
			t.Errorf("more than was sent: %s", l)
			return
		}
		want := sent[at]
		at++
		if string(m.Method) != want.method {
			t.Fatalf("message %d: got %s, want %s; order is lost", at, m.Method, want.method)
		}
		if got := string(m.Params); got != want.params && !strings.Contains(want.params, `"available_commands_update"`) {
			t.Errorf("%s: got\n%s\nwant\n%s", want.method, got, want.params)
		}
	}
	if at != len(sent) {
		t.Errorf("%d of %d messages came", at, len(sent))
	}
	for _, p := range sent {
		if p.id == "" {
			continue
		}
		want := `{"action":"accept","content":{"n":1.50,"l":[]},"_meta":null}`
		if len(p.params)%3 == 0 {
			want = `{"code":-1,"message":"<no>","data":[1.0,null]}`
		}
		if got := r.reply(p.id); got != want {
			t.Errorf("the agent's request %s was answered %s, want %s", p.id, got, want)
		}
	}
}

// ours reports whether a message is one that we author.
func ours(m rpc.Message) bool {
	update, _ := rpc.Member(m.Params, "update")
	meta, _ := rpc.Member(update, "_meta")
	_, marked := rpc.Member(meta, "sallyport")
	return marked
}
