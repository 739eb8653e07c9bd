package text

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestRebase(t *testing.T) {
	for _, tt := range []struct{ name, base, current, want, merged string }{
		{"nothing typed", "a\nb\n", "a\nb\n", "a\nB\n", "a\nB\n"},
		{"nothing to write", "a\nb\n", "a\nx\n", "a\nb\n", "a\nx\n"},
		{"same change", "a\nb\n", "a\nx\n", "a\nx\n", "a\nx\n"},
		{"A2 the change is there already", "f(one)\n", "f(two)\n", "f(two)\nend\n", "f(two)\nend\n"},
		{"A8 another line", "one\ntwo\n", "one!\ntwo\n", "one\n2\n", "one!\n2\n"},
		{"line typed above", "one\ntwo\n", "zero\none\ntwo\n", "one\n2\n", "zero\none\n2\n"},
		{"same line, other words", "let one = 1, two = 2\n", "let uno = 1, two = 2\n", "let one = 1, two = 3\n", "let uno = 1, two = 3\n"},
		{"same line, typed at its end", "return f(x)\n", "return f(x) // why\n", "return g(x)\n", "return g(x) // why\n"},
		{"next lines", "a\nb\n", "A\nb\n", "a\nB\n", "A\nB\n"},
		{"line typed right above the changed one", "a\nb\n", "a\nnew\nb\n", "a\nB\n", "a\nnew\nB\n"},
		{"line typed right below the changed one", "a\nb\nc\n", "a\nb\nnew\nc\n", "a\nB\nc\n", "a\nB\nnew\nc\n"},
		{"line appended, last one changed", "a\nb", "a\nb\nnew", "a\nB", "a\nB\nnew"},
		{"line deleted next to the changed one", "a\nb\nc\n", "b\nc\n", "a\nB\nc\n", "B\nc\n"},
		{"both deleted a line", "a\nb\nc\nd\n", "a\nc\nd\n", "a\nc\nD\n", "a\nc\nD\n"},
		{"both deleted, one more", "a\nb\nc\nd\ne\n", "a\nd\ne\n", "a\nd\nE\n", "a\nd\nE\n"},
		{"wide runes", "🎉 x = 1\n🎉 y\n", "🎉 x = 1\n🎊 y\n", "🎉 x = 2\n🎉 y\n", "🎉 x = 2\n🎊 y\n"},
		{"CRLF", "a\r\nb\r\n", "a\r\nb\r\nc\r\n", "A\r\nb\r\n", "A\r\nb\r\nc\r\n"},
		{"function added while typing in another", "func a() {\n\tx\n}\n", "func a() {\n\tx, y\n}\n", "func a() {\n\tx\n}\n\nfunc b() {\n\tx\n}\n", "func a() {\n\tx, y\n}\n\nfunc b() {\n\tx\n}\n"},
		{"argument and a line below", "  f(a);\n  g();\n", "  f(a);\n  g(1);\n", "  f(a, b);\n  h();\n  g();\n", "  f(a, b);\n  h();\n  g(1);\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			edits := checkRebase(t, tt.base, tt.current, tt.want)
			got, err := Apply(tt.current, edits)
			if err != nil || got != tt.merged {
				t.Errorf("%q → %q, want %q: got %q, %v; want %q", tt.base, tt.current, tt.want, got, err, tt.merged)
			}
		})
	}
}

func TestRebaseConflicts(t *testing.T) {
	for _, tt := range []struct {
		name, base, current, want string
		message                   string
	}{
		{"same word", "a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n", "line 2 changed"},
		{"typed at the end of the changed word", "foo\n", "foobar\n", "qux\n", "line 1 changed"},
		{"typed at the start of the changed word", "foo bar\n", "my_foo bar\n", "qux bar\n", "line 1 changed"},
		{"typed in a deleted line", "a\nb b\nc\n", "a\nb x b\nc\n", "a\nc\n", "line 2 changed"},
		{"two insertions at one place", "a\nb\n", "a\nu\nb\n", "a\ng\nb\n", "line 2 changed"},
		{"both append", "a\n", "a\nu\n", "a\ng\n", "line 2 changed"},
		{"deletions that overlap", "a\nb\nc\nd\n", "a\nd\n", "a\nb\n", "line 2 changed"},
		{"lines of the current text", "a\nb\nc\n", "new\nnew\na\nb!\nc!\n", "a\nx\ny\n", "lines 4-5 changed"},
		{"several", "a\n-\nb\n-\nc\n", "1\n-\n2\n-\nc\n", "x\n-\ny\n-\nc\n", "line 1, line 3 changed"},
		{"rewritten under the typing", "one two three four\n", "one two, three four\n", "a b c d\n", "line 1 changed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			edits, err := Rebase(tt.base, tt.current, tt.want)
			var conflict *ConflictError
			if !errors.As(err, &conflict) {
				merged, _ := Apply(tt.current, edits)
				t.Fatalf("%q → %q, want %q: merged to %q, %v", tt.base, tt.current, tt.want, merged, err)
			}
			if !strings.HasPrefix(err.Error(), tt.message) {
				t.Errorf("error %q, want it to start with %q", err, tt.message)
			}
			checkRebase(t, tt.base, tt.current, tt.want)
		})
	}
}

func TestConflictErrorListsSome(t *testing.T) {
	e := &ConflictError{}
	for i := range 5 {
		e.Conflicts = append(e.Conflicts, Conflict{Current: Lines{i + 1, i + 1}})
	}
	if got, want := e.Error(), "line 1, line 2, line 3 and 2 more changed on both sides since the text was read"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// checkRebase checks what Rebase promises for every three texts and returns its
// edits, or nil on a conflict.
func checkRebase(t *testing.T, base, current, want string) []Edit {
	t.Helper()
	in := fmt.Sprintf("base %q, current %q, want %q", base, current, want)
	edits, err := Rebase(base, current, want)
	if _, mirrored := Rebase(base, want, current); (mirrored == nil) != (err == nil) {
		t.Errorf("%s: %v, but with the sides exchanged %v", in, err, mirrored)
	}
	if err != nil {
		checkConflict(t, in, err, base, current)
		return nil
	}
	merged, err := Apply(current, edits)
	if err != nil {
		t.Fatalf("%s: edits %v: %v", in, edits, err)
	}
	switch {
	case base == current && merged != want, current == want && merged != want:
		t.Errorf("%s: merged to %q", in, merged)
	case base == want && len(edits) > 0:
		t.Errorf("%s: edits %v of what nobody wants changed", in, edits)
	}
	mirrored, _ := Rebase(base, want, current)
	if got, err := Apply(want, mirrored); err != nil || got != merged {
		t.Errorf("%s: merged to %q, with the sides exchanged to %q, %v", in, merged, got, err)
	}
	checkKept(t, in, Diff(base, current), edits)
	return edits
}

func checkConflict(t *testing.T, in string, err error, base, current string) {
	t.Helper()
	var conflict *ConflictError
	if !errors.As(err, &conflict) || len(conflict.Conflicts) == 0 {
		t.Fatalf("%s: error %v names no place", in, err)
	}
	for _, c := range conflict.Conflicts {
		for _, at := range []struct {
			lines Lines
			text  string
		}{{c.Base, base}, {c.Current, current}} {
			if at.lines.First < 1 || at.lines.Last < at.lines.First || at.lines.Last > lineAt(at.text, len(at.text)) {
				t.Errorf("%s: conflict at %v of %q", in, at.lines, at.text)
			}
		}
	}
}

// checkKept checks that no edit of the current text reaches into what was typed
// there or over a place where something was deleted.
func checkKept(t *testing.T, in string, typed, edits []Edit) {
	t.Helper()
	shift := 0
	for _, u := range typed {
		start := u.Start + shift
		end := start + len(u.New)
		shift = end - u.End
		for _, e := range edits {
			if e.Start < end && start < e.End {
				t.Errorf("%s: edit %v is over the typed [%d,%d)", in, e, start, end)
			}
		}
	}
}

// change is what one side does to part i of a text: replaces it, and inserts
// before it.
type change struct{ before, instead string }

// slowMerge writes the parts with the changes of both sides, which change
// different parts.
func slowMerge(parts []string, sides ...map[int]change) string {
	var b strings.Builder
	for i, part := range parts {
		for _, side := range sides {
			if c, ok := side[i]; ok {
				b.WriteString(c.before)
				part = c.instead
			}
		}
		b.WriteString(part)
	}
	return b.String()
}

// TestRebaseAgreesWithSlowMerge makes changes of different lines by both sides,
// some line apart, and of different words. Lines apart must merge, words may
// conflict, and what merges must be what the slow version says.
func TestRebaseAgreesWithSlowMerge(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	merged := map[string]int{}
	for n := range 4000 {
		kind, end := "lines", "\n"
		if n%2 == 1 {
			kind, end = "words", " "
		}
		part := func(name string, i int) string {
			return fmt.Sprintf("%s%c%d%s", name, 'a'+i%26, i*i, end)
		}
		var parts []string
		sides := []map[int]change{{}, {}}
		free := 0
		for i := range 4 + rnd.IntN(20) {
			parts = append(parts, part("base", i))
			if i < free || rnd.IntN(3) > 0 {
				continue
			}
			side := rnd.IntN(2)
			c := change{instead: parts[i]}
			for c.before == "" && c.instead == parts[i] {
				if rnd.IntN(3) == 0 {
					c.before = part([]string{"ours", "theirs"}[side], i)
				}
				switch rnd.IntN(3) {
				case 0:
					c.instead = part([]string{"OUR", "THEIR"}[side], i)
				case 1:
					c.instead = ""
				}
			}
			sides[side][i] = c
			free = i + 2
		}
		base, current, want := slowMerge(parts), slowMerge(parts, sides[0]), slowMerge(parts, sides[1])
		edits, err := Rebase(base, current, want)
		if err != nil {
			if kind == "lines" {
				t.Fatalf("base %q, current %q, want %q: %v", base, current, want, err)
			}
			continue
		}
		merged[kind]++
		if got, err := Apply(current, edits); err != nil || got != slowMerge(parts, sides...) {
			t.Fatalf("base %q, current %q, want %q: merged to %q, %v; want %q", base, current, want, got, err, slowMerge(parts, sides...))
		}
	}
	t.Logf("merged of 2000 each: %v", merged)
	if merged["words"] < 1000 {
		t.Errorf("only %d of 2000 changes of different words merged", merged["words"])
	}
}

func TestRebaseOfHostileTextIsBounded(t *testing.T) {
	texts := hostile()
	for _, name := range []string{"random lines", "lines of two kinds", "one line of two words"} {
		t.Run(name, func(t *testing.T) {
			base := texts[name][0]
			current := base[:len(base)/2] + "typed" + base[len(base)/2:]
			if edits, err := Rebase(base, current, texts[name][1]); err == nil {
				if merged, err := Apply(current, edits); err != nil || !strings.Contains(merged, "typed") {
					t.Errorf("lost what was typed; %v", err)
				}
			}
		})
	}
}

func FuzzRebase(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n", "a\nb\nC\n")
	f.Add("f(one)\n", "f(two)\n", "f(two)\nend\n")
	f.Add("one two three", "uno two three", "one two tres")
	f.Add("a\r\nb\r\n", "a\nb\n", "a\r\nB\r\n")
	f.Add("a\rb\nc", "a\r\nc", "a\rX\nc")
	f.Add("aaaa", "aaa", "aaaaa")
	f.Add("🎉", "🎉🎉", "🎊")
	f.Add("\xf0\x9f", "\xf0", "\x9f\xf0")
	f.Fuzz(func(t *testing.T, base, current, want string) {
		checkRebase(t, base, current, want)
		checkRebase(t, base, base, want)
		checkRebase(t, base, current, base)
	})
}

// TestRebaseOfSmallTexts tries many short texts of few letters, in which the
// same change can be told in several ways.
func TestRebaseOfSmallTexts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 9))
	letters := []string{"a", "b", " ", "\n", "\n", "\r", "\r\n", "é"}
	some := func(max int) string {
		var b strings.Builder
		for range rnd.IntN(max + 1) {
			b.WriteString(letters[rnd.IntN(len(letters))])
		}
		return b.String()
	}
	edited := func(s string) string {
		for range 1 + rnd.IntN(2) {
			runes := []rune(s)
			from := rnd.IntN(len(runes) + 1)
			to := min(len(runes), from+rnd.IntN(3))
			s = string(runes[:from]) + some(2) + string(runes[to:])
		}
		return s
	}
	for range 30_000 {
		base := some(12)
		current, want := edited(base), edited(base)
		checkDiff(t, base, current)
		checkRebase(t, base, current, want)
		if t.Failed() {
			return
		}
	}
}
