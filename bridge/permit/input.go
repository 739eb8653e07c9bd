package permit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

// Bounds of a Request's input.
const (
	MaxText   = 4 << 10   // longer texts are cut
	maxNested = 64 << 10  // a larger object or array in the input is left out
	maxMember = 256       // more members are left out
	maxInput  = 256 << 10 // what comes after so much is left out
	maxName   = 128       // a longer name of a tool is cut
)

// CutMember is the member of an input that lists what was cut: the name of the
// top-level member → its full length in bytes, and "…" → how many members were
// left out. A decider that finds the member it judges in there, or "…", has not
// seen all of it.
const CutMember = "sallyport_cut"

// inputOf is what the tool was given, with the members that Claude Code's tools
// have (command, file_path, …) put first, and long texts cut.
func inputOf(c *Call, tool string) jsontext.Value {
	w := inputWriter{done: map[string]bool{}}
	switch kind := KindOf(tool); {
	case kind == Command:
		if command, ok := commandOf(c.Input); ok {
			w.text("command", command)
		}
	case kind == Edit || tool == "Read" || tool == "Delete" || tool == "Move":
		w.files(c, kind)
	}
	object := len(c.Input) > 0 && c.Input[0] == '{'
	if object {
		_ = rpc.Members(c.Input, func(key, value []byte) bool { // valid, as all parts of a message are
			w.member(string(key), value)
			return true
		})
	} else if !null(c.Input) {
		w.member("input", c.Input)
	}
	return w.end()
}

// inputWriter composes one JSON object without repeated names.
type inputWriter struct {
	buf  []byte
	done map[string]bool
	cuts []string // names and lengths, in turn
	left int      // members left out
}

func (w *inputWriter) open(name string) bool {
	if w.done[name] || name == CutMember {
		return false
	}
	if len(w.done) == maxMember || len(w.buf) > maxInput || len(name) > MaxText {
		w.left++
		return false
	}
	w.done[name] = true
	w.separate()
	w.buf = append(rpc.AppendQuote(w.buf, name), ':')
	return true
}

func (w *inputWriter) separate() {
	if len(w.buf) > 0 {
		w.buf = append(w.buf, ',')
	}
}

func (w *inputWriter) text(name, s string) {
	if w.open(name) {
		w.quote(name, s)
	}
}

func (w *inputWriter) quote(top, s string) {
	short, cut := cutText(s, MaxText)
	if cut {
		w.cut(top, len(s))
	}
	w.buf = rpc.AppendQuote(w.buf, short)
}

func (w *inputWriter) cut(name string, length int) {
	w.cuts = append(w.cuts, name, fmt.Sprint(length))
}

// files writes where and what an edit or a read is, for agents whose raw input
// does not say it in Claude Code's words.
func (w *inputWriter) files(c *Call, kind Kind) {
	paths := c.Paths()
	switch first := textMember(c.Input, "file_path"); {
	case first != "":
		w.text("file_path", first)
	case len(paths) > 0:
		w.text("file_path", paths[0])
	}
	if len(paths) > 1 && w.open("file_paths") {
		w.buf = append(w.buf, '[')
		for i, p := range paths {
			if i > 0 {
				w.buf = append(w.buf, ',')
			}
			w.quote("file_paths", p)
		}
		w.buf = append(w.buf, ']')
	}
	if diffs := c.Diffs(); kind == Edit && null(c.Input) && len(diffs) == 1 {
		if diffs[0].Old != nil && *diffs[0].Old != "" {
			w.text("old_string", *diffs[0].Old)
			w.text("new_string", diffs[0].New)
		} else {
			w.text("content", diffs[0].New)
		}
	}
}

func (w *inputWriter) member(name string, value []byte) {
	if !w.open(name) {
		return
	}
	switch {
	case value[0] == '"':
		w.quote(name, str(value))
	case value[0] != '{' && value[0] != '[':
		w.buf = append(w.buf, value...)
	default:
		before := len(w.buf)
		if !w.nested(name, value) {
			w.buf = append(w.buf[:before], "null"...)
			w.cut(name, len(value))
		}
	}
}

// nested copies an object or array, its texts cut; false if it stays too large.
func (w *inputWriter) nested(top string, value []byte) bool {
	start := len(w.buf)
	for i := 0; i < len(value); i++ {
		if len(w.buf)-start > maxNested {
			return false
		}
		if value[i] != '"' {
			w.buf = append(w.buf, value[i])
			continue
		}
		end := stringEnd(value, i)
		if end < 0 {
			return false
		}
		w.quote(top, str(value[i:end+1]))
		i = end
	}
	return jsontext.Value(w.buf[start:]).IsValid() // names may repeat, by the agent or by the cut
}

func (w *inputWriter) end() jsontext.Value {
	if w.left > 0 {
		w.cut("…", w.left)
	}
	if len(w.cuts) > 0 {
		w.separate()
		w.buf = append(rpc.AppendQuote(w.buf, CutMember), ":{"...)
		seen := map[string]bool{}
		for i := 0; i < len(w.cuts); i += 2 {
			if name := w.cuts[i]; !seen[name] {
				if len(seen) > 0 {
					w.buf = append(w.buf, ',')
				}
				seen[name] = true
				w.buf = append(append(rpc.AppendQuote(w.buf, name), ':'), w.cuts[i+1]...)
			}
		}
		w.buf = append(w.buf, '}')
	}
	return jsontext.Value("{" + string(w.buf) + "}")
}

// cutText shortens s to at most limit bytes of it, at a rune's border, and says
// so at its end with the full length.
func cutText(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	n := limit
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s… [cut by Sallyport: %d bytes in all]", s[:n], len(s)), true
}

// cutName makes a tool's name fit for a rule and a line on the screen.
func cutName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '_'
		}
		return r
	}, name)
	if len(name) > maxName {
		name, _ = cutText(name, maxName)
	}
	return name
}

// member is an object's last member called name, nil when there is none.
func member(object []byte, name string) []byte {
	value, _ := rpc.Member(object, name)
	return value
}

func isArray(value []byte) bool { return len(value) > 0 && value[0] == '[' }
