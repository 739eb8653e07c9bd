package conversation

import (
	"fmt"
	"strings"

	"sallyport/workspace/text"
)

// Limits of one block, in bytes and lines.
const (
	maxQuote = 256 << 10 // what one party says without a pause
	maxFence = 16 << 10  // one diff or one output
	maxLines = 200       // the same, in lines
)

// voice is who is speaking in the block that is open.
type voice string

const (
	nobody  voice = ""
	user    voice = "You"
	agent   voice = "Agent"
	thought voice = "Thought"
)

// page writes Markdown. It holds the open quote, so that text may come in
// pieces of any size. Not safe for concurrent use.
type page struct {
	out   func(block bool, s string) // block: s begins a block
	who   voice
	spent int  // bytes of the open quote
	fresh bool // the next byte begins a line
	cr    bool // the last byte was a CR
}

// say adds a piece of what one party says.
func (p *page) say(who voice, s string) {
	if s == "" {
		return
	}
	if p.who != who {
		p.end()
		p.who, p.spent, p.fresh, p.cr = who, 0, true, false
		p.out(true, "### "+string(who)+"\n\n")
	}
	if p.spent > maxQuote {
		return
	}
	if p.spent += len(s); p.spent > maxQuote {
		s = "\n(the rest is too long for this document)"
	}
	p.out(false, p.quote(s))
}

// quote puts s into the open block quote. CR, LF and CRLF all end a line:
// CommonMark takes each of them for one.
func (p *page) quote(s string) string {
	prefix := "> "
	if p.who == thought {
		prefix = "> > "
	}
	var b strings.Builder
	for len(s) > 0 {
		if p.cr && s[0] == '\n' {
			s, p.cr = s[1:], false
			continue
		}
		p.cr = false
		if p.fresh {
			b.WriteString(prefix)
			p.fresh = false
		}
		i := strings.IndexAny(s, "\r\n")
		if i < 0 {
			b.WriteString(shown(s))
			break
		}
		b.WriteString(shown(s[:i]))
		b.WriteByte('\n')
		p.fresh, p.cr = true, s[i] == '\r'
		s = s[i+1:]
	}
	return b.String()
}

// end closes the open quote.
func (p *page) end() {
	if p.who == nobody {
		return
	}
	if p.fresh {
		p.out(false, "\n")
	} else {
		p.out(false, "\n\n")
	}
	p.who = nobody
}

// line writes a block of one line of our own words.
func (p *page) line(format string, args ...any) {
	p.end()
	p.out(true, fmt.Sprintf(format, args...)+"\n\n")
}

// fence writes foreign content in a fence that it cannot close.
func (p *page) fence(language, content string) {
	p.end()
	content, cut := clip(content)
	content = shownLines(content)
	if content != "" && !strings.HasSuffix(content, "\n") {
		content += "\n"
	}
	mark := strings.Repeat("`", max(3, longestRun(content)+1))
	p.out(true, mark+language+"\n"+content+mark+"\n\n")
	if cut {
		p.line("(the rest is too long for this document)")
	}
}

// clip keeps the head of s within the limits of a fence.
func clip(s string) (head string, cut bool) {
	if len(s) > maxFence {
		s = strings.ToValidUTF8(s[:maxFence], "")
		cut = true
	}
	for i, n := 0, 0; i < len(s); i++ {
		if s[i] == '\n' {
			if n++; n == maxLines && i+1 < len(s) {
				return s[:i+1], true
			}
		}
	}
	return s, cut
}

// span writes foreign text as a code span, on one line.
func span(s string) string {
	s = shown(strings.NewReplacer("\r\n", "⏎", "\n", "⏎", "\r", "⏎").Replace(s))
	if s == "" {
		return "``` ```"
	}
	mark := strings.Repeat("`", longestRun(s)+1)
	pad := ""
	if s[0] == '`' || s[len(s)-1] == '`' {
		pad = " "
	}
	return mark + pad + s + pad + mark
}

// shown makes control characters of one line visible; tabs stay.
func shown(s string) string {
	parts := strings.Split(s, "\t")
	for i := range parts {
		parts[i] = text.Visible(parts[i])
	}
	return strings.Join(parts, "\t")
}

func shownLines(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = shown(lines[i])
	}
	return strings.Join(lines, "\n")
}

// longestRun is the length of the longest run of backticks in s.
func longestRun(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
