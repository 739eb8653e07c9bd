package decider

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

func TestEntryLines(t *testing.T) {
	at := time.Date(2026, 5, 4, 14, 3, 12, 0, time.Local)
	for _, test := range []struct {
		entry Entry
		want  string
	}{
		{Entry{What: Decided, Tool: "Bash", Target: "rm -rf build", Answer: "deny", Message: "no rm -rf here", DelayMS: 2}, "14:03:12  Decision  refused Bash rm -rf build (2 ms): no rm -rf here"},
		{Entry{What: Decided, Tool: "Bash", Target: "npm test", Answer: "allow", DelayMS: 0.2}, "14:03:12  Decision  allowed Bash npm test (1 ms)"},
		{Entry{What: Decided, Tool: "Bash", Target: "cargo build", Answer: "ask", Why: "no answer in time", DelayMS: 500}, "14:03:12  Decision  did not decide Bash cargo build: no answer in time; the user is asked"},
		{Entry{What: Decided, Tool: "Bash", Target: "cargo build", Answer: "ask", DelayMS: 3}, "14:03:12  Decision  did not decide Bash cargo build (3 ms): it left it; the user is asked"},
		{Entry{What: Decided, Tool: "Bash", Target: "ls", Answer: "ask", Why: "no answer in time", Late: true, DelayMS: 500}, "14:03:12  Decision  did not decide Bash ls: no answer in time"},
		{Entry{What: Decided, Tool: "Bash", Target: "ls", Answer: "deny", Late: true, DelayMS: 612}, "14:03:12  Decision  did not decide Bash ls: it refused it after 612 ms, too late"},
		{Entry{What: Decided, Tool: "mcp__a__b", Answer: "allow", DelayMS: 1}, "14:03:12  Decision  allowed mcp__a__b (1 ms)"},
		{Entry{What: Decided, Tool: "Bash", Target: "a\nb\x1b[2J", Answer: "allow", DelayMS: 1}, "14:03:12  Decision  allowed Bash a b [2J (1 ms)"},
		{Entry{What: Life, Why: "it is ready"}, "14:03:12  Program   it is ready"},
		{Entry{What: Stray, Why: "it is not JSON"}, "14:03:12  Stray     it is not JSON"},
	} {
		test.entry.Time = at
		if got := test.entry.String(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestTargets(t *testing.T) {
	for input, want := range map[string]string{
		`{"command":"npm test"}`:                     "npm test",
		`{"command":"a\nb"}`:                         "a b",
		`{"file_path":"/p/a.go","content":"secret"}`: "/p/a.go",
		`{"url":"https://example.com/x"}`:            "https://example.com/x",
		`{"pattern":"x","path":"src"}`:               "src",
		`{"command":"ls","path":["not","a","text"]}`: "ls",
		`{"anything":1}`:                             "",
		`"text"`:                                     "",
		``:                                           "",
		`{"command":"` + strings.Repeat("x", 400) + `"}`: strings.Repeat("x", MaxTarget) + "…",
	} {
		if got := (Request{Input: jsontext.Value(input)}).Target(); got != want {
			t.Errorf("%s: got %q, want %q", input, got, want)
		}
	}
}

// read gives all entries of a journal.
func read(t *testing.T, dir, id string) (all []Entry) {
	t.Helper()
	if err := ReadJournal(dir, id, func(e Entry) bool { all = append(all, e); return true }); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestJournalOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journals")
	const id = "dev.test.one"
	if err := ReadJournal(dir, id, func(Entry) bool { return true }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before it is there: got %v", err)
	}
	j, err := OpenJournal(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	want := Entry{Time: time.Now().Round(0), Decider: id, What: Decided, Tool: "Bash", Target: "ls", Answer: "deny", Message: "no", DelayMS: 1.5}
	if err := j.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j.Write(want) == nil {
		t.Error("it is written to after Close")
	}
	path, _ := JournalFile(dir, id)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"time":"torn`)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	all := read(t, dir, id)
	if len(all) != 1 || !all[0].Time.Equal(want.Time) {
		t.Fatalf("got %v, want the one that is whole", all)
	}
	if all[0].Time = want.Time; all[0] != want {
		t.Errorf("got %+v, want %+v", all[0], want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("got %v, %v; others can read it", info.Mode(), err)
	}
}

func TestJournalIsSetAside(t *testing.T) {
	dir := t.TempDir()
	const id = "dev.test.long"
	j, err := OpenJournal(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}()
	e := Entry{What: Decided, Tool: "Bash", Target: strings.Repeat("x", 20_000), Answer: "allow"}
	for i := range 3 * maxJournal / len(e.Target) {
		e.DelayMS = float64(i)
		if err := j.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	path, _ := JournalFile(dir, id)
	for _, name := range []string{path, path + ".1"} {
		if info, err := os.Stat(name); err != nil || info.Size() > maxJournal+2*MaxLine {
			t.Errorf("%s: got %v", name, err)
		}
	}
	last := -1.0
	for _, e := range read(t, dir, id) {
		if e.DelayMS <= last {
			t.Fatalf("got %v after %v, want the order in which it was written", e.DelayMS, last)
		}
		last = e.DelayMS
	}
}

func TestIDsAreNoPaths(t *testing.T) {
	for _, id := range []string{"", "one", "../dev.x", "dev/x.y", "dev..x", ".dev.x", "dev.x.", "Dev.X", "dev.x:y", "dev.-x", "dev.x\x00"} {
		if path, err := JournalFile("/d", id); err == nil {
			t.Errorf("%q: got %s", id, path)
		}
	}
	if _, err := JournalFile("/d", "dev.team-rules.x2"); err != nil {
		t.Error(err)
	}
}
