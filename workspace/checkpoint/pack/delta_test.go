package pack

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func FuzzDelta(f *testing.F) {
	f.Add([]byte("one two three four five"), []byte("zero one two 3 four five"))
	f.Add([]byte(""), []byte("x"))
	f.Fuzz(func(t *testing.T, base, body []byte) {
		got, err := patch(base, delta(base, body))
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("%q from %q: got %q, %v", body, base, got, err)
		}
		if out, err := patch(base, body); err == nil && len(out) > ChunkSize {
			t.Errorf("a hostile delta makes %d bytes", len(out))
		}
	})
}

func TestDeltaIsSmall(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	base := make([]byte, 4000)
	for i := range base {
		base[i] = byte(random.Uint32())
	}
	body := bytes.Clone(base)
	for i := range 32 {
		body[1000+i] ^= byte(1 + random.IntN(255))
	}
	body = append(body[:2000:2000], body[2050:]...)
	if n := len(delta(base, body)); n > 50 {
		t.Errorf("32 bytes changed and 50 removed: %d bytes", n)
	}
}
