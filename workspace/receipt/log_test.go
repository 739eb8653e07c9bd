package receipt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// november is when the tests' first receipts are written.
var november = time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)

func newLog(t *testing.T) *Log {
	t.Helper()
	return &Log{Dir: filepath.Join(t.TempDir(), "receipts"), Now: func() time.Time { return november }}
}

var project = func() string {
	if runtime.GOOS == "windows" {
		return `C:\p`
	}
	return "/p"
}()

// sample is a receipt with something of everything.
func sample(turn string) *Receipt {
	exit, in := 1, int64(1234)
	at := november
	return &Receipt{
		Head: Head{Kind: Turn, Turn: turn, Session: "s1",
			Agent: &Agent{ID: "claude", Name: "Claude Code", Version: "2.1.0", Program: "/usr/bin/claude"}},
		Where: Where{Folder: project, Roots: []string{"/lib"}},
		When:  When{at, at.Add(95 * time.Second)},
		Held: Held{
			Posture:     Posture{Mediated, Mediated, Observed, "edits pass through Sallyport; a command it runs can read and write past every fence"},
			Changes:     []PostureChange{{Posture{Mediated, Observed, Observed, "writes files itself"}, at.Add(time.Minute)}},
			Environment: []string{"HOME", "PATH"}, Mode: "default", Policy: "ask"},
		Cover: Cover{Before: "c1", After: "c2", Files: 1203, Skipped: ListOf([]Skipped{{project, "big.bin", "too large"}})},
		Did: Did{
			Permissions: ListOf([]Permission{
				{Asked{"t1", "Bash", "command", "go test ./..."}, Settled{"allowed", "user", "", "", "", "yes", "", 2500, at.Add(10 * time.Second)}},
				{Asked{"t2", "Bash", "command", "rm -rf /"}, Settled{"denied", "rule", "", "Bash(rm:*)", "a rule of the configuration", "no", "", 0, at.Add(20 * time.Second)}},
			}),
			Accesses: ListOf([]Access{{Kind: "write", Path: project + "/a.go", Source: "buffer", Before: sum([]byte("1")), After: sum([]byte("2")), Merged: true, Time: at}}),
			Refusals: ListOf([]Refusal{{"reserved", "write", project + "/.git/config", ".git is git's own", at}}),
			Changes: ListOf([]Change{
				{project, "a.go", Modified, ByMediated, State{"file", "0644", sum([]byte("1"))}, State{"file", "0644", sum([]byte("2"))}, true},
				{project, "b.go", Added, BySilent, State{Kind: "absent"}, State{"file", "0644", sum([]byte("3"))}, false},
			}),
			Alarms: ListOf([]Alarm{{"switched itself to mode yolo", at}}),
		},
		Outcome: Outcome{
			Taint:    []Taint{{"fetch", "https://example.com/page", at}},
			Verifier: []Verdict{{Name: "tests", Outcome: Failed, Seconds: 3.5, Exit: &exit, Output: "output/t1-tests.txt"}},
			Tokens:   &Tokens{Input: &in},
			End:      End{StopReason: "end_turn", AgentStopReason: "end_turn"},
		},
	}
}

func (l *Log) must(t *testing.T, turns ...string) {
	t.Helper()
	for _, turn := range turns {
		if err := l.Append(t.Context(), sample(turn)); err != nil {
			t.Fatal(err)
		}
	}
}

// turns are those of the receipts, and the errors.
func turns(t *testing.T, l *Log, folder string, newest bool) (got []string) {
	t.Helper()
	seq := l.Read(folder)
	if newest {
		seq = l.Newest(folder)
	}
	for r, err := range seq {
		switch {
		case err != nil:
			got = append(got, "!"+filepath.Base(err.Error()))
		default:
			got = append(got, r.Turn)
		}
	}
	return got
}

func (l *Log) sound(t *testing.T, receipts int) {
	t.Helper()
	report, err := l.Verify(t.Context(), project)
	if err != nil || !report.Sound() || len(report.Projects) != 1 || report.Projects[0].Receipts != receipts {
		t.Errorf("Verify = %+v, %v; want %d sound receipts", report, err, receipts)
	}
}

func (l *Log) month(name string) string { return filepath.Join(l.Folder(project), name+".jsonl") }

func TestAppendAndRead(t *testing.T) {
	l := newLog(t)
	want := sample("t1")
	if err := l.Append(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	l.must(t, "t2", "t3")
	got, err := l.Find(project, "t1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if want.Seq != 1 || want.Previous != "" || len(want.Hash) != 64 || want.Schema != Version {
		t.Errorf("chain %+v", want.Chain)
	}
	if got := turns(t, l, project, false); !cmp.Equal(got, []string{"t1", "t2", "t3"}) {
		t.Errorf("Read: %q", got)
	}
	if got := turns(t, l, project, true); !cmp.Equal(got, []string{"t3", "t2", "t1"}) {
		t.Errorf("Newest: %q", got)
	}
	l.sound(t, 3)
	if _, err := l.Find(project, "t4"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Find(t4) = %v", err)
	}
	if got := turns(t, l, project+"2", false); got != nil {
		t.Errorf("of another project: %q", got)
	}
}

func TestPermissionsOfFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing on Windows")
	}
	l := newLog(t)
	l.must(t, "t1")
	for name, want := range map[string]os.FileMode{
		l.Dir: 0o700, l.Folder(project): 0o700, l.month("2026-11"): 0o600,
		filepath.Join(l.Folder(project), headFile): 0o600, filepath.Join(l.Folder(project), lockFile): 0o600,
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: mode %v, want %v", name, got, want)
		}
	}
}

func TestMonthsChainOn(t *testing.T) {
	l := newLog(t)
	now := november
	l.Now = func() time.Time { return now }
	l.must(t, "t1")
	now = now.AddDate(0, 1, 0)
	l.must(t, "t2")
	now = now.AddDate(-1, 0, 0) // the clock goes back a year
	l.must(t, "t3")
	now = now.AddDate(2, 0, 0)
	l.must(t, "t4")
	if got := turns(t, l, project, false); !cmp.Equal(got, []string{"t1", "t2", "t3", "t4"}) {
		t.Errorf("Read: %q", got)
	}
	if got := turns(t, l, project, true); !cmp.Equal(got, []string{"t4", "t3", "t2", "t1"}) {
		t.Errorf("Newest: %q", got)
	}
	for name, lines := range map[string]int{"2026-11": 1, "2026-12": 2, "2027-12": 1} {
		data, err := os.ReadFile(l.month(name))
		if err != nil || strings.Count(string(data), "\n") != lines {
			t.Errorf("%s: %d lines, %v; want %d", name, strings.Count(string(data), "\n"), err, lines)
		}
	}
	l.sound(t, 4)
}

func TestAllProjects(t *testing.T) {
	l := newLog(t)
	for i, folder := range []string{"/p", "/q", "/p"} {
		r := sample(fmt.Sprint("t", i+1))
		r.Folder = filepath.FromSlash(folder)
		if runtime.GOOS == "windows" {
			r.Folder = "C:" + r.Folder
		}
		r.Ended = november.Add(time.Duration(i) * time.Minute)
		if err := l.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if got := turns(t, l, "", true); !cmp.Equal(got, []string{"t3", "t2", "t1"}) {
		t.Errorf("Newest: %q", got)
	}
	if got := turns(t, l, "", false); len(got) != 3 {
		t.Errorf("Read: %q", got)
	}
	if r, err := l.Find("", "t2"); err != nil || filepath.Base(r.Folder) != "q" {
		t.Errorf("Find: %v, %v", r, err)
	}
	if report, err := l.Verify(t.Context(), ""); err != nil || len(report.Projects) != 2 || !report.Sound() {
		t.Errorf("Verify: %+v, %v", report, err)
	}
	for range l.Newest("") { // ends early
		break
	}
}

func TestKey(t *testing.T) {
	for folder, want := range map[string]string{
		"/p": "-p", "/": "", "/a b/c d!": "-cd", "/x/..hidden": "-hidden", "/x/日本": "", "/x/.": "-x",
		"/x/" + strings.Repeat("y", 80): "-" + strings.Repeat("y", 40), "/x/-": "--",
	} {
		got := Key(filepath.FromSlash(folder))
		if got[16:] != want || !projectDir.MatchString(got) {
			t.Errorf("Key(%q) = %q, want …%q", folder, got, want)
		}
	}
	if Key("/a/p") == Key("/b/p") {
		t.Error("two projects share a log")
	}
}

// Each cut of the last line is a writer that died there.
func TestTornTail(t *testing.T) {
	l := newLog(t)
	l.must(t, "t1", "t2")
	whole, err := os.ReadFile(l.month("2026-11"))
	if err != nil {
		t.Fatal(err)
	}
	first := strings.IndexByte(string(whole), '\n') + 1
	head, err := os.ReadFile(filepath.Join(l.Folder(project), headFile))
	if err != nil {
		t.Fatal(err)
	}
	for size := first; size < len(whole); size += 1 + (len(whole)-first)/40 {
		l := newLog(t)
		l.must(t, "t1")
		if err := os.WriteFile(l.month("2026-11"), whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		l.sound(t, 1)
		if got := turns(t, l, project, true); !cmp.Equal(got, []string{"t1"}) {
			t.Errorf("Newest: %q", got)
		}
		l.must(t, "t3")
		l.sound(t, 2)
		if got := turns(t, l, project, false); !cmp.Equal(got, []string{"t1", "t3"}) {
			t.Errorf("Read: %q", got)
		}
		kept, err := os.ReadFile(filepath.Join(l.Folder(project), "2026-11.torn-1"))
		if size > first && (err != nil || string(kept) != string(whole[first:size])) {
			t.Errorf("set aside: %q, %v", kept, err)
		}
	}
	// The same cut when the head knows of the receipt is somebody's deed.
	l = newLog(t)
	l.must(t, "t1", "t2")
	if err := os.WriteFile(l.month("2026-11"), whole[:first+40], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.Folder(project), headFile), head, 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := l.Verify(t.Context(), project)
	if err != nil || report.Sound() || report.Projects[0].Findings[0].What != Dropped || report.Projects[0].Findings[0].Seq != 2 || len(report.Projects[0].Torn) != 1 {
		t.Errorf("Verify = %+v, %v; want receipt 2 dropped", report, err)
	}
}

// A tail that was torn at the end of a month is set aside although the next receipt goes to another file.
func TestTornTailOfAnEarlierMonth(t *testing.T) {
	l := newLog(t)
	l.must(t, "t1")
	f, err := os.OpenFile(l.month("2026-11"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, `{"schema":1,`)
	f.Close()
	l.Now = func() time.Time { return november.AddDate(0, 1, 0) }
	l.must(t, "t2")
	l.sound(t, 2)
}

func TestWritersTakeTurns(t *testing.T) {
	l := newLog(t)
	const writers, each = 4, 8
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			other := &Log{Dir: l.Dir, Now: l.Now}
			for i := range each {
				if err := other.Append(context.Background(), sample(fmt.Sprintf("t%d-%d", w, i))); err != nil {
					t.Error(err)
				}
				for _, err := range other.Newest(project) { // readers see whole lines
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	l.sound(t, writers*each)
}

func TestAppendWaitsForTheLock(t *testing.T) {
	l := newLog(t)
	ctx, cancel := context.WithCancel(t.Context())
	l.Step = func(step string) {
		if step != "locked" {
			return
		}
		cancel()
		if err := (&Log{Dir: l.Dir}).Append(ctx, sample("t2")); !errors.Is(err, context.Canceled) {
			t.Errorf("Append under a lock, cancelled: %v", err)
		}
	}
	l.must(t, "t1")
	l.sound(t, 1)
}

func TestAppendRefuses(t *testing.T) {
	l := newLog(t)
	r := sample("t1")
	r.Folder = "p"
	if err := l.Append(t.Context(), r); err == nil || !strings.Contains(err.Error(), "not absolute") {
		t.Errorf("Append(relative folder) = %v", err)
	}
	if err := os.MkdirAll(l.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, l.Folder(project)); err != nil {
		t.Skip(err)
	}
	if err := l.Append(t.Context(), sample("t1")); err == nil || !strings.Contains(err.Error(), "is no folder") {
		t.Errorf("Append through a link = %v", err)
	}
	if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
		t.Errorf("it wrote %v", left)
	}
}

// What the clock and the caller give is made fit for JSON.
func TestAppendSettles(t *testing.T) {
	l := newLog(t)
	r := &Receipt{Head: Head{Turn: "t1"}, Where: Where{Folder: project}}
	r.Started = time.Date(12026, 1, 1, 0, 0, 0, 0, time.Local)
	r.Did.Changes.List = []Change{{Root: project, Path: "caf\xe9\x00.txt"}}
	r.Held.Environment = []string{"PATH", "KEY=secret", "PATH"}
	if err := l.Append(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	got, err := l.Find(project, "t1")
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != Turn || !got.Started.IsZero() || got.Did.Changes.Total != 1 || got.Did.Changes.List[0].Path != "caf\xe9\x00.txt" {
		t.Errorf("got %+v", got)
	}
	if !cmp.Equal(got.Held.Environment, []string{"KEY", "PATH"}) {
		t.Errorf("environment %q", got.Held.Environment)
	}
	data, err := os.ReadFile(l.month("2026-11"))
	if err != nil || !strings.Contains(string(data), `"tokens":null`) || strings.Contains(string(data), "secret") {
		t.Errorf("the line is %s, %v", data, err)
	}
}

// What is longer than any receipt is not copied, but stays where it is.
func TestTailThatIsNotOurs(t *testing.T) {
	l := newLog(t)
	l.must(t, "t1")
	if err := os.Truncate(l.month("2026-11"), 2*maxLine); err != nil { // of zeros
		t.Fatal(err)
	}
	l.must(t, "t2")
	if got := turns(t, l, project, false); len(got) != 3 || got[0] != "t1" || got[2] != "t2" {
		t.Errorf("Read: %q", got)
	}
	if got := found(t, l); got != "edited:2/0/" {
		t.Errorf("Verify: %s", got)
	}
}
