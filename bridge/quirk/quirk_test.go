package quirk

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestEveryFinding: the package comment says where each finding is dealt with.
func TestEveryFinding(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 19; n++ {
		if !strings.Contains(string(doc), "\n//  "+strconv.Itoa(n)+". ") {
			t.Errorf("finding %d is not in doc.go", n)
		}
	}
}

// TestFor: quirks come from the manifest's names and from the agent's own name,
// and a mended version has them no more.
func TestFor(t *testing.T) {
	s := For([]string{"mode-in-text", "x-future", ""}, "Custom", "1.0")
	if !s.Has(ModeText) || len(s) != 1 {
		t.Errorf("got %v, want the known name alone", s)
	}
	for _, version := range []string{"0.61.0", "9.0.0", ""} {
		if s := For(nil, "gemini-cli", version); !s.Has(MissingReadsEmpty) || s.Has(NoQueue) {
			t.Errorf("gemini-cli %s: got %v", version, s)
		}
	}
	if s := For(nil, "", ""); len(s) != 0 || s.Has(ModeText) {
		t.Errorf("unknown agent: got %v, want nothing", s)
	}
	var zero Set
	if zero.Has(ModeText) {
		t.Error("the zero set has a quirk")
	}
	for version, want := range map[string]bool{"1.2.2": true, "1.2.3": false, "1.2.10": false, "1.2": true, "1.10.0": false, "0.9.9": true, "": true, "x": true, "1.2.3-rc1": true} {
		if got := (Fact{Mended: "1.2.3"}).holds(version); got != want {
			t.Errorf("mended in 1.2.3: got %v for %q, want %v", got, version, want)
		}
	}
}

func TestModeFromText(t *testing.T) {
	for chunk, want := range map[string]string{
		"[MODE_UPDATE] autoEdit": "autoEdit", "[MODE_UPDATE] plan\n": "plan",
		"[MODE_UPDATE]": "", "[MODE_UPDATE] ": "", "": "", "plan": "",
		" [MODE_UPDATE] plan": "", "[MODE_UPDATE] is what gemini says": "",
	} {
		if got, ok := ModeFromText(chunk); got != want || ok != (want != "") {
			t.Errorf("%q: got %q %v, want %q", chunk, got, ok, want)
		}
	}
}

// TestLoosens: by agent, and for every mode that the recorded agents offer.
func TestLoosens(t *testing.T) {
	for _, tt := range []struct {
		agent, mode string
		want        bool
	}{
		{"claude", "acceptEdits", true}, {"claude", "bypassPermissions", true}, {"claude", "auto", true},
		{"claude", "default", false}, {"claude", "plan", true}, {"claude", "dontAsk", false},
		{"codex", "agent", true}, {"codex", "agent-full-access", true}, {"codex", "workspace-write", true}, {"codex", "read-only", false},
		{"codex-zed", "auto", true}, {"codex-zed", "full-access", true}, {"codex-zed", "read-only", false},
		{"gemini", "autoEdit", true}, {"gemini", "yolo", true}, {"gemini", "default", false}, {"gemini", "plan", false},
		{"qwen", "auto-edit", true}, {"qwen", "yolo", true}, {"qwen", "default", false}, {"qwen", "plan", false},
		{"opencode", "build", true}, {"opencode", "plan", false}, {"OpenCode", "build", true},
		{"goose", "auto", true}, {"goose", "smart_approve", true}, {"goose", "approve", false}, {"goose", "chat", false},
		{"custom", "yolo", true}, {"custom", "auto_edit", true}, {"custom", "full-access", true}, {"custom", "build", false}, {"custom", "ask", false},
		{"qwen-code", "yolo", true}, {"plugin:dev.x:gemini", "autoEdit", true}, {"", "", false},
	} {
		if got := Loosens(tt.agent, tt.mode); got != tt.want {
			t.Errorf("%s in %s: got %v, want %v", tt.agent, tt.mode, got, tt.want)
		}
	}
}

func TestTerminalOutput(t *testing.T) {
	for update, want := range map[string]string{
		`{"_meta":{"terminal_output_delta":{"data":"a\n","terminal_id":"x"}}}`: "a\n",
		`{"_meta":{"terminal_exit":{"exit_code":0}}}`:                          "",
		`{"_meta":{"terminal_output_delta":{"data":7}}}`:                       "",
		`{"_meta":null}`: "", `{}`: "", `null`: "", ``: "",
	} {
		if got, _ := TerminalOutput(jsontext.Value(update)); got != want {
			t.Errorf("%s: got %q, want %q", update, got, want)
		}
	}
}
