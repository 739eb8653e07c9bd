package home_test

import (
	"os"
	"testing"

	"sallyport/bridge/home"
)

// TestTurns: one store, opened when it is first asked for, and not behind Close.
func TestTurns(t *testing.T) {
	r := newRig(t, `{}`)
	r.configure(`"retention": {"days": 1}`)
	h, err := home.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	if _, err := os.Stat(h.Paths.State); !os.IsNotExist(err) {
		t.Errorf("the state folder is there before it is asked for: %v", err)
	}
	store, err := h.Turns(r.ctx())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := h.Turns(r.ctx()); err != nil || again != store {
		t.Errorf("asked again it gives %v, %v; want the same", again, err)
	}
	h.Close()
	if _, err := h.Turns(r.ctx()); err == nil {
		t.Error("opened behind Close")
	}
}
