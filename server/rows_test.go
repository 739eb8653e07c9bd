package server_test

import (
	"context"
	"errors"
	"testing"

	"sallyport/bridge"
	"sallyport/plugins/harness"
	"sallyport/plugins/harness/doctor"
	"sallyport/server"
)

func TestRows(t *testing.T) {
	set, problems, err := harness.Load(harness.Sources{})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	d := doctor.Doctor{Set: set, LookPath: func(string) (string, error) { return "", errors.New("not here") }}
	rows := server.Rows(d.Check(context.Background()), set, "gemini")
	if len(rows) != len(set.All()) {
		t.Fatalf("%d rows for %d agents", len(rows), len(set.All()))
	}
	for _, row := range rows {
		switch row.ID {
		case "gemini":
			if row.Available || !row.Default || row.Fix == "" || row.Reason == "" || row.Grades.Writes != bridge.Mediated || len(row.Modes) == 0 || row.Modes[0].Meaning == "" {
				t.Errorf("gemini's row is %+v", row)
			}
		case "claude":
			if row.Default || row.Grades.Writes != bridge.Observed {
				t.Errorf("claude's row is %+v", row)
			}
		case "demo":
			if !row.Available {
				t.Errorf("the demo agent is this program, and not available: %+v", row)
			}
		}
	}
}
