package workspace_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"sallyport/workspace"
	"sallyport/workspace/fence"
	"sallyport/workspace/workspacetest"
)

// play interprets bytes as what a user and an agent do to one open document, in turns. The
// agent makes its texts from what it knows: what it read through the gate, what it asked to
// be written, or, for one that never reads through the gate, the disk.
type play struct {
	*session
	bytes []byte
	name  string
	knows string
	// byDisk: this agent reads the disk by itself, right before it writes.
	byDisk bool
	typed  map[string]bool // the user's tokens that must be in the buffer
	tokens int
}

func (p *play) next(n int) int {
	if len(p.bytes) == 0 {
		return 0
	}
	b := p.bytes[0]
	p.bytes = p.bytes[1:]
	return int(b) % n
}

// place gives an offset in s that is not inside a rune.
func (p *play) place(s string) int {
	at := min(p.next(256)*(len(s)+1)/256, len(s))
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}

// token gives a rune that is nowhere else, alone or as a line.
func (p *play) token(first rune) string {
	p.tokens++
	token := string(first + rune(p.tokens))
	return []string{token, token + "\n", "\n" + token, token + "\r\n", " " + token + " "}[p.next(5)]
}

// The scripts that the user and the agent write in.
const hangul, kanji = '가', '一'

func inner(token string) string { return strings.TrimSpace(token) }

// user types a token somewhere.
func (p *play) user() {
	content := p.editor.Content(p.path(p.name))
	at, token := p.place(content), p.token(hangul)
	p.must(p.editor.Set(p.path(p.name), content[:at]+token+content[at:]))
	p.typed[inner(token)] = true
}

// edit makes the agent's new text from what it knows: a token put in, or a stretch taken
// out. It gives the token, and the user's tokens that it takes out knowingly.
func (p *play) edit() (want, token string, gone []string) {
	at := p.place(p.knows)
	if p.next(3) > 0 {
		token = p.token(kanji)
		return p.knows[:at] + token + p.knows[at:], inner(token), nil
	}
	end := p.place(p.knows)
	at, end = min(at, end), max(at, end)
	want = p.knows[:at] + p.knows[end:]
	for t := range p.typed {
		if strings.Contains(p.knows, t) && !strings.Contains(want, t) {
			gone = append(gone, t)
		}
	}
	return want, "", gone
}

func (p *play) write() {
	if p.byDisk {
		p.knows = p.onDisk(p.name)
	}
	want, token, gone := p.edit()
	if p.byDisk && p.next(3) == 0 { // it writes by itself first, and then echoes
		p.must(os.WriteFile(p.path(p.name), []byte(want), 0o644))
		for _, t := range gone { // taken out of the file already, whatever becomes of the echo
			delete(p.typed, t)
		}
	}
	p.editor.Fault = []workspacetest.Fault{
		workspacetest.None, workspacetest.None, workspacetest.None, workspacetest.None,
		workspacetest.Refuse, workspacetest.Lie, workspacetest.ReadOnly,
	}[p.next(7)]
	hook := func() func(string) {
		if p.next(4) > 0 {
			return nil
		}
		left := 1 + p.next(3)
		return func(string) {
			if left--; left >= 0 {
				p.user()
			}
		}
	}
	p.editor.Before, p.editor.After = hook(), hook()
	out, err := p.Write(p.t.Context(), p.path(p.name), want)
	if err != nil && !errors.Is(err, workspace.ErrNotSeen) { // not seen: perhaps applied
		return
	}
	if err == nil {
		p.knows = want
		if got := p.editor.Content(p.path(p.name)); token != "" && !out.Unchanged && !strings.Contains(got, token) {
			p.t.Errorf("success was claimed but %s is not in the buffer %q", token, got)
		}
	}
	for _, t := range gone {
		if err == nil || !strings.Contains(p.editor.Content(p.path(p.name)), t) {
			delete(p.typed, t)
		}
	}
}

func (p *play) step() {
	switch p.next(8) {
	case 0, 1:
		p.user()
	case 2:
		p.must(p.editor.SaveFile(p.path(p.name)))
	case 3:
		if !p.byDisk {
			p.knows = p.read(p.name)
		}
	case 4:
		p.editor.Lag = !p.editor.Lag
		p.must(p.editor.Announce(p.path(p.name)))
	default:
		p.write()
	}
	content := p.editor.Content(p.path(p.name))
	for token := range p.typed {
		if !strings.Contains(content, token) {
			p.t.Fatalf("%s was typed and is not in the buffer %q", token, content)
		}
	}
}

func playAll(t *testing.T, data []byte) {
	s := start(t, fence.Rules{})
	p := &play{session: s, bytes: data, name: "a.txt", typed: map[string]bool{}}
	content := []string{"one\ntwo\nthree\nfour\n", "one\r\ntwo\r\nthree\r\n", "", "no newline", "a\r\nb\nc\n"}[p.next(5)]
	p.SaveAfter = []workspace.SavePolicy{workspace.WhenClean, workspace.Always, workspace.Never}[p.next(3)]
	p.byDisk = p.next(2) == 1
	s.open(p.name, content)
	if !p.byDisk {
		p.knows = p.read(p.name)
	}
	for len(p.bytes) > 0 {
		p.step()
	}
}

// Whatever users type while an agent reads and writes is in the buffer, or the write
// failed.
func FuzzNothingTypedIsLost(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		data := make([]byte, 20+random.IntN(200))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 600 {
			t.Skip("long plays find nothing that short ones do not")
		}
		playAll(t, data)
	})
}
