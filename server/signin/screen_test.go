package signin

import (
	"os"
	"strings"
	"testing"
)

// TestScreen: a switch is seen wherever it is cut, and the last one counts.
func TestScreen(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for said, want := range map[string]bool{
		"plain": false, "a" + alternate + "b": true, alternate + "x" + primary: false,
		primary + alternate: true, alternate + strings.Repeat("long ", 50): true,
	} {
		for size := 1; size <= len(said); size++ {
			s := screen{to: null}
			for at := 0; at < len(said); at += size {
				if _, err := s.Write([]byte(said[at:min(at+size, len(said))])); err != nil {
					t.Fatal(err)
				}
			}
			if s.other != want || !s.broken {
				t.Errorf("%q in pieces of %d: other %v, broken %v", said, size, s.other, s.broken)
			}
		}
	}
}
