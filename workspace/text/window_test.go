package text

import "testing"

func TestWindow(t *testing.T) {
	for _, tt := range []struct {
		name, text  string
		line, limit int
		want        string
	}{
		{"B1 limit alone", "1\n2\n3\n4\n5\n", 0, 2, "1\n2\n"},
		{"B1 line and limit", "1\n2\n3\n4\n5\n", 1, 2, "1\n2\n"},
		{"B1 line alone", "1\n2\n3\n4\n5\n", 4, 0, "4\n5\n"},
		{"B2 limit past the end", "a\nb\n", 2, 9, "b\n"},
		{"B2 line past the end", "a\nb\n", 5, 1, ""},
		{"B2 no bounds", "a\nb\n", 0, 0, "a\nb\n"},
		{"B2 each line keeps its ending", "a\r\nb\nc", 1, 2, "a\r\nb\n"},
		{"B3 last line", "l1\nl2\n", 2, 1, "l2\n"},
		{"B3 line after the final newline", "l1\nl2\n", 3, 0, ""},
		{"B3 no final newline", "l1\nl2", 2, 0, "l2"},
		{"B4 a lone CR is content", "a\rb\nc\r\nd\n", 1, 1, "a\rb\n"},
		{"empty", "", 1, 1, ""},
		{"negative", "a\nb\n", -3, -1, "a\nb\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Window(tt.text, tt.line, tt.limit); got != tt.want {
				t.Errorf("Window(%q, %d, %d) = %q, want %q", tt.text, tt.line, tt.limit, got, tt.want)
			}
		})
	}
}

func TestEndings(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Ending
		crlf string
	}{
		{"", None, ""},
		{"a", None, "a"},
		{"a\rb", None, "a\rb"},
		{"a\nb\n", LF, "a\r\nb\r\n"},
		{"\n", LF, "\r\n"},
		{"a\r\nb\r\n", CRLF, "a\r\nb\r\n"},
		{"a\rb\r\n", CRLF, "a\rb\r\n"},
		{"a\r\nb\n", Mixed, "a\r\nb\r\n"},
		{"a\nb\r\n\n", Mixed, "a\r\nb\r\n\r\n"},
	} {
		if got := EndingOf(tt.text); got != tt.want {
			t.Errorf("EndingOf(%q) = %s, want %s", tt.text, got, tt.want)
		}
		if got := ToCRLF(tt.text); got != tt.crlf {
			t.Errorf("ToCRLF(%q) = %q, want %q", tt.text, got, tt.crlf)
		}
	}
}

func TestHash(t *testing.T) {
	const empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if got := Hash(""); got != empty {
		t.Errorf("Hash of nothing = %s, want %s", got, empty)
	}
	const abc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got := Hash("abc"); got != abc {
		t.Errorf("Hash(abc) = %s, want %s", got, abc)
	}
}
