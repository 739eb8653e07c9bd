package receipt

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files of this package anew")

// many is a turn of much: no list of it fits on a screen.
func many() *Receipt {
	r := sample("20261130-230000-4f2a")
	r.Did.Changes = List[Change]{Total: 900}
	for i := range 60 {
		by := []Attribution{ByMediated, ByDeclared, BySilent, ByUser, ByUnsure}[i%5]
		kind := []string{Added, Modified, Deleted, ModeChanged, TypeChanged, Unknown}[i%6]
		before, after := State{"file", "0644", sum([]byte{byte(i)})}, State{"file", "0755", sum([]byte{byte(i), 1})}
		switch kind {
		case Added:
			before = State{Kind: "absent"}
		case Deleted:
			after = State{Kind: "absent"}
		case ModeChanged:
			after.Hash = before.Hash
		case TypeChanged:
			after = State{Kind: "link", Hash: after.Hash}
		case Unknown:
			before = State{Kind: "left out"}
		default:
		}
		r.Did.Changes.List = append(r.Did.Changes.List, Change{project, fmt.Sprintf("internal/service/handlers/a_rather_long_name_of_a_file_%02d.go", i), kind, by, before, after, i%7 == 0})
	}
	for i := range 30 {
		r.Did.Permissions.Add(Permission{Asked{Tool: "Bash", Kind: "command", Target: fmt.Sprintf("go test -count=%d -run 'TestOfSomethingWithALongName' ./internal/...", i)},
			Settled{Outcome: "allowed", By: "mode", Name: "acceptEdits", Why: "mode acceptEdits"}}, 10)
		r.Did.Refusals.Add(Refusal{"region", "write", fmt.Sprintf("/etc/x%d", i), "it is outside the region", november}, 5)
		r.Cover.Skipped.Add(Skipped{project, fmt.Sprintf("data/%d.bin", i), "too large"}, 20)
	}
	for i := range 10 {
		r.Verifier = append(r.Verifier, Verdict{Name: fmt.Sprint("check", i), Outcome: Passed, Seconds: 1})
	}
	return r
}

// evil is what a hostile agent, or a hand in the state folder, makes of every text.
func evil(s string) *Receipt {
	r := sample(s)
	r.Session, r.Of, r.Folder, r.Roots = s, s, s, []string{s}
	r.Agent = &Agent{s, s, s, s}
	r.Held = Held{Posture: Posture{s, s, s, s}, Changes: []PostureChange{{Posture{s, s, s, s}, november}}, Mode: s, Policy: s}
	r.Cover = Cover{None: s, Skipped: ListOf([]Skipped{{s, s, s}})}
	r.Did = Did{
		ListOf([]Permission{{Asked{s, s, s, s}, Settled{s, s, s, s, s, s, s, -1 << 62, november}}}), ListOf([]Access{{Kind: s, Path: s}}), ListOf([]Refusal{{s, s, s, s, november}}),
		ListOf([]Change{{s, s, s, Attribution(s), State{s, s, s}, State{s, s, s}, true}, {s, s, ModeChanged, ByUser, State{s, s, s}, State{s, s, s}, true}}),
		ListOf([]Alarm{{s, november}}),
	}
	r.Outcome = Outcome{[]Taint{{s, s, november}}, []Verdict{{Name: s, Outcome: s, Why: s, Output: s}}, nil, End{s, s, s, true}}
	return r
}

func TestPrint(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the golden files have slashes")
	}
	least := &Receipt{Head: Head{Kind: Turn, Turn: "t1", Agent: &Agent{ID: "gemini"}}, Where: Where{Folder: project}, When: When{november, november.Add(time.Second)}, Cover: Cover{Before: "c1", After: "c1"}}
	uncovered := &Receipt{Head: least.Head, Where: least.Where, When: least.When, Cover: Cover{None: "the disk is full"}}
	undo := sample("u1")
	undo.Head = Head{Kind: Undo, Turn: "u1", Of: "t1"}
	undo.Held, undo.Outcome, undo.Did.Permissions, undo.Did.Alarms, undo.Did.Refusals = Held{}, Outcome{}, List[Permission]{}, List[Alarm]{}, List[Refusal]{}
	broken := sample("t1")
	broken.Cover = Cover{None: "the folder is your home folder: set checkpoint.wide if it is a project"}
	broken.End = End{Interrupted: true, Error: "the agent ended: exit status 1"}
	broken.Tokens = nil
	tests := []struct {
		name string
		r    *Receipt
		o    PrintOptions
	}{
		{"sample", sample("t1"), PrintOptions{}},
		{"sample-colour", sample("t1"), PrintOptions{Colour: true, Zone: time.FixedZone("KST", 9*3600)}},
		{"sample-narrow", sample("t1"), PrintOptions{Width: 50}},
		{"least", least, PrintOptions{}},
		{"uncovered", uncovered, PrintOptions{}},
		{"undo", undo, PrintOptions{}},
		{"broken", broken, PrintOptions{}},
		{"many-80x24", many(), PrintOptions{Width: 80, Height: 24}},
		{"many-120x40", many(), PrintOptions{Width: 120, Height: 40}},
		{"evil", evil("\x1b[2J\u202egood\r\n\x07\xff"), PrintOptions{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if err := tt.r.Print(&b, tt.o); err != nil {
				t.Fatal(err)
			}
			got := b.String()
			golden := filepath.Join("testdata", tt.name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			fits(t, got, tt.o)
			if tt.o.Height > 0 && strings.Count(got, "\n") > tt.o.Height {
				t.Errorf("%d rows, want at most %d", strings.Count(got, "\n"), tt.o.Height)
			}
		})
	}
}

// fits checks that a screen is within its width, and holds nothing that a terminal obeys but our colours.
func fits(t testing.TB, screen string, o PrintOptions) {
	t.Helper()
	if o.Colour {
		for _, style := range []string{bold, dim, red, green, yellow, reset} {
			screen = strings.ReplaceAll(screen, style, "")
		}
	}
	most := o.Width
	if most == 0 {
		most = 80
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(screen, "\n"), "\n") {
		if visible(line) != line {
			t.Errorf("the line %q has something that a terminal obeys", line)
		}
		if n := columns(line); n > max(most, 40) {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// Any text in any place, any number, any size of the screen.
func FuzzPrint(f *testing.F) {
	f.Add("\x1b[2J\u202egood\r\n\x07\xff", int64(3), 80, 24, true)
	f.Add("日本語 "+strings.Repeat("e\u0301", 50), int64(-1), 40, 0, false)
	f.Fuzz(func(t *testing.T, s string, n int64, width, height int, colour bool) {
		if len(s) > 2000 {
			return
		}
		r := evil(s)
		r.Did.Changes.Total, r.Did.Permissions.Total, r.Did.Accesses.Total = int(n), int(n), int(n)
		r.Did.Refusals = List[Refusal]{Total: int(n)}
		r.Tokens = &Tokens{Input: &n, Total: &n}
		r.Started = time.Unix(n, 0)
		r.Verifier[0].Seconds = float64(n)
		o := PrintOptions{Width: 40 + (width&0x7fff)%200, Height: height % 100, Colour: colour}
		for _, r.Kind = range []Kind{Turn, Undo, Redo} {
			var b strings.Builder
			if err := r.Print(&b, o); err != nil {
				t.Fatal(err)
			}
			fits(t, b.String(), o)
		}
	})
}

func TestColumns(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "é": 1, "e\u0301": 1, "…": 1} {
		if got := columns(s); got != want {
			t.Errorf("columns(%q) = %d, want %d", s, got, want)
		}
	}
	for most := range 12 {
		for _, s := range []string{"日本語テキスト", "abcdefghijklmnop", "a日b本c語d"} {
			if got := shorten(s, most); columns(got) > most {
				t.Errorf("shorten(%q, %d) = %q", s, most, got)
			}
			if got := squeeze(s, max(most, 2)); columns(got) > max(most, 2) {
				t.Errorf("squeeze(%q, %d) = %q", s, most, got)
			}
		}
	}
	if got := squeeze("internal/service/handlers/file.go", 20); got != "interna…lers/file.go" {
		t.Errorf("squeeze = %q", got)
	}
}
