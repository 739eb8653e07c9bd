package checkpoint

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPrune(t *testing.T) {
	p := newProject(t)
	random := rand.NewChaCha8([32]byte{1})
	var ids []string
	for i := range 10 {
		body := make([]byte, 100<<10)
		_, _ = random.Read(body) // never fails
		p.write("f", string(body))
		p.write("same", "same")
		c := p.take()
		ids = append(ids, c.ID)
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		p.must(os.Chtimes(p.store.manifestFile(c.ID), at, at))
	}
	got, err := p.store.Prune(t.Context(), PruneOptions{})
	p.must(err)
	if len(got.Removed) != 0 || got.Bytes < 1000<<10 {
		t.Errorf("nothing is old or too much: got %+v", got)
	}
	got, err = p.store.Prune(t.Context(), PruneOptions{MaxAge: 5*time.Hour + time.Minute})
	p.must(err)
	if want := ids[:5]; !slices.Equal(slices.Sorted(slices.Values(got.Removed)), want) || got.Bytes > 520<<10 {
		t.Errorf("by age: got %+v, want %q gone", got, want)
	}
	got, err = p.store.Prune(t.Context(), PruneOptions{MaxBytes: 250 << 10, Needed: ids[5:6]})
	p.must(err)
	if want := []string{ids[5], ids[9]}; !slices.Equal(p.listed(), want) || got.Bytes > 250<<10 {
		t.Errorf("by size: got %+v, %q stay, want %q", got, p.listed(), want)
	}
	needed, err := p.store.Load(ids[5])
	p.must(err)
	p.restore(needed, p.take())
	if err := os.Remove(p.store.manifestFile(ids[5])); err != nil {
		t.Fatal(err)
	}
	if c := p.take(); c.ID == ids[9] {
		t.Error("the last checkpoint is another one by now")
	}
}

// What one process prunes is stored again by another that had it in its index.
func TestPruneUnderAnotherProcess(t *testing.T) {
	p := newProject(t)
	p.write("a", "a")
	p.write("d/b", "b")
	p.settle()
	p.take()
	other := open(t, p.store.dir)
	if _, err := other.Prune(t.Context(), PruneOptions{MaxAge: time.Nanosecond}); err != nil {
		t.Fatal(err)
	}
	c := p.take()
	loaded, err := other.Load(c.ID)
	p.must(err)
	if err := other.visit(t.Context(), loaded.Roots[0].Tree, "", func(path string, it item) {
		if it.Kind == File {
			if _, err := other.content(it.Hash); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}); err != nil {
		t.Error(err)
	}
}

// When the clock goes back, the order of checkpoints stays, also for a prune.
func TestClockGoesBack(t *testing.T) {
	p := newProject(t)
	body := func(i int) string { return strings.Repeat(fmt.Sprintf("%08d", i*7919), 8<<10) }
	p.write("f", body(1))
	first := p.take()
	future := time.Now().Add(1000 * time.Hour)
	id := fmt.Sprintf("%016x-future", future.UnixNano())
	p.must(os.Rename(p.store.manifestFile(first.ID), p.store.manifestFile(id)))
	p.must(os.Chtimes(p.store.manifestFile(id), future, future))
	p.must(p.store.Close())
	p.store = open(t, p.store.dir)
	p.write("f", body(2))
	p.must(os.Chtimes(p.at("f"), future, future)) // files from the future too
	second := p.take()
	p.write("f", body(3))
	third := p.take()
	want := []string{id, second.ID, third.ID}
	if got := p.listed(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if third.Time.After(time.Now()) {
		t.Errorf("taken at %v", third.Time)
	}
	if _, err := p.store.Prune(t.Context(), PruneOptions{MaxBytes: 2 << 10}); err != nil {
		t.Fatal(err)
	}
	if got := p.listed(); len(got) == 0 || got[len(got)-1] != third.ID || slices.Contains(got, id) {
		t.Errorf("after a prune: got %q, want the newest of %q", got, want)
	}
	p.must(os.Chtimes(p.at("f"), future, future))
	before := p.take()
	p.write("f", "edited\n")
	p.must(os.Chtimes(p.at("f"), future, future))
	after := p.take()
	p.restore(before, after)
	if got := p.files()["f"]; !strings.Contains(got, "65536 bytes") {
		t.Errorf("got %s", got)
	}
}

func TestPruneWithDamage(t *testing.T) {
	p := newProject(t)
	p.write("a", "a")
	c := p.take()
	p.must(os.WriteFile(p.store.manifestFile(c.ID), []byte("{"), 0o600))
	if got, err := p.store.Prune(t.Context(), PruneOptions{Needed: []string{c.ID}}); err == nil {
		t.Errorf("a needed checkpoint that cannot be read: got %+v, want an error and nothing removed", got)
	}
}

// Trees are stored as what is different from earlier ones. Whatever a prune removes, what stays is whole, also when several
// processes took turns.
func TestPrunesOfDeltas(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	p := newProject(t)
	for i := range 60 {
		p.write(fmt.Sprintf("d%d/file%02d", i%3, i), fmt.Sprint(i))
	}
	stores := []*Store{p.store, open(t, p.store.dir), open(t, p.store.dir)}
	for round := range 120 {
		p.store = stores[random.IntN(len(stores))]
		p.write(fmt.Sprintf("d%d/file%02d", random.IntN(3), random.IntN(60)), fmt.Sprint("round ", round%50))
		if random.IntN(3) == 0 {
			p.remove(fmt.Sprintf("d%d/file%02d", random.IntN(3), random.IntN(60)))
		}
		p.take()
		if round%10 != 9 {
			continue
		}
		var needed []string
		for _, id := range p.listed() {
			if random.IntN(3) == 0 {
				needed = append(needed, id)
			}
		}
		if _, err := p.store.Prune(t.Context(), PruneOptions{MaxBytes: 1, Needed: needed}); err != nil {
			t.Fatal(err)
		}
		if got := p.listed(); !slices.Equal(got, needed) {
			t.Fatalf("round %d: %q stay, want %q", round, got, needed)
		}
		for _, s := range stores {
			p.store = s
			for _, id := range needed {
				p.whole(id)
			}
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

// A large pack in which the lesser part is not needed any more is written anew only when the limit asks for it.
func TestPruneHoldsTheLimit(t *testing.T) {
	p := newProject(t)
	random := rand.NewChaCha8([32]byte{1})
	body := make([]byte, 1<<20)
	for i := range 10 {
		_, _ = random.Read(body) // never fails
		p.write(fmt.Sprint("f", i), string(body))
	}
	p.take()
	for i := range 3 {
		p.remove(fmt.Sprint("f", i))
	}
	last := p.take()
	for _, most := range []int64{9 << 20, 7<<20 + 64<<10} {
		got, err := p.store.Prune(t.Context(), PruneOptions{MaxBytes: most})
		p.must(err)
		if got.Bytes > most || !slices.Equal(p.listed(), []string{last.ID}) {
			t.Errorf("most %d: got %d bytes, checkpoints %q", most, got.Bytes, p.listed())
		}
	}
}
