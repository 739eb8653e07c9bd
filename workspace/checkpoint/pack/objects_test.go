package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
)

func open(t testing.TB, dir string) *Objects {
	t.Helper()
	o, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	return o
}

func put(t testing.TB, o *Objects, text string, like Hash) Hash {
	t.Helper()
	h, _, err := o.PutLike([]byte(text), like, false)
	if err == nil {
		err = o.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Two processes store two bodies, each the other one as a delta. They are still there, also after a sweep.
func TestDeltasInACircle(t *testing.T) {
	dir := t.TempDir()
	first, second := open(t, dir), open(t, dir)
	a, b := strings.Repeat("body ", 100)+"a", strings.Repeat("body ", 100)+"b"
	ha := put(t, first, a, Hash{})
	hb := put(t, second, b, Hash{})
	put(t, second, a, hb)
	put(t, first, b, ha)
	check := func(o *Objects) {
		t.Helper()
		for h, want := range map[Hash]string{ha: a, hb: b} {
			if got, err := o.Get(h); err != nil || string(got) != want {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		}
	}
	check(first)
	third := open(t, dir)
	check(third)
	if err := third.Sweep(func(ID) bool { return true }, 1); err != nil {
		t.Fatal(err)
	}
	check(open(t, dir))
}

// A row of deltas ends; each body is there, and what it is made from is one of its parts.
func TestDeltasInARow(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	body := func(i int) string { return strings.Repeat("body ", 100) + fmt.Sprint(i) }
	var list []Hash
	last, most := Hash{}, 0
	for i := range 200 {
		last = put(t, o, body(i), last)
		list = append(list, last)
		n := 0
		if err := o.Parts(last, func(ID, int64) { n++ }); err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
	}
	if most < 8 || most > 49 {
		t.Errorf("the longest row has %d", most)
	}
	o = open(t, dir)
	for i, h := range list {
		if got, err := o.Get(h); err != nil || string(got) != body(i) {
			t.Errorf("body %d: got %q, %v", i, got, err)
		}
	}
	live := map[ID]bool{}
	if err := o.Parts(last, func(id ID, _ int64) { live[id] = true }); err != nil {
		t.Fatal(err)
	}
	if err := o.Sweep(func(id ID) bool { return live[id] }, 1); err != nil {
		t.Fatal(err)
	}
	if got, err := o.Get(last); err != nil || string(got) != body(199) {
		t.Errorf("after a sweep: got %q, %v", got, err)
	}
	if _, err := o.Get(list[0]); !errors.Is(err, ErrMissing) && !live[list[0].ID()] {
		t.Errorf("what was swept: got %v", err)
	}
}

func FuzzBatch(f *testing.F) {
	f.Add(encodeBatch([]record{{ID{1}, place{off: 7, stored: 3, size: 3}}, {ID{2}, place{off: 10, stored: 300, size: 1 << 20, codec: codecList}}})[batchHead:])
	f.Fuzz(func(t *testing.T, body []byte) {
		data := make([]byte, batchHead, batchHead+len(body))
		binary.LittleEndian.PutUint32(data, uint32(len(body)))
		binary.LittleEndian.PutUint32(data[4:], crc32.ChecksumIEEE(body))
		list, n := decodeBatch(append(data, body...), nil)
		if n == 0 || len(list) == 0 {
			return
		}
		again, _ := decodeBatch(encodeBatch(list), nil)
		if len(again) != len(list) || !bytes.Equal(encodeBatch(again), encodeBatch(list)) {
			t.Errorf("%q: got %v, then %v", data, list, again)
		}
	})
}
