package permit

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

func raw(s string) jsontext.Value { return jsontext.Value(s) }

// TestK3_UpdatesBeforeTheCall: updates for an id that was never announced
// invent nothing and cost no memory; once it is announced it works.
func TestK3_UpdatesBeforeTheCall(t *testing.T) {
	var calls Calls
	for i := range 1000 {
		for _, id := range []string{"nope", fmt.Sprint("nope", i)} {
			if calls.Merge("tool_call_update", raw(`{"toolCallId":"`+id+`","status":"failed"}`)) {
				t.Fatalf("an update made the call %s known", id)
			}
		}
	}
	if len(calls.open) != 0 || calls.bytes != 0 || len(calls.Open()) != 0 {
		t.Fatalf("got %d calls of %d bytes, want none", len(calls.open), calls.bytes)
	}
	if !calls.Merge("tool_call", raw(`{"toolCallId":"nope","kind":"edit","status":"pending"}`)) {
		t.Fatal("the announced call is not known")
	}
	if !calls.Merge("tool_call_update", raw(`{"toolCallId":"nope","status":"in_progress"}`)) {
		t.Fatal("the update of the announced call is not known")
	}
	if open := calls.Open(); len(open) != 1 || open[0].Status != "in_progress" || open[0].Kind != "edit" {
		t.Errorf("got %+v, want one call in progress", open)
	}
}

// TestMerge: later words replace earlier ones; null and absent say nothing,
// empty replaces.
func TestMerge(t *testing.T) {
	const diff = `[{"type":"diff","path":"/p/a","oldText":null,"newText":"x"}]`
	for _, tt := range []struct {
		name    string
		first   string
		then    string // of the permission request
		want    Call
		content bool
	}{
		{"request alone", ``, `{"toolCallId":"c","kind":"edit","title":"T","locations":[{"path":"/p/a"}],"content":` + diff + `}`,
			Call{ID: "c", Kind: "edit", Title: "T", Locations: []string{"/p/a"}}, true},
		{"diff only before (codex-acp)", `{"toolCallId":"c","kind":"edit","content":` + diff + `}`, `{"toolCallId":"c","title":"Edit files","locations":[{"path":"/p/a"}],"status":"pending"}`,
			Call{ID: "c", Kind: "edit", Title: "Edit files", Status: "pending", Locations: []string{"/p/a"}}, true},
		{"null says nothing", `{"toolCallId":"c","kind":"edit","title":"T","locations":[{"path":"/p/a"}],"content":` + diff + `}`,
			`{"toolCallId":"c","kind":null,"title":null,"status":null,"locations":null,"content":null,"rawInput":null}`,
			Call{ID: "c", Kind: "edit", Title: "T", Locations: []string{"/p/a"}}, true},
		{"empty replaces", `{"toolCallId":"c","kind":"edit","title":"T","locations":[{"path":"/p/a"}],"content":` + diff + `}`,
			`{"toolCallId":"c","title":"","locations":[],"content":[]}`, Call{ID: "c", Kind: "edit"}, false},
		{"unknown kinds stay", `{"toolCallId":"c","kind":"x_tool","status":"x_new","x":1}`, `{"toolCallId":"c"}`, Call{ID: "c", Kind: "x_tool", Status: "x_new"}, false},
		{"other takes no kind back (opencode)", `{"toolCallId":"c","kind":"edit"}`, `{"toolCallId":"c","kind":"other"}`, Call{ID: "c", Kind: "edit"}, false},
		{"vibe's name", `{"toolCallId":"c","_meta":{"tool_name":"bash"}}`, `{"toolCallId":"c"}`, Call{ID: "c", ToolName: "bash"}, false},
		{"claude's name", `{"toolCallId":"c","_meta":{"claudeCode":{"toolName":"Write"}}}`, `{"toolCallId":"c"}`, Call{ID: "c", ToolName: "Write"}, false},
		{"goose's name", `{"toolCallId":"c","_meta":{"goose":{"toolCall":{"toolName":"shell"}}}}`, `{"toolCallId":"c"}`, Call{ID: "c", ToolName: "shell"}, false},
		{"qwen's name", `{"toolCallId":"c","_meta":{"toolName":"write_file","timestamp":1}}`, `{"toolCallId":"c"}`, Call{ID: "c", ToolName: "write_file"}, false},
		{"codex-acp's name", `{"toolCallId":"c","name":"exec_command","_meta":{"terminal_info":{"cwd":"/p"}}}`, `{"toolCallId":"c"}`, Call{ID: "c", ToolName: "exec_command"}, false},
		{"escaped id", `{"toolCallId":"\u0063","kind":"read"}`, `{"toolCallId":"c"}`, Call{ID: "c", Kind: "read"}, false},
		{"a text that looks like its escape", `{"toolCallId":"c","title":"a\\n"}`, `{"toolCallId":"c","title":"a\n"}`, Call{ID: "c", Title: "a\n"}, false},
		{"wrong types say nothing", `{"toolCallId":"c","title":"T"}`, `{"toolCallId":"c","kind":7,"locations":{"path":"/x"},"content":"diff"}`, Call{ID: "c", Title: "T"}, false},
		{"no id", ``, `{"kind":"edit"}`, Call{Kind: "edit"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls Calls
			if tt.first != "" && !calls.Merge("tool_call", raw(tt.first)) {
				t.Fatal("the call is not known")
			}
			got, err := calls.Request(raw(tt.then))
			if err != nil {
				t.Fatal(err)
			}
			if (len(got.Diffs()) == 1) != tt.content {
				t.Errorf("got the diffs %+v, want one: %v", got.Diffs(), tt.content)
			}
			got.Content, got.Input = nil, nil
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestEndedCallsAreForgotten: a final status ends a call, and what is open when
// the turn ends is listed, oldest first.
func TestEndedCallsAreForgotten(t *testing.T) {
	var calls Calls
	for _, id := range []string{"1", "2", "3", "4"} {
		calls.Merge("tool_call", raw(`{"toolCallId":"`+id+`","rawInput":{"command":"x"}}`))
	}
	calls.Merge("tool_call_update", raw(`{"toolCallId":"2","status":"completed"}`))
	calls.Merge("tool_call_update", raw(`{"toolCallId":"3","status":"failed"}`))
	calls.Merge("agent_message_chunk", raw(`{"toolCallId":"5"}`))
	var ids []string
	for _, c := range calls.Open() {
		ids = append(ids, c.ID)
	}
	if !slices.Equal(ids, []string{"1", "4"}) {
		t.Errorf("got the open calls %q, want 1 and 4", ids)
	}
	calls.Clear()
	if len(calls.Open()) != 0 || calls.bytes != 0 {
		t.Error("calls are left after Clear")
	}
}

// TestBoundedMemory: whatever is announced, the table keeps its bounds; the
// oldest diffs go first, and no path is lost with them.
func TestBoundedMemory(t *testing.T) {
	var calls Calls
	big := strings.Repeat("x", 1<<20)
	for i := range 12 {
		calls.Merge("tool_call", raw(fmt.Sprintf(`{"toolCallId":"%d","kind":"edit","content":[{"type":"diff","path":"/p/%d","newText":"%s"}],"rawInput":{"path":"/p/in%d"}}`, i, i, big, i)))
	}
	check(t, &calls)
	first, err := calls.Request(raw(`{"toolCallId":"0"}`))
	if err != nil || len(first.Diffs()) != 0 || !slices.Equal(first.Paths(), []string{"/p/0", "/p/in0"}) {
		t.Errorf("the oldest: got diffs %d and paths %q, want its paths alone", len(first.Diffs()), first.Paths())
	}
	last, err := calls.Request(raw(`{"toolCallId":"11"}`))
	if err != nil || len(last.Diffs()) != 1 || len(last.Diffs()[0].New) != len(big) {
		t.Errorf("the youngest lost its diff (%v)", err)
	}
	for i := range 3 * MaxOpenCalls {
		calls.Merge("tool_call", raw(fmt.Sprintf(`{"toolCallId":"n%d"}`, i)))
	}
	check(t, &calls)
	calls.Merge("tool_call", raw(`{"toolCallId":"t","title":"`+strings.Repeat("x", MaxCallBytes+1)+`"}`))
	check(t, &calls)
	if c, err := calls.Request(raw(`{"toolCallId":"t2","kind":"edit","rawInput":{"path":"/p/x","content":"` + strings.Repeat("x", MaxCallBytes+1) + `"}}`)); err != nil || !slices.Equal(c.Paths(), []string{"/p/x"}) {
		t.Errorf("a huge request: got %q (%v), want its path", c.Paths(), err)
	}
	check(t, &calls)
}

func check(t *testing.T, calls *Calls) {
	t.Helper()
	sum := 0
	for _, e := range calls.open {
		sum += e.weigh()
	}
	if sum != calls.bytes || sum > MaxCallBytes || len(calls.open) > MaxOpenCalls {
		t.Fatalf("got %d calls of %d bytes, counted as %d", len(calls.open), sum, calls.bytes)
	}
}

// TestMergeSharesNothing: raw is borrowed, and a card keeps its own copy.
func TestMergeSharesNothing(t *testing.T) {
	var calls Calls
	line := []byte(`{"toolCallId":"c","title":"T","content":[{"type":"diff","path":"/p/a","newText":"x"}],"rawInput":{"a":"b"}}`)
	calls.Merge("tool_call", line)
	for i := range line {
		line[i] = '!'
	}
	c, _ := calls.Request(raw(`{"toolCallId":"c"}`))
	calls.Merge("tool_call_update", raw(`{"toolCallId":"c","content":[{"type":"diff","path":"/p/b","newText":"y"}],"rawInput":{"c":"d"}}`))
	if got := fmt.Sprintf("%s %s %v %s", c.ID, c.Title, c.Diffs(), c.Input); got != `c T [{/p/a <nil> x}] {"a":"b"}` {
		t.Errorf("got %s", got)
	}
}

// TestConcurrentMerges is for the race detector.
func TestConcurrentMerges(t *testing.T) {
	var calls Calls
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 100 {
				id := fmt.Sprint(i % 7)
				calls.Merge("tool_call", raw(`{"toolCallId":"`+id+`","title":"T"}`))
				_, _ = calls.Request(raw(`{"toolCallId":"` + id + `"}`))
				calls.Open()
				calls.Merge("tool_call_update", raw(`{"toolCallId":"`+id+`","status":"completed"}`))
			}
		})
	}
	wg.Wait()
}

// TestMergeAllocations: a 51 KB diff update costs no allocation that grows.
func TestMergeAllocations(t *testing.T) {
	var calls Calls
	calls.Merge("tool_call", raw(`{"toolCallId":"c","kind":"edit"}`))
	update := diffUpdate("c")
	calls.Merge("tool_call_update", update)
	if n := testing.AllocsPerRun(100, func() { calls.Merge("tool_call_update", update) }); n > 4 {
		t.Errorf("got %v allocations an update, want at most 4", n)
	}
	unknown := diffUpdate("nope")
	if n := testing.AllocsPerRun(100, func() { calls.Merge("tool_call_update", unknown) }); n > 4 {
		t.Errorf("unknown id: got %v allocations an update, want at most 4", n)
	}
}

func diffUpdate(id string) jsontext.Value {
	text := string(rpc.AppendQuote(nil, strings.Repeat("a line of text\n", 1700)))
	return raw(`{"sessionUpdate":"tool_call_update","toolCallId":"` + id + `","status":"in_progress","content":[{"type":"diff","path":"/p/a","oldText":` + text + `,"newText":` + text + `}]}`)
}

func BenchmarkMergeDiff(b *testing.B) {
	var calls Calls
	calls.Merge("tool_call", raw(`{"toolCallId":"c","kind":"edit"}`))
	update := diffUpdate("c")
	b.SetBytes(int64(len(update)))
	b.ReportAllocs()
	for b.Loop() {
		calls.Merge("tool_call_update", update)
	}
}

// TestEachElement agrees with a slow and obvious reader.
func FuzzEachElement(f *testing.F) {
	for _, s := range []string{`[]`, ` [ 1 , "a,]\"" , [2,[3]] , {"x":[4]} , null ] `, `["\\"]`, `{}`, `7`, `[[]]`, `[true,false]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got []string
		EachElement([]byte(s), func(e []byte) { got = append(got, string(e)) }) // must not panic on anything
		v := jsontext.Value(s)
		if !v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
			return
		}
		var want []string
		if v.Kind() == '[' {
			d := jsontext.NewDecoder(strings.NewReader(s), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
			if _, err := d.ReadToken(); err != nil {
				t.Fatal(err)
			}
			for d.PeekKind() != ']' {
				e, err := d.ReadValue()
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, string(e))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	})
}
