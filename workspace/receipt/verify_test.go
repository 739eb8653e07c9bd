package receipt

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// alter reads the lines of a log's file, lets edit change them, and writes them back.
func (l *Log) alter(t *testing.T, edit func(lines [][]byte) [][]byte) {
	t.Helper()
	data, err := os.ReadFile(l.month("2026-11"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(bytes.Clone(lines[len(lines)-1]), '\n')
	if err := os.WriteFile(l.month("2026-11"), bytes.Join(edit(lines), nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

// reseal gives a line another content and the hash that goes with it.
func reseal(t *testing.T, line []byte, edit func(*Receipt)) []byte {
	t.Helper()
	r, err := open(bytes.TrimSuffix(line, []byte("\n")))
	if err != nil {
		t.Fatal(err)
	}
	edit(r)
	out, err := seal(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Five receipts, t1 to t5, of which somebody altered something. What is found is written as What:line/seq[-last]/turn.
func TestVerifyNamesWhatWasAltered(t *testing.T) {
	tamper := func(r *Receipt) { r.Did.Permissions = List[Permission]{} }
	tests := []struct {
		name string
		edit func(t *testing.T, lines [][]byte) [][]byte
		want string
	}{
		{"nothing", func(_ *testing.T, l [][]byte) [][]byte { return l }, ""},
		{"a character", func(_ *testing.T, l [][]byte) [][]byte {
			l[2] = bytes.Replace(l[2], []byte(`"denied"`), []byte(`"denieD"`), 1)
			return l
		}, "edited:3/3/t3"},
		{"a blank", func(_ *testing.T, l [][]byte) [][]byte {
			l[2] = bytes.Replace(l[2], []byte(`,"kind"`), []byte(`, "kind"`), 1)
			return l
		}, "edited:3/3/t3"},
		{"its own hash", func(_ *testing.T, l [][]byte) [][]byte {
			l[2] = append(l[2][:len(l[2])-5], "0\"}\n"...)
			return l
		}, "edited:3/3/"},
		{"the first", func(_ *testing.T, l [][]byte) [][]byte {
			l[0] = bytes.Replace(l[0], []byte(`"denied"`), []byte(`"denieD"`), 1)
			return l
		}, "edited:1/1/t1"},
		{"a line made unreadable", func(_ *testing.T, l [][]byte) [][]byte { l[2] = []byte("\x00\xff{\n"); return l }, "edited:3/3/"},
		{"a line cut", func(_ *testing.T, l [][]byte) [][]byte { l[2] = append(l[2][:100], '\n'); return l }, "edited:3/3/"},
		{"the last line emptied", func(_ *testing.T, l [][]byte) [][]byte { l[4] = []byte("\n"); return l }, "edited:5/5/"},
		{"hash made anew", func(t *testing.T, l [][]byte) [][]byte { l[2] = reseal(t, l[2], tamper); return l }, "edited:3/3/t3"},
		{"the first, hash made anew", func(t *testing.T, l [][]byte) [][]byte { l[0] = reseal(t, l[0], tamper); return l }, "edited:1/1/t1"},
		{"the last, hash made anew", func(t *testing.T, l [][]byte) [][]byte { l[4] = reseal(t, l[4], tamper); return l }, "edited:5/5/t5"},
		{"the one it names", func(t *testing.T, l [][]byte) [][]byte {
			l[2] = reseal(t, l[2], func(r *Receipt) { r.Previous = sum(nil) })
			return l
		}, "edited:3/3/t3"},
		{"the first names one", func(t *testing.T, l [][]byte) [][]byte {
			l[0] = reseal(t, l[0], func(r *Receipt) { r.Previous = sum(nil) })
			return l
		}, "edited:1/1/t1"},
		{"two, hashes made anew", func(t *testing.T, l [][]byte) [][]byte {
			l[1], l[3] = reseal(t, l[1], tamper), reseal(t, l[3], tamper)
			return l
		}, "edited:2/2/t2 edited:4/4/t4"},
		{"dropped", func(_ *testing.T, l [][]byte) [][]byte { return slices.Delete(l, 2, 3) }, "dropped:3/3/"},
		{"two dropped", func(_ *testing.T, l [][]byte) [][]byte { return slices.Delete(l, 1, 3) }, "dropped:2/2-3/"},
		{"first dropped", func(_ *testing.T, l [][]byte) [][]byte { return l[1:] }, "dropped:1/1/"},
		{"last dropped", func(_ *testing.T, l [][]byte) [][]byte { return l[:4] }, "dropped:5/5/"},
		{"last two dropped", func(_ *testing.T, l [][]byte) [][]byte { return l[:3] }, "dropped:4/4-5/"},
		{"all dropped", func(_ *testing.T, l [][]byte) [][]byte { return nil }, "dropped:0/1-5/"},
		{"dropped, the rest made anew", func(t *testing.T, l [][]byte) [][]byte {
			l = slices.Delete(l, 2, 3)
			for i := 2; i < len(l); i++ {
				before, _ := open(bytes.TrimSuffix(l[i-1], []byte("\n")))
				l[i] = reseal(t, l[i], func(r *Receipt) { r.Seq, r.Previous = before.Seq+1, before.Hash })
			}
			return l
		}, "dropped:5/5/"},
		{"swapped", func(_ *testing.T, l [][]byte) [][]byte { l[1], l[2] = l[2], l[1]; return l }, "reordered:2/3/t3"},
		{"moved to the end", func(_ *testing.T, l [][]byte) [][]byte { return append(slices.Delete(slices.Clone(l), 1, 2), l[1]) }, "reordered:5/2/t2"},
		{"copied", func(_ *testing.T, l [][]byte) [][]byte { return slices.Insert(l, 4, l[1]) }, "inserted:5/2/t2"},
		{"put in between", func(t *testing.T, l [][]byte) [][]byte {
			return slices.Insert(l, 2, reseal(t, l[1], func(r *Receipt) { r.Turn, r.Seq, r.Previous = "forged", 3, r.Hash }))
		}, "inserted:3/3/forged"},
		{"put at the end", func(t *testing.T, l [][]byte) [][]byte {
			for i := range 2 {
				l = append(l, reseal(t, l[4+i], func(r *Receipt) { r.Turn, r.Seq, r.Previous = "forged", r.Seq+1, r.Hash }))
			}
			return l
		}, "inserted:7/6-7/"},
		{"rubbish in between", func(_ *testing.T, l [][]byte) [][]byte { return slices.Insert(l, 2, []byte("{}\n")) }, "edited:3/0/"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLog(t)
			l.must(t, "t1", "t2", "t3", "t4", "t5")
			l.alter(t, func(lines [][]byte) [][]byte { return tt.edit(t, lines) })
			if got := found(t, l); got != tt.want {
				t.Fatalf("got  %q\nwant %q", got, tt.want)
			}
			// The log goes on, and what was done to it keeps showing.
			l.must(t, "t6")
			got := found(t, l)
			if tt.name == "put at the end" { // then the head knows them
				return
			}
			if got == "" != (tt.want == "") || strings.Contains(got, "/t6") {
				t.Errorf("after another receipt: %q", got)
			}
			if tt.name != "all dropped" && !strings.HasPrefix(got, strings.SplitN(tt.want, "/", 2)[0]) {
				t.Errorf("after another receipt: %q, before: %q", got, tt.want)
			}
		})
	}
}

func found(t *testing.T, l *Log) string {
	t.Helper()
	report, err := l.Verify(t.Context(), project)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range report.Projects[0].Findings {
		s := fmt.Sprintf("%s:%d/%d", f.What, f.Line, f.Seq)
		if f.Last > f.Seq {
			s += fmt.Sprint("-", f.Last)
		}
		all = append(all, s+"/"+f.Turn)
	}
	return strings.Join(all, " ")
}

func TestVerifyOverMonths(t *testing.T) {
	l := newLog(t)
	now := november
	l.Now = func() time.Time { return now }
	for i := range 4 {
		l.must(t, fmt.Sprint("t", i+1))
		now = now.AddDate(0, 1, 0)
	}
	l.sound(t, 4)
	if err := os.Remove(l.month("2026-12")); err != nil {
		t.Fatal(err)
	}
	report, err := l.Verify(t.Context(), project)
	if err != nil || len(report.Projects[0].Findings) != 1 {
		t.Fatalf("Verify = %+v, %v", report, err)
	}
	f := report.Projects[0].Findings[0]
	if f.What != Dropped || f.Seq != 2 || f.File != l.month("2027-01") || f.Line != 1 {
		t.Errorf("got %v", f)
	}
	if got, want := f.String(), "dropped: "+l.month("2027-01")+":1: receipt 2: it is gone"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestVerifyHead(t *testing.T) {
	for name, text := range map[string]string{"missing": "", "damaged": "{", "of nothing": `{"count":0,"hash":""}`, "huge": strings.Repeat(" ", 5000)} {
		l := newLog(t)
		l.must(t, "t1", "t2")
		file := filepath.Join(l.Folder(project), headFile)
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := found(t, l); got != "head:1/0/" {
			t.Errorf("head %s: %q", name, got)
		}
		l.must(t, "t3")
		l.sound(t, 3)
	}
}

func TestVerifyBounds(t *testing.T) {
	l := newLog(t)
	l.must(t, "t1")
	if err := os.WriteFile(l.month("2026-11"), bytes.Repeat([]byte("\n"), 5000), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := l.Verify(t.Context(), project)
	if err != nil || report.Sound() || len(report.Projects[0].Findings) != mostFindings || report.Projects[0].Total < 5000 {
		t.Errorf("Verify: %d findings of %d, %v", len(report.Projects[0].Findings), report.Projects[0].Total, err)
	}
	l.must(t, "t2") // a log of rubbish takes receipts
	if err := os.WriteFile(l.month("2026-11"), append(bytes.Repeat([]byte("x"), maxLine+2), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := turns(t, l, project, false); len(got) != 1 || !strings.Contains(got[0], "is no receipt") {
		t.Errorf("Read of a line that is too long: %q", got)
	}
	if got := turns(t, l, project, true); len(got) != 1 || !strings.Contains(got[0], "is no receipt") {
		t.Errorf("Newest of a line that is too long: %q", got)
	}
}

func TestFindOfADamagedLine(t *testing.T) {
	l := newLog(t)
	l.must(t, "t1", "t2")
	l.alter(t, func(lines [][]byte) [][]byte {
		lines[0] = bytes.Replace(lines[0], []byte(`"denied"`), []byte(`"allowed"`), 1)
		return lines
	})
	if r, err := l.Find(project, "t1"); r != nil || err == nil || !strings.Contains(err.Error(), `(turn "t1") does not have the hash that it names`) {
		t.Errorf("Find(t1) = %v, %v", r, err)
	}
	if r, err := l.Find(project, "t2"); err != nil || r.Turn != "t2" {
		t.Errorf("Find(t2) = %v, %v", r, err)
	}
}

// The log of one project is no log of another.
func TestVerifyOfAnotherProject(t *testing.T) {
	l := newLog(t)
	l.must(t, "t1")
	if err := os.Rename(l.Folder(project), l.Folder(project+"2")); err != nil {
		t.Fatal(err)
	}
	report, err := l.Verify(t.Context(), project+"2")
	if err != nil || len(report.Projects[0].Findings) != 1 || report.Projects[0].Findings[0].Why != "is of another project" {
		t.Errorf("Verify = %+v, %v", report, err)
	}
}
