package answers_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sallyport/workspace/answers"
)

func texts(all []answers.Answer) string {
	var list []string
	for _, a := range all {
		list = append(list, a.Say+" "+a.Rule+" "+a.Agent)
	}
	return strings.Join(list, ", ")
}

func wantList(t *testing.T, s answers.Store, project, want string) {
	t.Helper()
	if all, err := s.List(project); err != nil || texts(all) != want {
		t.Errorf("%s has %q, %v, want %q", project, texts(all), err, want)
	}
}

func keep(t *testing.T, s answers.Store, project string, a answers.Answer) {
	t.Helper()
	if err := s.Keep(t.Context(), project, a); err != nil {
		t.Fatal(err)
	}
}

func TestKeepAndForget(t *testing.T) {
	s, now := answers.Store{Dir: filepath.Join(t.TempDir(), "state", "answers")}, time.Now()
	if gone, err := s.Forget(t.Context(), "/p", func(answers.Answer) bool { return true }); err != nil || gone != nil {
		t.Errorf("of nothing: %v, %v", gone, err)
	}
	if _, err := os.Stat(s.Dir); err == nil {
		t.Error("the folder is made before there is anything to keep")
	}
	keep(t, s, "/p", answers.New(answers.Allow, "Bash(a)", "x", now))
	keep(t, s, "/p", answers.New(answers.Allow, "Bash(a)", "y", now))
	keep(t, s, "/p", answers.New(answers.Deny, "Bash(a)", "x", now))
	keep(t, s, "/q", answers.New(answers.Allow, "Bash(b)", "x", now))
	wantList(t, s, "/p", "allow Bash(a) y, deny Bash(a) x")
	wantList(t, s, "/q", "allow Bash(b) x")
	wantList(t, s, "/p/sub", "")
	gone, err := s.Forget(t.Context(), "/p", func(a answers.Answer) bool { return a.Agent == "y" })
	if err != nil || texts(gone) != "allow Bash(a) y" {
		t.Errorf("took back %q, %v", texts(gone), err)
	}
	wantList(t, s, "/p", "deny Bash(a) x")
	info, err := os.Stat(s.File("/p"))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the file is %v, %v, want it for its user only", info.Mode(), err)
	}
}

func TestMostAnswers(t *testing.T) {
	s := answers.Store{Dir: t.TempDir()}
	var b strings.Builder
	b.WriteString(`{"version":1,"project":"/p","answers":[`)
	for i := range answers.Most {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"say":"deny","rule":"Bash(%d)","agent":"x","kept":"2026-11-30T00:00:00Z"}`, i)
	}
	put(t, s, b.String()+"]}")
	if err := s.Keep(t.Context(), "/p", answers.New(answers.Deny, "Bash(more)", "x", time.Now())); err == nil {
		t.Error("one more than the most was kept")
	}
	keep(t, s, "/p", answers.New(answers.Deny, "Bash(0)", "x", time.Now())) // in the place of another
}

func put(t *testing.T, s answers.Store, text string) {
	t.Helper()
	if err := os.WriteFile(s.File("/p"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestWhatCannotBeRead is an error of everybody who asks, and stays as it is.
func TestWhatCannotBeRead(t *testing.T) {
	for name, text := range map[string]string{
		"empty":      "",
		"no JSON":    "{",
		"version":    `{"version":2,"project":"/p","answers":[]}`,
		"project":    `{"version":1,"project":"/q","answers":[]}`,
		"member":     `{"version":1,"project":"/p","answers":[],"more":1}`,
		"say":        `{"version":1,"project":"/p","answers":[{"say":"ask","rule":"Bash","agent":"x","kept":"2026-11-30T00:00:00Z"}]}`,
		"no agent":   `{"version":1,"project":"/p","answers":[{"say":"deny","rule":"Bash","kept":"2026-11-30T00:00:00Z"}]}`,
		"two values": `{"version":1,"project":"/p","answers":[]}{}`,
		"long":       strings.Repeat(" ", 1<<20) + `{"version":1,"project":"/p","answers":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := answers.Store{Dir: t.TempDir()}
			put(t, s, text)
			if all, err := s.List("/p"); err == nil {
				t.Errorf("it reads as %v", all)
			}
			if err := s.Keep(t.Context(), "/p", answers.New(answers.Allow, "Bash(a)", "x", time.Now())); err == nil {
				t.Error("an answer was kept")
			}
			if _, err := s.Forget(t.Context(), "/p", func(answers.Answer) bool { return true }); err == nil {
				t.Error("something was taken back")
			}
			if data, err := os.ReadFile(s.File("/p")); err != nil || string(data) != text {
				t.Errorf("the file was changed to %.100q, %v", data, err)
			}
		})
	}
	s := answers.Store{Dir: t.TempDir()}
	if err := os.Mkdir(s.File("/p"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.List("/p"); err == nil {
		t.Error("a folder reads as a file")
	}
}

// TestG7_AnswersEnd: what allows ends by itself, what forbids does not.
func TestG7_AnswersEnd(t *testing.T) {
	s := answers.Store{Dir: t.TempDir()}
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		keep(t, s, "/p", answers.New(answers.Allow, "Bash(a)", "x", now))
		keep(t, s, "/p", answers.New(answers.Deny, "Bash(b)", "x", now))
		current := answers.Current[string]{Store: s, Project: "/p", Make: func(all []answers.Answer) (string, error) { return texts(all), nil }}
		for _, at := range []struct {
			after time.Duration
			want  string
		}{{0, "allow Bash(a) x, deny Bash(b) x"}, {answers.Lasts - 2*time.Second, "allow Bash(a) x, deny Bash(b) x"}, {answers.Lasts, "deny Bash(b) x"}} {
			time.Sleep(time.Until(now.Add(at.after)))
			wantList(t, s, "/p", at.want)
			if got, err := current.Get(); err != nil || got != at.want {
				t.Errorf("after %v: %q, %v, want %q", at.after, got, err, at.want)
			}
		}
	})
}

// TestCurrent sees what others keep, break and mend.
func TestCurrent(t *testing.T) {
	s, made := answers.Store{Dir: t.TempDir()}, 0
	c := answers.Current[string]{Store: s, Project: "/p", Make: func(all []answers.Answer) (string, error) {
		made++
		return texts(all), nil
	}}
	want := func(want string, times int) {
		t.Helper()
		if got, err := c.Get(); err != nil || got != want || made != times {
			t.Errorf("got %q, %v, made %d times, want %q and %d", got, err, made, want, times)
		}
	}
	want("", 1)
	want("", 1)
	keep(t, s, "/p", answers.New(answers.Allow, "Bash(a)", "x", time.Now()))
	want("allow Bash(a) x", 2)
	want("allow Bash(a) x", 2)
	put(t, s, "{")
	if got, err := c.Get(); err == nil {
		t.Errorf("a broken file gives %q", got)
	}
	if err := os.Remove(s.File("/p")); err != nil {
		t.Fatal(err)
	}
	want("", 3)
}

// TestOneWriterAtATime: nothing is lost, whoever keeps at the same time.
func TestOneWriterAtATime(t *testing.T) {
	s := answers.Store{Dir: t.TempDir()}
	const writers, each = 4, 5
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for k := range each {
				if err := s.Keep(context.Background(), "/p", answers.New(answers.Deny, fmt.Sprintf("Bash(%d-%d)", i, k), "x", time.Now())); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if all, err := s.List("/p"); err != nil || len(all) != writers*each {
		t.Errorf("%d answers are kept, %v, want %d", len(all), err, writers*each)
	}
}
