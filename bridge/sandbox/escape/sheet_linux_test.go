package escape

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// processesEnd is how soon after its end nothing of a scene may be left.
const processesEnd = 3 * time.Second

// golden is where the outcomes are kept.
const golden = "testdata/escape.json"

// line is what became of a row.
type line struct {
	ID    string             `json:"id"`
	About string             `json:"about"`
	Work  bool               `json:"work,omitzero"`
	Seen  map[string]outcome `json:"seen"`             // by backend/user, or fs/user
	Not   map[string]string  `json:"notRun,omitempty"` // why
}

// sheet collects the outcomes.
type sheet struct {
	mu    sync.Mutex
	lines map[string]*line
}

func (s *sheet) edit(r row, f func(*line)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		s.lines = map[string]*line{}
	}
	l := s.lines[r.id]
	if l == nil {
		l = &line{ID: r.id, About: about[r.id], Work: r.work, Seen: map[string]outcome{}, Not: map[string]string{}}
		s.lines[r.id] = l
	}
	f(l)
}

func (s *sheet) put(r row, backend string, u user, o outcome) {
	s.edit(r, func(l *line) { l.Seen[backend+"/"+u.name] = o })
}

func (s *sheet) notRun(r row, backend string, u user, why string) {
	s.edit(r, func(l *line) { l.Not[backend+"/"+u.name] = why })
}

// settle compares what was seen with what is kept, or keeps it.
func (s *sheet) settle(t *testing.T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *update {
		s.keep(t)
		return
	}
	kept := keptLines(t)
	for _, id := range slices.Sorted(maps.Keys(s.lines)) {
		i := slices.IndexFunc(kept, func(l line) bool { return l.ID == id })
		if i < 0 {
			t.Errorf("%s has no %s; run with -update", golden, id)
			continue
		}
		for cell, o := range s.lines[id].Seen {
			if was := kept[i].Seen[cell]; was != o {
				t.Errorf("%s %s is %s, and %q in %s; run with -update", id, cell, o, was, golden)
			}
		}
	}
}

// keep puts what was seen in the place of what is kept.
func (s *sheet) keep(t *testing.T) {
	if t.Failed() {
		t.Error("not kept: a row failed")
		return
	}
	var kept, all []line
	if _, err := os.Stat(golden); err == nil {
		kept = keptLines(t)
	}
	for _, r := range rows() {
		l := line{ID: r.id, About: about[r.id], Work: r.work, Seen: map[string]outcome{}, Not: map[string]string{}}
		if i := slices.IndexFunc(kept, func(k line) bool { return k.ID == r.id }); i >= 0 {
			maps.Copy(l.Seen, kept[i].Seen)
			maps.Copy(l.Not, kept[i].Not)
		}
		if now := s.lines[r.id]; now != nil {
			for cell, o := range now.Seen {
				l.Seen[cell] = o
				delete(l.Not, cell)
			}
			for cell, why := range now.Not {
				l.Not[cell] = why
				delete(l.Seen, cell)
			}
		}
		all = append(all, l)
	}
	data, err := json.Marshal(all, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(golden, append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(document, []byte(tell(keptLines(t))), 0o644); err != nil {
		t.Fatal(err)
	}
}

func keptLines(t *testing.T) []line {
	t.Helper()
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var all []line
	if err := json.Unmarshal(data, &all, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%s: %v", golden, err)
	}
	return all
}

// TestRows sees that the table is whole: every row has its place, its words, and
// something that is expected wherever it is run.
func TestRows(t *testing.T) {
	groups := map[byte]int{'W': 29, 'R': 20, 'G': 14, 'N': 16, 'S': 7, 'P': 13}
	seen := map[string]bool{}
	for _, r := range rows() {
		if about[r.id] == "" {
			t.Errorf("%s: nothing says what it is about", r.id)
		}
		if seen[r.id] {
			t.Errorf("%s is there twice", r.id)
		}
		seen[r.id] = true
		for _, b := range backends {
			for _, u := range []user{{"user", 1}, {"root", 0}} {
				if r.want.of(b, u) == "" {
					t.Errorf("%s: expects nothing of %s as %s", r.id, b, u.name)
				}
			}
		}
	}
	for group, n := range groups {
		for i := range n {
			if id := string(group) + string([]byte{'0' + byte((i+1)/10), '0' + byte((i+1)%10)}); !seen[id] {
				t.Errorf("%s is missing", id)
			}
		}
	}
	if len(about) != len(seen) {
		t.Errorf("%d rows have words, of %d", len(about), len(seen))
	}
}

// TestKeptLines sees that what is kept is what the rows are.
func TestKeptLines(t *testing.T) {
	if *update {
		t.Skip("being made anew")
	}
	var have, want []string
	for _, l := range keptLines(t) {
		have = append(have, l.ID+" "+l.About)
	}
	for _, r := range rows() {
		want = append(want, r.id+" "+about[r.id])
	}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("%s has the rows\n%q, want\n%q", golden, have, want)
	}
}
