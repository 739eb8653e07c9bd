package disk

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"sallyport/workspace/fence"
	"sallyport/workspace/text"
)

func TestB1_B2_B3_Windows(t *testing.T) {
	dir, p := project(t)
	for _, content := range []string{
		"1\n2\n3\n4\n5\n", "a\nb\n", "l1\nl2\n", "l1\nl2", "", "\n", "\n\n", "a\r\nb\r\n", "a\rb\nc", "\uFEFFa\nb\n", "é\n🎉\n",
	} {
		path := put(t, dir+"/f", content)
		for line := 0; line <= 7; line++ {
			for limit := 0; limit <= 7; limit++ {
				got := read(t, p, path, Window{Line: line, Limit: limit})
				want := text.Window(strings.TrimPrefix(content, "\uFEFF"), line, limit)
				if got.Text != want || got.Bytes != int64(len(content)) || got.BOM != strings.HasPrefix(content, "\uFEFF") {
					t.Errorf("%q line %d limit %d: %+v, want %q", content, line, limit, got, want)
				}
				if whole := line <= 1 && limit == 0; whole != (got.Hash != "") || whole && got.Hash != text.Hash(want) {
					t.Errorf("%q line %d limit %d: hash %q", content, line, limit, got.Hash)
				}
			}
		}
	}
	// The cases as they are written, so that text.Window and we cannot err together.
	for _, c := range []struct {
		content     string
		line, limit int
		want        string
	}{
		{"1\n2\n3\n4\n5\n", 0, 2, "1\n2\n"}, {"1\n2\n3\n4\n5\n", 1, 2, "1\n2\n"}, {"1\n2\n3\n4\n5\n", 4, 0, "4\n5\n"},
		{"a\nb\n", 2, 9, "b\n"}, {"a\nb\n", 5, 1, ""}, {"a\nb\n", 0, 0, "a\nb\n"},
		{"l1\nl2\n", 2, 1, "l2\n"}, {"l1\nl2\n", 3, 0, ""}, {"l1\nl2", 2, 0, "l2"},
	} {
		path := put(t, dir+"/f", c.content)
		if got := read(t, p, path, Window{Line: c.line, Limit: c.limit}).Text; got != c.want {
			t.Errorf("%q line %d limit %d: %q, want %q", c.content, c.line, c.limit, got, c.want)
		}
	}
}

// Windows that lie across the chunks in which a file is scanned, with runes and CRLF cut by them.
func TestWindowAcrossChunks(t *testing.T) {
	dir, p := project(t)
	for shift := range 5 {
		first := strings.Repeat("x", chunkSize-3+shift-len("🎉\n")) + "🎉\n"
		content := first + "é🎉\r\n" + strings.Repeat("y", chunkSize) + "\nlast"
		path := put(t, dir+"/f", content)
		for line := 1; line <= 5; line++ {
			if got := read(t, p, path, Window{Line: line, Limit: 1}).Text; got != text.Window(content, line, 1) {
				t.Errorf("shift %d line %d: %d bytes, want %d", shift, line, len(got), len(text.Window(content, line, 1)))
			}
		}
		if got := read(t, p, path, Window{Line: 2}).Text; got != text.Window(content, 2, 0) {
			t.Errorf("shift %d from line 2: %d bytes", shift, len(got))
		}
	}
}

func TestB10_LargeFile(t *testing.T) {
	dir, p := project(t)
	path := dir + "/big"
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Repeat("line\n", 20)); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(300 << 20); err != nil { // a hole: costs nothing, and is one huge line of NULs
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := read(t, p, path, Window{Line: 1, Limit: 10})
	runtime.ReadMemStats(&after)
	if got.Text != strings.Repeat("line\n", 10) || got.Bytes != 300<<20 {
		t.Errorf("%d bytes of text, size %d", len(got.Text), got.Bytes)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
		t.Errorf("10 lines took %d bytes of memory", used)
	}
	var large *TooLargeError
	if _, err := Read(p, path, Window{}); !errors.As(err, &large) || *large != (TooLargeError{path, 300 << 20, MaxRead, false}) {
		t.Errorf("whole read: %v", err)
	} else if msg := err.Error(); !strings.Contains(msg, "67108864") || !strings.Contains(msg, "line and limit") {
		t.Errorf("the message names neither cap nor remedy: %s", msg)
	}
	runtime.ReadMemStats(&before)
	if _, err := Read(p, path, Window{Line: 21, Limit: 1}); !errors.As(err, &large) || !large.Window {
		t.Errorf("read of a huge line: %v", err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
		t.Errorf("refusing a huge line took %d bytes of memory", used)
	}
}

func TestReadLimitIsASetting(t *testing.T) {
	dir, p := project(t)
	path := put(t, dir+"/f", "12345\n789\n")
	for _, c := range []struct {
		w    Window
		fits bool
	}{
		{Window{Max: 10}, true}, {Window{Max: 9}, false}, {Window{Line: 1, Limit: 1, Max: 6}, true},
		{Window{Line: 1, Limit: 1, Max: 5}, false}, {Window{Line: 2, Max: 4}, true}, {Window{Line: 2, Max: 3}, false},
	} {
		_, err := Read(p, path, c.w)
		var large *TooLargeError
		if fits := err == nil; fits != c.fits || !fits && !errors.As(err, &large) {
			t.Errorf("%+v: %v", c.w, err)
		}
	}
}

// B11: what looks like a secret is neither masked nor lost.
func TestB11_SecretsAreNotMasked(t *testing.T) {
	dir, p := project(t)
	const content = "retries=17,\nAPI_KEY=sk-test-000000000000\n"
	path := put(t, dir+"/f", content)
	got := read(t, p, path, Window{}).Text
	write(t, p, path, "# comment\n"+got)
	if got := bytesOf(t, path); got != "# comment\n"+content {
		t.Errorf("on disk %q", got)
	}
}

func TestReadIsFenced(t *testing.T) {
	dir, p := project(t)
	put(t, dir+"/.env", "SECRET")
	_, err := Read(p, dir+"/.env", Window{})
	var r *fence.Refusal
	if !errors.As(err, &r) || r.Fence != fence.Unreadable || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("%v", err)
	}
}

// FuzzSurvey compares the pass over chunks with what is true of the whole.
func FuzzSurvey(f *testing.F) {
	for _, s := range []string{"", "\xEF\xBB\xBFa\r\n", "\xFF\xFEa\x00", "é🎉\r\n\r", "a\x00", "\xE2\x82", "a\r\nb\n"} {
		f.Add(s, uint8(5))
	}
	f.Fuzz(func(t *testing.T, content string, size uint8) {
		var s survey
		step := max(int(size), 4)
		for rest := content; rest != ""; rest = rest[min(step, len(rest)):] {
			s.add([]byte(rest[:min(step, len(rest))]))
		}
		whole := checkText([]byte(content), "f", 1)
		if got := s.notText("f", 1); (got == nil) != (whole == nil) || got != nil && got.Error() != whole.Error() {
			t.Errorf("%q by %d: %v, whole %v", content, step, got, whole)
		}
		if got, want := s.lines.uniformCRLF(), text.EndingOf(content) == text.CRLF; got != want {
			t.Errorf("%q by %d: uniform CRLF %v, want %v", content, step, got, want)
		}
	})
}
