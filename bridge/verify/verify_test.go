package verify_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sallyport/bridge/verify"
	"sallyport/workspace/config"
)

func TestOf(t *testing.T) {
	got := verify.Of([]config.Check{
		{Name: "a", Command: `go test -run 'A B' ./...`, Seconds: 7, PassEnv: []string{"X"}, State: []string{"/c"}}, {Name: "b", Command: `go "`}, {Name: "c", Command: " "},
	})
	want := []verify.Check{
		{Name: "a", Argv: []string{"go", "test", "-run", "A B", "./..."}, Limit: 7 * time.Second, Pass: []string{"X"}, Fence: verify.Fence{State: []string{"/c"}}},
		{Name: "b", Fault: "its command line cannot be split: a quote is not closed"},
		{Name: "c", Fault: "its command line is empty"},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if verify.Run(t.Context(), nil, verify.Options{}) != nil {
		t.Error("no checks give verdicts")
	}
}
