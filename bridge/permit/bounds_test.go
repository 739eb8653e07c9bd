package permit_test

import (
	"fmt"
	"strings"
	"testing"

	"sallyport/bridge/permit"
)

// list is n items, numbered, with commas between.
func list(n int, item string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(item, i)
	}
	return strings.Join(all, ",")
}

// TestWhatNobodyCouldJudge: a card has so many options and files at the most.
// A million files cost no more than to read them.
func TestWhatNobodyCouldJudge(t *testing.T) {
	const option, place, diff = `{"optionId":"o%d","name":"n","kind":"allow_once"}`, `{"path":"/p/%d"}`, `{"type":"diff","path":"/p/%d","newText":""}`
	for _, tt := range []struct {
		name                string
		options, places, of int
		as                  string
		ok                  bool
	}{
		{"all there is room for", permit.MaxOptions, permit.MaxPaths, 0, place, true},
		{"too many options", permit.MaxOptions + 1, 1, 0, place, false},
		{"too many files", 1, permit.MaxPaths + 1, 0, place, false},
		{"a million files", 1, 1_000_000, 0, place, false},
		{"as many diffs as there is room for", 1, 0, permit.MaxPaths, diff, true},
		{"too many diffs", 1, 0, permit.MaxPaths + 1, diff, false},
		{"too many diffs of one file", 1, 0, permit.MaxPaths + 1, strings.Replace(diff, "%d", "x%.0[1]d", 1), false},
	} {
		r := &permit.Reader{Session: "s"}
		params := `{"toolCall":{"toolCallId":"t","kind":"edit","locations":[` + list(tt.places, place) + `],"content":[` + list(tt.of, tt.as) + `]},"options":[` + list(tt.options, option) + `]}`
		c, err := r.Read("t", []byte(params))
		if (err == nil) != tt.ok {
			t.Errorf("%s: got %v", tt.name, err)
		}
		if tt.ok && (len(c.Options) != tt.options || len(c.Paths) != tt.places+tt.of) {
			t.Errorf("%s: got %d options and %d files", tt.name, len(c.Options), len(c.Paths))
		}
	}
}
