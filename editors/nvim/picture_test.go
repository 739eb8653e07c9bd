package nvim

import (
	"fmt"
	"html"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sizes of a picture, in the units of SVG: a cell of the terminal, and the font
// in it.
const (
	cellWidth  = 8.4
	cellHeight = 18
	fontSize   = 14
)

// style is how a run of characters is drawn.
type style struct {
	ink, paper string // colours; empty: the terminal's own
	bold       bool
	inverse    bool
}

// colours are the terminal's own: its ink and paper, and the sixteen.
var colours = []string{
	"#14161b", "#ffc0b9", "#b3f6c0", "#fce094", "#a6dbff", "#ffcaff", "#8cf8f7", "#e0e2ea",
	"#4f5258", "#ffc0b9", "#b3f6c0", "#fce094", "#a6dbff", "#ffcaff", "#8cf8f7", "#eef1f8",
}

// picture draws the screen as README.md shows it, when the kept screens are
// written anew.
func (s *terminal) picture(name string) {
	s.Helper()
	if !*update {
		return
	}
	out, err := s.tmux("capture-pane", "-p", "-e").CombinedOutput()
	if err != nil {
		s.Fatalf("the screen: %v: %s", err, out)
	}
	if err := os.WriteFile(name, []byte(drawn(string(out))), 0o600); err != nil {
		s.Fatal(err)
	}
}

// drawn is a screen with its escape sequences as SVG.
func drawn(screen string) string {
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" font-family="monospace" font-size="%d">`+"\n",
		100*cellWidth+16, len(lines)*cellHeight+16, fontSize)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", colours[0])
	var now style
	for row, line := range lines {
		drawLine(&b, row, line, &now)
	}
	return b.String() + "</svg>\n"
}

func drawLine(b *strings.Builder, row int, line string, now *style) {
	col := 0
	for line != "" {
		if rest, found := strings.CutPrefix(line, "\x1b["); found {
			codes, after, _ := strings.Cut(rest, "m")
			now.set(codes)
			line = after
			continue
		}
		run, rest := line, ""
		if i := strings.IndexByte(line, '\x1b'); i >= 0 {
			run, rest = line[:i], line[i:]
		}
		drawRun(b, row, col, run, *now)
		col += utf8.RuneCountInString(run)
		line = rest
	}
}

func drawRun(b *strings.Builder, row, col int, run string, s style) {
	x, y := 8+float64(col)*cellWidth, 8+row*cellHeight
	width := float64(utf8.RuneCountInString(run)) * cellWidth
	ink, paper := s.ink, s.paper
	if ink == "" {
		ink = colours[7]
	}
	if s.inverse {
		if paper == "" {
			paper = colours[0]
		}
		ink, paper = paper, ink
	}
	if paper != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", x, y, width, cellHeight, paper)
	}
	if strings.TrimSpace(run) == "" {
		return
	}
	weight := ""
	if s.bold {
		weight = ` font-weight="bold"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%d" fill="%s"%s textLength="%.1f" xml:space="preserve">%s</text>`+"\n",
		x, y+cellHeight-5, ink, weight, width, html.EscapeString(run))
}

// set takes the codes of one SGR sequence.
func (s *style) set(codes string) {
	list := strings.FieldsFunc(codes, func(r rune) bool { return r == ';' || r == ':' })
	if len(list) == 0 {
		*s = style{}
	}
	for i := 0; i < len(list); i++ {
		code, _ := strconv.Atoi(list[i])
		switch {
		case code == 0:
			*s = style{}
		case code == 1:
			s.bold = true
		case code == 22:
			s.bold = false
		case code == 7:
			s.inverse = true
		case code == 27:
			s.inverse = false
		case code >= 30 && code <= 37:
			s.ink = colours[code-30]
		case code >= 90 && code <= 97:
			s.ink = colours[code-82]
		case code >= 40 && code <= 47:
			s.paper = colours[code-40]
		case code >= 100 && code <= 107:
			s.paper = colours[code-92]
		case code == 39:
			s.ink = ""
		case code == 49:
			s.paper = ""
		case code == 38 || code == 48:
			colour, used := extended(list[i+1:])
			if code == 38 {
				s.ink = colour
			} else {
				s.paper = colour
			}
			i += used
		}
	}
}

// extended reads a colour of 256 or of 24 bits, and says how many codes it took.
func extended(list []string) (colour string, used int) {
	number := func(i int) int {
		if i >= len(list) {
			return 0
		}
		n, _ := strconv.Atoi(list[i])
		return n
	}
	switch number(0) {
	case 2:
		return fmt.Sprintf("#%02x%02x%02x", number(1)&255, number(2)&255, number(3)&255), 4
	case 5:
		n := number(1) & 255
		switch {
		case n < 16:
			return colours[n], 2
		case n < 232:
			level := func(v int) int {
				if v == 0 {
					return 0
				}
				return 55 + 40*v
			}
			n -= 16
			return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6)), 2
		default:
			v := 8 + 10*(n-232)
			return fmt.Sprintf("#%02x%02x%02x", v, v, v), 2
		}
	}
	return "", len(list)
}
