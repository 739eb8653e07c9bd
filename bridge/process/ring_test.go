package process

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

func newDeadline(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), 300*time.Millisecond)
}

func TestRing(t *testing.T) {
	for _, step := range []int{1, 7, 99, 100, 101, 250, 5000} {
		r := &ring{max: 100}
		var all strings.Builder
		for i := range 200 {
			fmt.Fprintf(&all, "line %d\n", i)
		}
		for s := all.String(); s != ""; {
			n := min(step, len(s))
			if m, err := r.Write([]byte(s[:n])); m != n || err != nil {
				t.Fatalf("Write: %d, %v", m, err)
			}
			s = s[n:]
			if cap(r.buf) > 1000 {
				t.Fatalf("step %d: the buffer has grown to %d", step, cap(r.buf))
			}
		}
		got := r.String()
		if !strings.HasSuffix(all.String(), got) || len(got) > 100 || len(got) < 90 || !strings.HasPrefix(got, "line ") {
			t.Errorf("step %d: got %q", step, got)
		}
	}
}

func TestRing_Visible(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n":              "plain\n",
		"a\x1b[31mb\r\nc\rd\t": `a\x1b[31mb` + "\n" + `c\x0dd` + "\t",
		"bad \xff\xfe utf8":    "bad \ufffd utf8",
		"turn \u202e around":   `turn \u202e around`,
		"世🎉":                   "世🎉",
		"\x00\x7f\u0085":       `\x00\x7f\x85`,
	} {
		r := &ring{max: 1000}
		_, _ = r.Write([]byte(in))
		if got := r.String(); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	// A line that is cut, in the middle of a rune.
	r := &ring{max: 10}
	_, _ = r.Write([]byte("xxxxxxxxxxx世世世世"))
	if got := r.String(); !strings.HasSuffix(got, "世世世") {
		t.Errorf("got %q", got)
	}
}
