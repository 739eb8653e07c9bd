package harness

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSplitLine: as a shell splits, and nothing is run or expanded: a stray
// pipe is an argument (C028).
func TestSplitLine(t *testing.T) {
	for _, tc := range []struct {
		goos, line string
		want       []string
		err        error
	}{
		{"linux", `goose acp`, []string{"goose", "acp"}, nil},
		{"linux", "  a\tb\n c ", []string{"a", "b", "c"}, nil},
		{"linux", `a | b`, []string{"a", "|", "b"}, nil},
		{"linux", `a && b; c > d # e`, []string{"a", "&&", "b;", "c", ">", "d", "#", "e"}, nil},
		{"linux", `a $HOME ~ * {b,c} $(d)`, []string{"a", "$HOME", "~", "*", "{b,c}", "$(d)"}, nil},
		{"linux", `a "b c" 'd "e"' f" "g`, []string{"a", "b c", `d "e"`, "f g"}, nil},
		{"linux", `a "" ''`, []string{"a", "", ""}, nil},
		{"linux", `a b\ c "d\"e\x" 'f\g'`, []string{"a", "b c", `d"e\x`, `f\g`}, nil},
		{"linux", "a \\\nb", []string{"a", "b"}, nil},
		{"linux", ``, nil, nil},
		{"linux", `a "b`, nil, errOpenQuote},
		{"linux", `a 'b`, nil, errOpenQuote},
		{"linux", `a \`, nil, errOpenEscape},
		{"linux", `é "ü ö"`, []string{"é", "ü ö"}, nil},
		{"linux", `a''b "" ''`, []string{"ab", "", ""}, nil},
		{"linux", `"a\"b" "\$x" "\x" 'a\b'`, []string{`a"b`, "$x", `\x`, `a\b`}, nil},
		{"linux", `a "b\"`, nil, errOpenQuote},
		{"linux", `'it''s' "ok`, nil, errOpenQuote},
		{"linux", `ab"c' d`, nil, errOpenQuote},
		{"windows", `C:\bin\agent.exe --dir "C:\My Files\x"`, []string{`C:\bin\agent.exe`, "--dir", `C:\My Files\x`}, nil},
		{"windows", `a \"b\" \\srv\c`, []string{"a", `"b"`, `\\srv\c`}, nil},
		{"windows", `a C:\`, []string{"a", `C:\`}, nil},
	} {
		got, err := SplitLine(tc.goos, tc.line)
		if err != tc.err || !slices.Equal(got, tc.want) {
			t.Errorf("SplitLine(%s, %q) = %q, %v, want %q, %v", tc.goos, tc.line, got, err, tc.want, tc.err)
		}
	}
}

func TestFromCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are Unix paths")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, tc := range []struct {
		name string
		c    Command
		want []string
		err  string
	}{
		{"line", Command{ID: "mine", Line: `my-agent --acp "a b" | cat`}, []string{"my-agent", "--acp", "a b", "|", "cat"}, ""},
		{"words", Command{ID: "mine", Args: []string{"my-agent", "a b"}}, []string{"my-agent", "a b"}, ""},
		{"absolute", Command{ID: "mine", Line: "/opt/agent x"}, []string{"/opt/agent", "x"}, ""},
		{"home", Command{ID: "mine", Line: "~/bin/agent"}, []string{filepath.Join(home, "bin/agent")}, ""},
		{"relative to a folder", Command{ID: "mine", Line: "./agent", Dir: "/work"}, []string{"/work/agent"}, ""},
		{"relative to nothing", Command{ID: "mine", Line: "./agent"}, nil, "is a relative path"},
		{"below nothing", Command{ID: "mine", Line: "bin/agent"}, nil, "is a relative path"},
		{"empty", Command{ID: "mine", Line: "  "}, nil, "empty command"},
		{"empty word", Command{ID: "mine", Line: `"" x`}, nil, "empty command"},
		{"open quote", Command{ID: "mine", Line: `a "b`}, nil, "a quote is not closed"},
		{"zero byte", Command{ID: "mine", Line: "a\x00b"}, nil, "zero byte"},
		{"id with a colon", Command{ID: "a:b", Line: "x"}, nil, "agent id"},
		{"no id", Command{Line: "x"}, nil, "agent id"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h, err := FromCommand(tc.c)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("error = %v, want %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(h.Program.Locate.Command, tc.want) || h.From.Origin != User || h.Global() != "user:mine" {
				t.Errorf("harness = %q, %s, %s, want %q", h.Program.Locate.Command, h.From.Origin, h.Global(), tc.want)
			}
			if h.ACP.FS || h.Name != "mine" || len(h.Caps.Modes) != 4 {
				t.Errorf("claims fs %v, name %q, modes %v", h.ACP.FS, h.Name, h.Caps.Modes)
			}
		})
	}
}

// TestCommandIsFound: a user's command line is looked up and started with its
// own arguments.
func TestCommandIsFound(t *testing.T) {
	h, err := FromCommand(Command{ID: "mine", Args: []string{"my-agent", "--acp"}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "my-agent")
	p, err := h.Find(onPath(map[string]string{"my-agent": path}))
	if err != nil || p.Path != path || !slices.Equal(p.Args, []string{"--acp"}) {
		t.Errorf("Find = %+v, %v", p, err)
	}
	if _, err := h.Find(onPath(nil)); !IsNotFound(err) || !strings.Contains(err.Error(), "my-agent") {
		t.Errorf("error = %v", err)
	}
	file := filepath.Join(t.TempDir(), "a b")
	if err := os.WriteFile(file, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if h, err = FromCommand(Command{ID: "mine", Args: []string{file, "x"}}); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		return // no PATHEXT ending
	}
	if p, err := h.Find(nil); err != nil || p.Path != file {
		t.Errorf("Find = %+v, %v", p, err)
	} else if got, want := p.String(), "'"+file+"' x"; got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
}

// TestCommandLike: a known agent at another place keeps its description, and
// the description of others is not touched.
func TestCommandLike(t *testing.T) {
	like := builtins(t)["gemini"]
	before := *like
	h, err := FromCommand(Command{ID: "gemini", Args: []string{"node", "gemini.js", "--acp"}, Like: like, Settings: Settings{
		Env: map[string]string{"A": "1", "GEMINI_CLI_NO_RELAUNCH": ""}, PassEnv: []string{"MINE"}, RemoveEnv: []string{"LANG"}}})
	if err != nil {
		t.Fatal(err)
	}
	if !h.HasQuirk(ReadsMissing) || !h.ACP.FS || h.Name != "Gemini CLI" || len(h.ACP.Switches.Modes) == 0 {
		t.Errorf("description was lost: %+v", h)
	}
	want := Environment{Env: map[string]string{"A": "1", "GEMINI_CLI_NO_RELAUNCH": ""}, RemoveEnv: []string{"LANG"}}
	if diff := cmp.Diff(want, h.ACP.Environment); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(h.Own.PassEnv, "MINE") || !slices.Contains(h.Own.PassEnv, "GEMINI_API_KEY") {
		t.Errorf("passEnv = %q", h.Own.PassEnv)
	}
	if diff := cmp.Diff(before, *like); diff != "" {
		t.Errorf("the built-in one changed:\n%s", diff)
	}
	if got, want := h.CommandLine(), "node gemini.js --acp"; got != want {
		t.Errorf("CommandLine() = %q, want %q", got, want)
	}
	var demo = builtins(t)["demo"]
	if h, err = FromCommand(Command{ID: "d", Line: "x", Like: demo}); err != nil || h.Own.Self {
		t.Errorf("a user's command is taken for ourselves: %v", err)
	}
}
