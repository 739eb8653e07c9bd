package bridge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sallyport/bridge"
	"sallyport/bridge/permit"
)

// call is a tool call that was carried out.
func call(kind, input string) string {
	return fmt.Sprintf(`{"toolCall": {"toolCallId": "c", "title": "x", "kind": %q, "status": "in_progress", "rawInput": %s}},
	  {"toolUpdate": {"toolCallId": "c", "status": "completed"}}`, kind, input)
}

// TestTaint: what comes in from where nobody vouches for it marks the session; a
// command is asked about then in every mode and whatever a rule allows, until the
// user clears the mark. The receipt has the source.
func TestTaint(t *testing.T) {
	for _, tt := range []struct{ name, steps, kind, source string }{
		{"a page", call("fetch", `{"url": "https://docs.example/page?key=s3cret"}`), "fetch", "docs.example"},
		{"an MCP tool", call("other", `{"server": "db", "tool": "query"}`), "mcp", "db"},
		{"a file outside, by its own tool", call("read", `{"path": "/etc/hosts"}`), "outside", "/etc/hosts"},
		{"a file outside, through us", `{"read": {"path": "${cwd}/../out.txt"}}`, "outside", "${out}"},
		{"a file that the user marked", call("read", `{"path": "${cwd}/vendor/x.md"}`), "marked", "${vendor}"},
		{"a page left open", `{"toolCall": {"toolCallId": "c", "title": "x", "kind": "fetch", "status": "in_progress", "rawInput": {"url": "https://docs.example/"}}}`, "fetch", "docs.example"},
		{"a file inside", call("read", `{"path": "${cwd}/a.txt"}`), "", ""},
		{"a page that failed", `{"toolCall": {"toolCallId": "c", "title": "x", "kind": "fetch", "status": "failed", "rawInput": {"url": "https://docs.example/"}}}`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, `{"prompts": [{"match": "in", "steps": [`+tt.steps+`]}, {"match": "run", "steps": [`+asks+`]}]}`, keeping, bypass)
			r.config.Permissions.Allow = []string{"Bash"}
			r.config.Untrusted = []string{"vendor/**"}
			r.write("a.txt", "x\n")
			r.write("../out.txt", "x\n")
			r.display.answer = reject
			source := strings.NewReplacer("${out}", filepath.Join(filepath.Dir(real(t, r.folder)), "out.txt"), "${vendor}", filepath.Join(real(t, r.folder), "vendor", "x.md")).Replace(tt.source)
			info := r.open()
			in, err := r.prompt(info.ID, "in")
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if tt.kind != "" {
				want = tt.kind + " " + source
			}
			taint := r.receiptOf(in.Turn).Taint
			got := ""
			for _, m := range taint {
				got += m.Kind + " " + m.Source
			}
			if got != want {
				t.Errorf("the receipt has the taint %q, want %q", got, want)
			}
			if notices := r.display.noticed(bridge.NoticeTaint); len(notices) != len(taint) {
				t.Errorf("told %+v, want once where it is marked", notices)
			}
			if now, _ := r.Info(info.ID); len(now.Taint) != len(taint) {
				t.Errorf("the session shows %+v", now.Taint)
			}
			run := func() string {
				before := len(r.said())
				if _, err := r.prompt(info.ID, "run"); err != nil {
					t.Fatal(err)
				}
				return r.said()[before:]
			}
			if tt.kind == "" {
				if said := run(); said != "allowed" {
					t.Errorf("unmarked, the command was %s", said)
				}
				return
			}
			if said := run(); said != "rejected" {
				t.Errorf("marked, the command was %s", said)
			}
			if c := await(t, "the card", r.display.asked); !strings.Contains(c.Reason, source) {
				t.Errorf("asked for the reason %q", c.Reason)
			}
			if _, err := r.ClearTaint(r.ctx(), info.ID); err != nil {
				t.Fatal(err)
			}
			if said := run(); said != "allowed" {
				t.Errorf("cleared, the command was %s", said)
			}
		})
	}
}

// real is a folder with every link followed.
func real(t *testing.T, folder string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(folder)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTaintedReadsOutsideAreAsked also through fs/read_text_file; those inside go
// on, and so do edits inside.
func TestTaintedReadsOutsideAreAsked(t *testing.T) {
	r := newRig(t, `{"prompts": [{"steps": [`+call("fetch", `{"url": "https://docs.example/"}`)+`,
	  {"read": {"path": "${cwd}/a.txt", "as": "a"}}, {"write": {"path": "${cwd}/b.txt", "text": "b", "as": "w"}},
	  {"read": {"path": "${cwd}/../out.txt", "as": "b"}}, {"read": {"path": "${cwd}/.git/config", "as": "c"}},
	  {"say": "${a}|${w.error}|${b}|${b.error}|${c}|${c.error}"}]}]}`, bypass)
	r.write("a.txt", "in")
	r.write("../out.txt", "out")
	r.write(".git/config", "git")
	r.display.answer = reject
	r.turn("go")
	refused := "Refused by the user through Sallyport"
	if got, want := r.said(), "in||"+"|"+refused+"||"+refused; got != want {
		t.Errorf("the agent got %q, want %q", got, want)
	}
	if n := len(r.display.asked); n != 2 || r.disk("b.txt") != "b" {
		t.Errorf("asked %d times, want 2; b is %q", n, r.disk("b.txt"))
	}
}

// TestTaintOfARefusedFetch: what was refused brought nothing in.
func TestTaintOfARefusedFetch(t *testing.T) {
	ask := `{"ask": {"toolCall": {"toolCallId": "f", "kind": "fetch", "title": "x", "rawInput": {"url": "https://a.example/"}}}}`
	r := newRig(t, `{"prompts": [{"steps": [`+ask+`]}, {"steps": [`+ask+`]}]}`)
	r.display.answer = reject
	info := r.turn("go")
	if now, _ := r.Info(info.ID); len(now.Taint) != 0 {
		t.Errorf("refused, the session is marked with %+v", now.Taint)
	}
	r.display.answer = allow
	if _, err := r.prompt(info.ID, "again"); err != nil {
		t.Fatal(err)
	}
	if now, _ := r.Info(info.ID); len(now.Taint) != 1 || now.Taint[0].Kind != permit.MarkFetch {
		t.Errorf("allowed, the session is marked with %+v", now.Taint)
	}
	if other := r.open(); len(other.Taint) != 0 {
		t.Errorf("a new session begins with %+v", other.Taint)
	}
}

// TestTaintOfHistory: a conversation that is loaded brings its content along.
func TestTaintOfHistory(t *testing.T) {
	r := newRig(t, `{"capabilities": {"loadSession": true}, "on": {"session/load": {"before": [`+call("fetch", `{"url": "https://a.example/"}`)+`]}}}`)
	info, err := r.Load(r.ctx(), bridge.LoadSession{ID: "old", Folder: r.folder, Replays: true})
	if err != nil {
		t.Fatal(err)
	}
	if now, _ := r.Info(info.ID); len(now.Taint) != 1 || now.Taint[0].Source != "a.example" {
		t.Errorf("the session is marked with %+v", now.Taint)
	}
}

// TestUntrusted: which names a pattern of the user's means.
func TestUntrusted(t *testing.T) {
	folder := real(t, t.TempDir())
	if err := os.Symlink(filepath.Join(folder, "vendor"), filepath.Join(folder, "link")); err != nil {
		t.Skipf("this system lets us make no link: %v", err)
	}
	if err := os.Mkdir(filepath.Join(folder, "vendor"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"vendor/**", folder + "/vendor/a/b", true},
		{"vendor", folder + "/vendor/a/b", true},
		{"vendor/**", folder + "/link/a", true},
		{"./vendor/*.md", folder + "/vendor/x.md", true},
		{"vendor/**", folder + "/vendored", false},
		{"*.log", folder + "/a/b.log", true},
		{"*.log", folder + "/a/b.txt", false},
		{folder + "/x/**", folder + "/x/y", true},
		{"https://*.example.com/**", "https://a.example.com/x?y=1", true},
		{"https://*.example.com/**", "https://A.example.com/x", true},
		{"https://*.example.com/**", "https://example.org/x", false},
		{"https://a.example/x", "https://a.example/x/y", true},
		{"**", "https://a.example/x", false},
		{"[", folder + "/a", false},
	} {
		if got := bridge.Untrusted([]string{tt.pattern}, folder)(tt.name); got != tt.want {
			t.Errorf("%q and %s: got %v, want %v", tt.pattern, tt.name, got, tt.want)
		}
	}
}
