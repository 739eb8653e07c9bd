package harness

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	shellquote "github.com/kballard/go-shellquote"
)

// FuzzParse: any bytes give the same result twice; each problem has a place
// and a remedy, in order; what is kept can be named, shown and found.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add(goose(f))
	for _, text := range []string{"", "{", "\ufeff{}", `{"a":{"a":1},"a":2}`, `[[[[`, `{"contributes":{"harnesses":[{},1,{"acp":3}]}}`, "{\"\xff\":1}", `{"a":1e999}`, "\xff\xfe",
		strings.Replace(good, `"args"`, `"env":{"A_KEY":"k","LD_X":"y","":"z"},"modes":{"x":"y"},"args"`, 1)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, problems, err := Parse("f", data)
		m2, problems2, err2 := Parse("f", data)
		if (err == nil) != (m != nil) || (err == nil) != (err2 == nil) {
			t.Fatalf("manifest %v, errors %v and %v", m != nil, err, err2)
		}
		if diff := cmp.Diff(problems, problems2); diff != "" {
			t.Fatalf("two runs differ:\n%s", diff)
		}
		if diff := cmp.Diff(m, m2); diff != "" {
			t.Fatalf("two runs differ:\n%s", diff)
		}
		refuses := false
		lines := strings.Count(string(data), "\n") + 1
		for i, p := range problems {
			if p.Line < 1 || p.Line > lines || p.Column < 1 || p.Code == "" || p.Message == "" || p.Remedy == "" || p.Severity == "" || p.Consequence == "" {
				t.Errorf("problem %+v", p)
			}
			if i > 0 && (problems[i-1].Line > p.Line || problems[i-1].Line == p.Line && problems[i-1].Column > p.Column) {
				t.Errorf("problem %d comes after %+v", i, p)
			}
			if strings.ContainsFunc(strings.ReplaceAll(p.String(), "\n", ""), hidden) {
				t.Errorf("problem %q hides something", p)
			}
			refuses = refuses || p.Consequence == Refused
		}
		if err != nil {
			if !refuses {
				t.Errorf("refused (%v) without a problem that says so: %v", err, problems)
			}
			return
		}
		var ids []string
		for _, h := range m.Contributes.Harnesses {
			if _, err := ParseGlobalID(h.Global()); err != nil || slices.Contains(ids, h.ID) {
				t.Errorf("harness %q: %v", h.ID, err)
			}
			ids = append(ids, h.ID)
			if strings.ContainsFunc(h.Name+h.Install.Lines.Unix+h.CommandLine(), hidden) {
				t.Errorf("harness %q hides something", h.ID)
			}
			for _, name := range h.Program.Locate.Names {
				if strings.ContainsAny(name, `/\:`) || strings.Trim(name, ".") == "" {
					t.Errorf("program %q", name)
				}
			}
			if len(h.Program.Locate.Names) == 0 || h.ACP.FenceOnPermissions || h.Own.Self {
				t.Errorf("harness %+v", h)
			}
		}
	})
}

// FuzzSplitLine: what is split and quoted again splits the same way. It agrees
// with another splitter of the same rules, but for line breaks that are escaped,
// which that one keeps, and for what else it takes for a space.
func FuzzSplitLine(f *testing.F) {
	for _, line := range []string{`a "b c" d\ e`, `'`, `\`, "a\\\nb", `"\x\""`, "a | b", `a 'b c' "d \" e" f\ g`, `""`, `"\$\x"`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := SplitLine("linux", line)
		if !strings.ContainsAny(line, "\n\r\v\f\u0085\u00a0") && utf8.ValidString(line) {
			want, wantErr := shellquote.Split(line)
			if (err == nil) != (wantErr == nil) || err == nil && !slices.Equal(words, want) {
				t.Fatalf("%q: got %q, %v; want %q, %v", line, words, err, want, wantErr)
			}
		}
		if err != nil {
			return
		}
		again, err := SplitLine("linux", quoteLine(words))
		if err != nil || !slices.Equal(words, again) {
			t.Errorf("%q: %q, then %q, %v", line, words, again, err)
		}
		if _, err := SplitLine("windows", line); err != nil && err != errOpenQuote {
			t.Errorf("on Windows: %v", err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	data := goose(b)
	if _, err := compiled(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, _, err := Parse("goose", data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBuiltIn is what starting costs.
func BenchmarkBuiltIn(b *testing.B) {
	for b.Loop() {
		if _, err := BuiltIn(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHostile is the dearest manifest that is allowed.
func BenchmarkHostile(b *testing.B) {
	var fields strings.Builder
	for i := range 9900 {
		fields.WriteString(`"a` + strings.Repeat("b", i%100) + string(rune('a'+i%26)) + strings.Repeat("c", i/100) + `":1,`)
	}
	data := []byte(strings.Replace(good, `"caps": {`, `"caps": {`+fields.String(), 1))
	for b.Loop() {
		if _, problems, err := Parse("p", data); err != nil || len(problems) != maxProblems+1 {
			b.Fatal(err, len(problems))
		}
	}
}
