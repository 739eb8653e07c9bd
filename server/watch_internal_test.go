package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sallyport/workspace"
	"sallyport/workspace/text"
)

// What an editor announces around its answer "applied", and what is made of
// it: a step is a whole text with the next version, "" closes the document, and
// the steps before the answer stand in front.
func TestWatch(t *testing.T) {
	const (
		base  = "one\ntwo\nthree\n"
		want  = "one\ntwo\nTHREE\n"
		typed = "zero\none\ntwo\nthree\n"
		both  = "zero\none\ntwo\nTHREE\n"
		nice  = "one\ntwo\n  THREE\n"
	)
	for _, test := range []struct {
		name          string
		before, after []string
		result        string // of the plugin
		retry         bool
		want          string // the document at the end
		err           error
		waits         bool // until the time is over
	}{
		{"announced before the answer", []string{want}, nil, "", true, want, nil, false},
		{"announced after it", nil, []string{want}, "", true, want, nil, false},
		{"typed after the edit", []string{want, both}, nil, "", true, both, nil, false},
		{"in one piece with what was typed", nil, []string{both}, "", true, both, nil, false},
		{"typed, and dropped", nil, []string{typed}, "", true, typed, workspace.ErrStale, false},
		{"typed, and dropped, no versions", nil, []string{typed}, "", false, typed, errUnclear, false},
		{"typed before, and dropped", []string{typed}, nil, "", true, base, workspace.ErrStale, true},
		{"typed before, then the edit", []string{typed}, []string{both}, "", true, both, nil, false},
		{"nothing comes", nil, nil, "", true, base, errUnclear, true},
		{"a formatter", []string{want}, []string{nice}, nice, true, nice, nil, false},
		{"a formatter, long before", []string{want, nice}, nil, nice, true, nice, nil, false},
		{"a formatter, late", nil, []string{want, nice}, nice, true, nice, nil, false},
		{"a formatter that never comes", nil, []string{want}, nice, true, want, nil, true},
		{"a formatter, and typed", nil, []string{want, both}, nice, true, both, nil, true},
		{"the plugin's text is the old one", nil, nil, base, true, base, errUnclear, true},
		{"closed", nil, []string{""}, "", true, base, workspace.ErrClosed, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				docs := workspace.NewDocuments()
				const uri = "untitled:1"
				version := int32(1)
				if err := docs.Open(uri, "", version, base); err != nil {
					t.Fatal(err)
				}
				step := func(s string) {
					if version++; s == "" {
						docs.Close(uri)
					} else if err := docs.Change(uri, version, []text.Change{{Text: s}}, text.UTF16); err != nil {
						t.Fatal(err)
					}
				}
				m := &mirror{client: &client{parts: parts{docs: docs}}}
				now, _ := docs.Get(uri)
				w := m.watch(uri, now, want)
				defer w.stop()
				if test.result != "" {
					w.result = text.Hash(test.result)
				}
				w.retry = test.retry
				for _, s := range test.before {
					step(s)
				}
				type answer struct {
					doc workspace.Document
					err error
				}
				answers := make(chan answer, 1)
				begun := time.Now()
				go func() {
					doc, err := w.shown(context.Background(), defaultSettle)
					answers <- answer{doc, err}
				}()
				for _, s := range test.after {
					synctest.Wait()
					if len(answers) > 0 {
						t.Fatalf("it did not wait for %q", s)
					}
					step(s)
				}
				a := <-answers
				if !errors.Is(a.err, test.err) || a.doc.Text != test.want {
					t.Errorf("got %q, %v; want %q, %v", a.doc.Text, a.err, test.want, test.err)
				}
				if waited := time.Since(begun) > 0; waited != test.waits {
					t.Errorf("it waited for %v, want to the end: %v", time.Since(begun), test.waits)
				}
			})
		})
	}
}
