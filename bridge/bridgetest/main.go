package bridgetest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sallyport/bridge/fakeagent"
	_ "sallyport/bridge/process" // makes the test binary able to be the guard of a tree
)

// Main is TestMain for packages that run the scripted agent: started with
// "fake-agent", the test binary is that agent.
func Main(m *testing.M) {
	BeAgent()
	os.Exit(m.Run())
}

// BeAgent is Main's part for a TestMain that does more besides. It does not return
// where the test binary is the agent.
func BeAgent() {
	if len(os.Args) > 1 && os.Args[1] == "fake-agent" {
		os.Exit(fakeagent.Run(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
}

// Scripted is a scripted agent, ready to be started.
type Scripted struct {
	Command []string // the test binary, "fake-agent" and its arguments
	Log     string   // the file that gets every line that the agent receives
}

// Fake prepares an agent that does what script says, see package fakeagent.
// The package needs Main in its TestMain. A bad script fails the test.
func Fake(t testing.TB, script string) Scripted {
	t.Helper()
	if _, err := fakeagent.Parse("script.jsonc", []byte(script)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, log := filepath.Join(dir, "script.jsonc"), filepath.Join(dir, "received")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(fmt.Errorf("finding the test binary: %w", err))
	}
	return Scripted{Command: []string{self, "fake-agent", "--log", log, file}, Log: log}
}
