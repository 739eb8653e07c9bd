package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sallyport/bridge/decide"
	"sallyport/plugins/decider"
)

// TestMain makes this binary the decider team-rules.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"team-rules": main})
}

// TestDecisions plays the cases in the folder with the program itself.
func TestDecisions(t *testing.T) {
	m, err := decider.ReadManifest(".")
	if err != nil {
		t.Fatal(err)
	}
	m.Command = []string{"team-rules"} // of this binary
	start := &decide.Starter{Environ: os.Environ()}
	d := decider.Open(start.Program(m, nil))
	defer d.Close()
	if err := d.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	cases, err := decider.Cases(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		p, err := decider.Play(context.Background(), d, c)
		if err != nil {
			t.Fatal(err)
		}
		if p.Wrong != "" && p.Wrong != "no answer in time" { // the machine may be busy; the time is for the bench
			t.Errorf("%s: %s", c.Name, p.Wrong)
		}
	}
}

func TestWire(t *testing.T) {
	team, err := readTeam("rules.json")
	if err != nil {
		t.Fatal(err)
	}
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`,
		`no`,
		`{"jsonrpc":"2.0","method":"note"}`,
		`{"jsonrpc":"2.0","id":"x","method":"other"}`,
		`{"jsonrpc":"2.0","id":2,"method":"permissions/decide","params":7}`,
		`{"jsonrpc":"2.0","id":3,"method":"shutdown","params":{}}`,
		`{"jsonrpc":"2.0","id":4,"method":"initialize"}`,
	}, "\n") + "\n"
	want := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"capabilities":{}}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`,
		`{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"method not found"}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"decision":"ask"}}`,
		`{"jsonrpc":"2.0","id":3,"result":null}`,
	}, "\n") + "\n"
	var out bytes.Buffer
	if err := serve(strings.NewReader(in), &out, team); err != nil {
		t.Fatal(err)
	}
	got := strings.Replace(out.String(), `{"capabilities":{},"protocolVersion":1}`, `{"protocolVersion":1,"capabilities":{}}`, 1)
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestRulesThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"", "[]", `{"denied":["rm"]}`, `{"deny":[7]}`, `{"deny":[{"comand":"rm"}]}`, `{"deny":["rm\n"]}`, `{"allow":["a && b"]}`} {
		name := filepath.Join(t.TempDir(), "rules.json")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readTeam(name); err == nil {
			t.Errorf("%s: it is read", text)
		}
	}
	if _, err := readTeam("nowhere.json"); err == nil {
		t.Error("rules that are not there are read")
	}
}
