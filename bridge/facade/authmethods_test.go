package facade_test

import (
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/facade"
	"sallyport/bridge/rpc"
)

// greeted is what a client gets of an agent's ways to sign in, as they are written.
func greeted(t *testing.T, methods string, change ...func(*rig)) string {
	t.Helper()
	answer := `{"jsonrpc":"2.0","id":${id},"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":` + methods + `,"z":[1.0]}}` + "\n"
	r := newRig(t, `{"on":{"initialize":{"answer":{"raw":`+quote(answer)+`}}}}`, append([]func(*rig){func(r *rig) {
		r.front.Self = []string{"/opt/sallyport", "acp", "--agent", "fake"}
	}}, change...)...)
	result := r.call("initialize", hello)
	if err := schema(t, "schema.json").check("InitializeResponse", result); err != nil {
		t.Errorf("the answer is none: %v\n%s", err, result)
	}
	if z, _ := rpc.Member([]byte(result), "z"); string(z) != "[1.0]" {
		t.Errorf("what is not known did not pass: %s", result)
	}
	got, _ := rpc.Member([]byte(result), "authMethods")
	return string(got)
}

const (
	marker = `"--sallyport-sign-in"`
	// own is our command line as terminal-auth has it.
	own = `"command":"/opt/sallyport","args":["acp","--agent","fake",` + marker + `,`
)

// TestAuthMethods: what a client runs to sign in comes back to us, with nothing of
// the agent's that acts on us; all else of a method stays as it is, in its order.
func TestAuthMethods(t *testing.T) {
	const agent = `{"id":"a","name":"A","_meta":{"api-key":{"provider":"x"},"n":1.0}},`
	for name, tt := range map[string]struct{ said, want string }{
		"not for a terminal":      {`{"type":"_own","id":"t","name":"T","vars":[{"name":"V"}],"args":7}`, `{"type":"_own","id":"t","name":"T","vars":[{"name":"V"}],"args":7}`},
		"variables":               {`{"type":"env_var","id":"t","name":"T","vars":[{"name":"SECRET"}]}`, `{"type":"env_var","id":"t","name":"T","vars":[{"name":"SECRET"}]}`},
		"arguments":               {`{"q":1.0,"type":"terminal","args":["--login","x y"],"id":"t","name":"T","_meta":null}`, `{"q":1.0,"type":"terminal","args":[` + marker + `,"--","--login","x y"],"id":"t","name":"T","_meta":null}`},
		"no arguments":            {`{"type":"terminal","id":"t","name":"T","args":null,"env":null}`, `{"type":"terminal","id":"t","name":"T","args":[` + marker + `,"--"],"env":{}}`},
		"none at all":             {`{"type":"terminal","id":"t","name":"T"}`, `{"type":"terminal","id":"t","name":"T","args":[` + marker + `,"--"]}`},
		"variables of ours":       {`{"type":"terminal","id":"t","name":"T","env":{"XDG_CONFIG_HOME":"/evil","A":"--"}}`, `{"type":"terminal","id":"t","name":"T","env":{},"args":[` + marker + `,"--env","A=--","--env","XDG_CONFIG_HOME=/evil","--"]}`},
		"words of ours":           {`{"type":"terminal","id":"t","name":"T","args":["--","sh",` + marker + `,"--program","/bin/sh"]}`, `{"type":"terminal","id":"t","name":"T","args":[` + marker + `,"--","--","sh",` + marker + `,"--program","/bin/sh"]}`},
		"escaped":                 {`{"\u0074ype":"termin\u0061l","id":"t","name":"T","\u0061rgs":["x"]}`, `{"\u0074ype":"termin\u0061l","id":"t","name":"T","\u0061rgs":[` + marker + `,"--","x"]}`},
		"before it was in ACP":    {`{"id":"t","name":"T","_meta":{"k":[null],"type":"terminal","args":["--auth-type=openai"]}}`, `{"id":"t","name":"T","_meta":{"k":[null],"type":"terminal","args":[` + marker + `,"--","--auth-type=openai"]}}`},
		"a command":               {`{"id":"t","name":"T","_meta":{"terminal-auth":{"label":"L","command":"node","args":["cli.js","/login"],"env":{"PATH":"/evil"},"q":1.0}}}`, `{"id":"t","name":"T","_meta":{"terminal-auth":{"label":"L",` + own + `"--program","node","--env","PATH=/evil","--","cli.js","/login"],"env":{},"q":1.0}}}`},
		"a command, and both":     {`{"type":"terminal","id":"t","name":"T","args":["in"],"_meta":{"terminal-auth":{"label":"L","command":"/bin/sh"}}}`, `{"type":"terminal","id":"t","name":"T","args":[` + marker + `,"--","in"],"_meta":{"terminal-auth":{"label":"L",` + own + `"--program","/bin/sh","--"]}}}`},
		"no command":              {`{"id":"t","name":"T","_meta":{"terminal-auth":{"label":"L","args":["x"]}}}`, `{"id":"t","name":"T","_meta":{"terminal-auth":null}}`},
		"a command that is odd":   {`{"id":"t","name":"T","_meta":{"terminal-auth":["sh"]}}`, `{"id":"t","name":"T","_meta":{"terminal-auth":null}}`},
		"another case":            {`{"type":"terminal","id":"t","name":"T","Args":["y"]}`, ``},
		"a type in another case":  {`{"TYPE":"terminal","id":"t","name":"T"}`, ``},
		"meta in another case":    {`{"id":"t","name":"T","_META":{"terminal-auth":{"command":"sh"}}}`, ``},
		"a command in other case": {`{"id":"t","name":"T","_meta":{"Terminal-Auth":{"command":"sh"}}}`, ``},
		"its parts in other case": {`{"id":"t","name":"T","_meta":{"terminal-auth":{"label":"L","command":"sh","ENV":{"A":"b"}}}}`, ``},
		"arguments that are none": {`{"type":"terminal","id":"t","name":"T","args":"--login"}`, ``},
		"one that is none":        {`{"type":"terminal","id":"t","name":"T","args":[1]}`, ``},
		"an end within":           {`{"type":"terminal","id":"t","name":"T","args":["a\u0000b"]}`, ``},
		"variables that are none": {`{"type":"terminal","id":"t","name":"T","env":[{"name":"A","value":"b"}]}`, ``},
		"a name with two parts":   {`{"type":"terminal","id":"t","name":"T","env":{"A=B":"c"}}`, ``},
		"a type that is none":     {`{"type":["terminal"],"id":"t","name":"T"}`, ``},
		"no method":               {`"terminal"`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			want := "[" + strings.TrimSuffix(agent+tt.want, ",") + "]"
			if diff := cmp.Diff(want, greeted(t, "["+agent+tt.said+"]")); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestAuthMethods_Odd: a list that some clients take for it is changed, too, and an
// answer that they read in different ways is none.
func TestAuthMethods_Odd(t *testing.T) {
	const method = `{"type":"terminal","id":"t","name":"T","args":["x"]}`
	answer := func(rest string) string {
		return `{"on":{"initialize":{"answer":{"raw":` + quote(`{"jsonrpc":"2.0","id":${id},"result":{"protocolVersion":1,`+rest+`}}`+"\n") + `}}}}`
	}
	r := newRig(t, answer(`"AuthMethods":[`+method+`]`))
	if got := r.call("initialize", hello); strings.Contains(got, `["x"]`) || !strings.Contains(got, marker) {
		t.Errorf("got %s", got)
	}
	for _, rest := range []string{`"authMethods":[` + method + `],"authMethods":[]`, `"authMethods":[{"type":"agent",` + method[1:] + `]`} {
		r := newRig(t, answer(rest))
		if m := r.answer(r.ask("initialize", hello)); m.Error == nil {
			t.Errorf("%s: got %s", rest, m.Result)
		}
	}
}

// TestAuthMethods_Read: the words that a client appends are read as they were meant,
// whatever the agent puts there.
func TestAuthMethods_Read(t *testing.T) {
	got := greeted(t, `[{"type":"terminal","id":"t","name":"T","args":["--env","X=1","--sallyport-sign-in","--"],"env":{"B":"","A":"=--agent"}}]`, func(r *rig) {
		r.front.Choices = func() []facade.Choice { return []facade.Choice{{ID: "fake", Name: "Fake"}} }
	})
	var methods []struct{ Args []string }
	if err := rpc.Unmarshal(jsontext.Value(strings.ReplaceAll(got, `"args"`, `"Args"`)), &methods); err != nil || len(methods) != 1 {
		t.Fatalf("got %s: %v", got, err)
	}
	if methods[0].Args[0] != bridge.SignInMarker {
		t.Fatalf("it begins with %q", methods[0].Args)
	}
	read, err := bridge.ReadSignIn(methods[0].Args[1:])
	want := bridge.SignIn{Agent: "fake", Env: []string{"A==--agent", "B="}, Args: []string{"--env", "X=1", "--sallyport-sign-in", "--"}}
	if diff := cmp.Diff(want, read, cmpopts.IgnoreFields(bridge.SignIn{}, "Started", "Terminal")); err != nil || diff != "" {
		t.Errorf("%v; -want +got\n%s", err, diff)
	}
}

// TestAuthMethods_InAnError: an error that asks for a sign-in may name the ways, too.
func TestAuthMethods_InAnError(t *testing.T) {
	const method = `{"type":"terminal","id":"t","name":"T","args":["in"]}`
	script := `{"on":{"session/new":{"answer":{"raw":` + quote(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32000,"message":"sign in","data":{"q":1.0,"authMethods":[`+method+`]}}}`+"\n") + `}}}}`
	for want, choices := range map[string]func() []facade.Choice{
		`{"q":1.0,"authMethods":[{"type":"terminal","id":"t","name":"T","args":[` + marker + `,"--","in"]}]}`: nil,
		`{"q":1.0,"authMethods":[]}`: func() []facade.Choice { return nil }, // it may be another agent's
	} {
		r := newRig(t, script, func(r *rig) { r.front.Choices = choices })
		r.call("initialize", hello)
		m := r.answer(r.ask("session/new", `{"cwd":`+quote(r.folder)+`,"mcpServers":[]}`))
		if data, _ := rpc.Member(m.Error, "data"); string(data) != want || !strings.Contains(string(m.Error), "-32000") {
			t.Errorf("got %s, want data %s", m.Error, want)
		}
	}
}

// TestAuthMethods_Variables: which of those that an agent asks for do not reach it is
// told; no more of them reaches it for that.
func TestAuthMethods_Variables(t *testing.T) {
	var log syncBuffer
	greeted(t, `[{"type":"env_var","id":"t","name":"T","vars":[{"name":"FAKE_KEY"},{"name":"HOME"}]}]`, func(r *rig) {
		r.front.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	if said := log.String(); !strings.Contains(said, "asks for the variable FAKE_KEY") || !strings.Contains(said, "agents.fake.passEnv") || strings.Contains(said, "HOME") {
		t.Errorf("told: %s", said)
	}
}

// syncBuffer is a log that is read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
