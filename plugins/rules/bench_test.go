package rules_test

import (
	"fmt"
	"testing"

	"sallyport/plugins/rules"
)

// thousand is 1,000 rules, of which every tenth begins with a wildcard.
func thousand(b *testing.B) *rules.Rules {
	var deny, ask, allow []string
	for i := range 400 {
		allow = append(allow, fmt.Sprintf("Bash(tool%d run:*)", i))
		if i < 300 {
			ask = append(ask, fmt.Sprintf("Bash(git sub%d *)", i))
		}
		if i < 200 {
			deny = append(deny, fmt.Sprintf("Bash(npm run forbidden%d:*)", i))
		}
		if i < 50 {
			deny = append(deny, fmt.Sprintf("Bash(* --forbidden%d *)", i))
			allow = append(allow, fmt.Sprintf("Bash(*/script%d.sh)", i))
		}
	}
	allow = append(allow[:len(allow)-4], "Bash(git log:*)", "Bash(npm test:*)", "Bash(grep:*)", "Bash(head:*)")
	r := set(b, deny, ask, allow)
	if r.Len() != 1000 {
		b.Fatalf("got %d rules, want 1000", r.Len())
	}
	return r
}

// BenchmarkDecide: 1,000 rules against a line of 200 characters; at most 100 µs.
func BenchmarkDecide(b *testing.B) {
	for _, bench := range []struct {
		name, line string
		want       rules.Say
	}{
		{"allowed", `git log --oneline --since=2.weeks --author="somebody" -- server bridge workspace | grep -v "merge branch" | head -n 40 && npm test -- --reporter=dot --grep "permissions of a session" --timeout 5000 --x`, rules.Allow},
		{"expansions", `git log --oneline --since="$SINCE" --author="$WHO" -- server bridge workspace | grep -v "$(head -n 1 x)" | head -n 40 && npm test -- --reporter=dot --grep "$NAME of a session" --timeout 5000 ----xyz`, rules.Ask},
		{"one", `git log --oneline --since=2.weeks --author="somebody" --format='%h %an %s with some longer text in it' -- server bridge workspace plugins cmd docs editors testdata/one testdata/two testdata/three`, rules.Allow},
	} {
		b.Run(bench.name, func(b *testing.B) {
			r := thousand(b)
			q := bash(bench.line)
			if n := len(q.Command); n < 195 || n > 205 {
				b.Fatalf("got a line of %d characters, want 200", n)
			}
			if e := r.Explain(q); e.Say != bench.want {
				b.Fatalf("got %v, want %v\n%v", e.Say, bench.want, e)
			}
			b.ReportAllocs()
			for b.Loop() {
				r.Decide(q)
			}
		})
	}
}
