package bridge_test

import (
	"strings"
	"testing"

	"sallyport/workspace/config"
)

// TestC013_Checks: the posture says that checks run what the agent wrote.
func TestC013_Checks(t *testing.T) {
	const warning = "your checks run what it wrote, outside every fence"
	r := newRig(t, `{"prompts": [{"steps": []}]}`, keeping)
	if info := r.open(); strings.Contains(info.Posture.Sentence, warning) {
		t.Errorf("without checks the posture is %q", info.Posture.Sentence)
	}
	r.config.Verify = []config.Check{{Name: "tests", Command: "true"}}
	info := r.open()
	if !strings.Contains(info.Posture.Sentence, warning) {
		t.Errorf("with checks the posture is %q", info.Posture.Sentence)
	}
	result, err := r.prompt(info.ID, "go")
	if err != nil || !strings.Contains(r.receiptOf(result.Turn).Held.Sentence, warning) {
		t.Errorf("the receipt has %q, %v", r.receiptOf(result.Turn).Held.Sentence, err)
	}
}

// TestC012: the posture says that a copy was taken and the turn can be undone once
// that is so, and never before or without one (C013).
func TestC012(t *testing.T) {
	const promise = "a copy was taken and the turn can be undone"
	for _, tt := range []struct {
		name   string
		change func(*rig)
		want   bool
	}{
		{"with a checkpoint", keeping, true},
		{"without a record", func(*rig) {}, false},
		{"when none can be taken", func(r *rig) { keeping(r); r.config.Checkpoint.LeaveOut = []string{"["} }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, `{"prompts": [{"steps": []}, {"steps": []}]}`, tt.change)
			info := r.open()
			if strings.Contains(info.Posture.Sentence, promise) {
				t.Errorf("before the first turn the posture is %q", info.Posture.Sentence)
			}
			for range 2 {
				if _, err := r.prompt(info.ID, "go"); err != nil {
					t.Fatal(err)
				}
				now, err := r.Info(info.ID)
				if got := strings.Contains(now.Posture.Sentence, promise); err != nil || got != tt.want {
					t.Errorf("after a turn the posture is %q (%v)", now.Posture.Sentence, err)
				}
			}
			told := 0
			for _, n := range r.display.notices {
				if strings.Contains(n.Text, promise) {
					told++
				}
			}
			if want := map[bool]int{true: 1}[tt.want]; told != want {
				t.Errorf("it was told %d times, want %d", told, want)
			}
		})
	}
}
