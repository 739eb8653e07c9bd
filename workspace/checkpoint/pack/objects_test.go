package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
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
		err = o.Commit(nil)
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
	some := batch{records: []record{{ID{1}, place{off: 7, stored: 3, size: 3}}, {ID{2}, place{off: 10, stored: 300, size: 1 << 20, codec: codecList}}}}
	f.Add(some.encode()[batchHead:])
	f.Fuzz(func(t *testing.T, body []byte) {
		data := make([]byte, batchHead, batchHead+len(body))
		binary.LittleEndian.PutUint32(data, uint32(len(body)))
		binary.LittleEndian.PutUint32(data[4:], crc32.ChecksumIEEE(body))
		b, n := decodeBatch(append(data, body...), nil)
		if n == 0 {
			return
		}
		first := b.encode()
		if b, n = decodeBatch(first, nil); n != len(first) || !bytes.Equal(b.encode(), first) {
			t.Errorf("%q: got %v", data, b)
		}
	})
}

// A crash of the system may leave a batch whose bodies are not on the disk. Its objects are not there, and can be stored again.
func TestBatchWithoutItsBodies(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	first := put(t, o, "first", Hash{})
	second := put(t, o, "second", Hash{})
	packs, err := filepath.Glob(filepath.Join(dir, "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("got packs %q, %v", packs, err)
	}
	if err := os.Truncate(packs[0], int64(len("first"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(packs[0], int64(len("firstsecond"))); err != nil { // zeros, as after a crash
		t.Fatal(err)
	}
	o = open(t, dir)
	if !o.Has(first) || o.Has(second) {
		t.Errorf("there are first: %v, second: %v", o.Has(first), o.Has(second))
	}
	put(t, o, "second", Hash{})
	if got, err := open(t, dir).Get(second); err != nil || string(got) != "second" {
		t.Errorf("stored again: got %q, %v", got, err)
	}
}

// After a sync that failed, what was not on the disk is not there, and what comes is written to another pack.
func TestSyncThatFails(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir)
	first := put(t, o, "first", Hash{})
	was := o.Generation()
	second, _, err := o.Put([]byte("second"), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.current.index.Close(); err != nil {
		t.Fatal(err)
	}
	if o.current.index, err = os.Open(os.DevNull); err != nil { // takes no write and no sync
		t.Fatal(err)
	}
	if err := o.Commit(nil); err == nil {
		t.Error("an index that cannot be written: no error")
	}
	o.mu.Lock()
	if err := o.abandonLocked(nil); err == nil {
		t.Log("the null device can be truncated")
	}
	o.mu.Unlock()
	if !o.Has(first) || o.Has(second) || o.Generation() == was {
		t.Errorf("there are first: %v, second: %v, generation %q after %q", o.Has(first), o.Has(second), o.Generation(), was)
	}
	put(t, o, "second", Hash{})
	for _, o := range []*Objects{o, open(t, dir)} {
		if !o.Has(first) || !o.Has(second) {
			t.Errorf("then there are first: %v, second: %v", o.Has(first), o.Has(second))
		}
	}
}
