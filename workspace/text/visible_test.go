package text

import (
	"strings"
	"testing"
	"unicode"
)

func TestG8_Visible(t *testing.T) {
	long := strings.Repeat("rm ", 5000/3)
	for _, tt := range []struct{ name, in, want string }{
		{"newline", "git status\nrm -rf ~", "git status␊rm -rf ~"},
		{"nothing is cut", long, long},
		{"clear screen", "a\x1b[2Jb", "a␛[2Jb"},
		{"tab, return, backspace, bell, zero", "\t\r\b\a\x00", "␉␍␈␇␀"},
		{"DEL", "a\x7f", "a␡"},
		{"C1 control", "a\u009b2J", "a<U+009B>2J"},
		{"right to left override", "a\u202egpj.exe", "a<U+202E>gpj.exe"},
		{"zero width space", "a\u200bb", "a<U+200B>b"},
		{"filler that is a letter", "a\u3164b", "a<U+3164>b"},
		{"tag characters", "a\U000E0041", "a<U+E0041>"},
		{"line separator", "a\u2028b", "a<U+2028>b"},
		{"byte order mark", "\ufeffa", "<U+FEFF>a"},
		{"private use", "\ue000", "<U+E000>"},
		{"not UTF-8", "a\xffb\xc3", "a<0xFF>b<0xC3>"},
		{"replacement character", "a\ufffd", "a\ufffd"},
		{"text of all kinds", "é 日本 🎉 e\u0301 λ—“x”", "é 日本 🎉 e\u0301 λ—“x”"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Visible(tt.in); got != tt.want {
				t.Errorf("Visible(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("git status\nrm -rf ~")
	f.Add("\x1b]0;title\a")
	f.Add("\xff\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		got := Visible(s)
		for _, r := range got {
			if unicode.IsControl(r) || hidden(r) {
				t.Errorf("Visible(%q) = %q has %U", s, got, r)
			}
		}
		if again := Visible(got); again != got {
			t.Errorf("Visible(%q) changes at the second time to %q", s, again)
		}
	})
}
