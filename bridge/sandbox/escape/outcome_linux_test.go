package escape

import (
	"fmt"
	"slices"
	"strings"
)

// outcome of the scene, and what was seen.
func (s *scene) outcome() (outcome, string) {
	if s.result.Refused != "" {
		return barred, s.result.Refused
	}
	seen := s.row.got(s)
	switch {
	case s.row.work && seen == "":
		return allowed, ""
	case s.row.work:
		return refused, seen
	case seen == "":
		return held, ""
	case strings.HasPrefix(seen, toldMark):
		return told, seen
	case s.row.want.of(s.backend, s.user) == limit:
		return limit, seen
	default:
		return gap, seen
	}
}

// toldMark begins what got through and was told.
const toldMark = "told: "

// The looks that many rows share. Each says what got through.

// outside: projects/other is not as it was.
func outside(s *scene) string { return s.changed("projects/other") }

// leaked: a secret is in what the command said.
func leaked(s *scene) string {
	for _, word := range []string{secretWord, "PRIVATEKEY", "RECEIPT"} {
		if strings.Contains(s.result.Stdout, word) {
			return "it read " + word
		}
	}
	return s.changed("projects/secret")
}

// said: the command said a word.
func said(word string) func(*scene) string {
	return func(s *scene) string {
		if strings.Contains(s.result.Stdout, word) {
			return "it said " + word
		}
		return ""
	}
}

// done: the work is done when the command said a word.
func done(words ...string) func(*scene) string {
	return func(s *scene) string {
		for _, w := range words {
			if !strings.Contains(s.result.Stdout, w) {
				return fmt.Sprintf("it did not say %q", w)
			}
		}
		return ""
	}
}

// succeeded: the work is done when the command ended with status 0.
func succeeded(s *scene) string { return done(":ended 0\n")(s) }

// same: files below the home are not as they were.
func same(paths ...string) func(*scene) string {
	return func(s *scene) string { return s.changed(paths...) }
}

// any of several looks.
func anyOf(looks ...func(*scene) string) func(*scene) string {
	return func(s *scene) string {
		var all []string
		for _, look := range looks {
			all = append(all, look(s))
		}
		return strings.Join(slices.DeleteFunc(all, func(w string) bool { return w == "" }), "; ")
	}
}

// holds a text: the work is done when a file of the folder has it.
func hasText(name, want string) func(*scene) string {
	return func(s *scene) string {
		if got := s.text(s.folder() + "/" + name); got != want {
			return fmt.Sprintf("%s is %q, want %q", name, got, want)
		}
		return ""
	}
}
