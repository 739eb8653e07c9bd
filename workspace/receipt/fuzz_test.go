package receipt

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

// The state folder holds anything: it is read in bounded time, reading and verifying agree, and the log takes receipts.
func FuzzLog(f *testing.F) {
	l := &Log{Dir: f.TempDir()}
	var good []byte
	for _, turn := range []string{"t1", "t2", "t3"} {
		r := &Receipt{Head: Head{Turn: turn}, Where: Where{Folder: project}}
		if err := l.Append(f.Context(), r); err != nil {
			f.Fatal(err)
		}
		line, err := seal(r)
		if err != nil {
			f.Fatal(err)
		}
		good = append(good, line...)
	}
	f.Add(good, []byte(`{"count":3,"hash":"`+sum(nil)+`"}`))
	f.Add(good[:len(good)-9], []byte("{}"))
	f.Add([]byte("\n\n{\"seq\":1}\n"), []byte(nil))
	f.Add(bytes.ReplaceAll(good, []byte(`"seq":2`), []byte(`"seq":9007199254740990`)), []byte(`{"count":9007199254740990,"hash":"`+sum(nil)+`"}`))
	f.Fuzz(func(t *testing.T, file, head []byte) {
		l := newLog(t)
		if err := os.MkdirAll(l.Folder(project), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.WriteFile(l.month("2026-11"), file, 0o600), os.WriteFile(l.Folder(project)+"/"+headFile, head, 0o600)); err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(file, []byte("\n"))
		oldest, newest := turns(t, l, project, false), turns(t, l, project, true)
		if len(oldest) != lines || len(newest) != lines {
			t.Errorf("%d lines, but %d from the start and %d from the end", lines, len(oldest), len(newest))
		}
		whole := 0
		for _, turn := range oldest {
			if !strings.HasPrefix(turn, "!") {
				whole++
			}
		}
		report, err := l.Verify(t.Context(), project)
		if err != nil {
			t.Fatal(err)
		}
		if got := report.Projects[0].Receipts; got != whole {
			t.Errorf("Verify counts %d receipts, Read %d", got, whole)
		}
		if whole < lines && report.Sound() {
			t.Errorf("%d of %d lines are receipts, and the log is sound", whole, lines)
		}
		err = l.Append(t.Context(), &Receipt{Head: Head{Turn: "new"}, Where: Where{Folder: project}})
		if err != nil && !strings.Contains(err.Error(), "the log is full") {
			t.Fatal(err)
		}
		if after, rerr := os.ReadFile(l.month("2026-11")); rerr != nil || !bytes.HasPrefix(after, file[:bytes.LastIndexByte(file, '\n')+1]) {
			t.Errorf("lines were changed: %v", rerr)
		}
		if err == nil {
			if r, err := l.Find(project, "new"); err != nil || r.Turn != "new" {
				t.Errorf("Find(new) = %v, %v", r, err)
			}
		}
	})
}

func FuzzRedact(f *testing.F) {
	f.Add("curl -H 'Authorization: Bearer x' https://a:b@c/d?e#f")
	f.Add("A_TOKEN=x --password 'y' -u a:b\nrest")
	f.Fuzz(func(t *testing.T, s string) {
		got := Redact(s)
		if strings.Contains(got, "\n") {
			t.Errorf("Redact(%q) = %q: more than a line", s, got)
		}
		if hide := Redact("TOKEN=q7w8e9r0 " + s); strings.Contains(hide, "q7w8e9r0") {
			t.Errorf("Redact(TOKEN=q7w8e9r0 %q) = %q", s, hide)
		}
	})
}
