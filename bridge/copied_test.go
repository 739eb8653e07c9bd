package bridge_test

import (
	"strings"
	"testing"
)

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
