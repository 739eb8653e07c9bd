package text

import "testing"

func TestRebaseSmoke(t *testing.T) {
	edits, err := Rebase("one\ntwo\nthree\n", "zero\none\ntwo\nthree\n", "one\ntwo\n3\n")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Apply("zero\none\ntwo\nthree\n", edits)
	if want := "zero\none\ntwo\n3\n"; got != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
