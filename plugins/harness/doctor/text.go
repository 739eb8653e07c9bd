package doctor

import (
	"fmt"
	"io"
	"strings"

	"sallyport/plugins/harness"
)

// width is how wide text is set. Lines to be copied are never broken.
const width = 80

// Text writes the report for a person, at most 80 columns wide but for lines
// to be copied. colour adds terminal colours.
func (r Report) Text(w io.Writer, colour bool) error {
	t := &text{colour: colour, idWidth: 8}
	ready := 0
	for _, a := range r.Agents {
		t.idWidth = max(t.idWidth, len(a.ID))
		if a.State.Available {
			ready++
		}
	}
	t.line("%d of %d agents can be used here (%s/%s, sallyport %s)", ready, len(r.Agents), r.System.OS, r.System.Arch, orUnknown(r.Sallyport))
	if r.Sandbox != nil {
		t.sandbox(*r.Sandbox)
	}
	for _, a := range r.Agents {
		t.line("")
		t.agent(a)
	}
	for i, p := range r.Problems {
		if i == 0 {
			t.line("")
		}
		t.line("%s", p)
	}
	if _, err := io.WriteString(w, t.b.String()); err != nil {
		return fmt.Errorf("writing the doctor's report: %w", err)
	}
	return nil
}

// text is a report being set.
type text struct {
	b       strings.Builder
	colour  bool
	idWidth int
}

// sandbox says what the kernel can hold here, and the line that lets it hold
// all.
func (t *text) sandbox(s Sandbox) {
	words := map[string]string{
		"full":    "the kernel holds the fences of every agent",
		"partial": "the kernel holds the fences of every agent with gaps (sallyport fences names them)",
		"none":    "the kernel holds no fences here: they hold for what agents ask",
	}
	s.Backend = strings.TrimSpace(s.Backend + " " + s.Version)
	t.line("")
	t.line("%-*s  %-8s  %s", t.idWidth, "sandbox", s.Level, s.Backend)
	t.wrapped(words[s.Level])
	t.wrapped(s.Problem)
	if s.Fix != "" {
		t.line("%s%s", t.indent(), s.Fix)
	}
}

func (t *text) line(format string, args ...any) {
	fmt.Fprintf(&t.b, format, args...)
	t.b.WriteByte('\n')
}

func (t *text) agent(a Agent) {
	word, colour := mark(a)
	word = fmt.Sprintf("%-8s", word)
	if t.colour {
		word = colour + word + "\x1b[0m"
	}
	t.line("%-*s  %s  %s", t.idWidth, a.ID, word, strings.TrimSpace(a.Name+" "+versionWords(a.State.Version)))
	t.wrapped(a.State.Problem)
	if a.State.Fix != "" {
		t.line("%s%s", t.indent(), a.State.Fix)
	}
	if !a.State.Available {
		return
	}
	t.line("%s%s", t.indent(), a.State.Program)
	if a.State.Note != "" {
		t.wrapped("note: " + a.State.Note)
	}
	t.wrapped(strings.Join(append(a.Holds.Says, resumeWords(a.Holds.Resume)...), "; "))
	if a.Held != nil {
		t.wrapped(heldWords(*a.Held))
	}
	if p := a.Probe; p != nil {
		t.wrapped(fmt.Sprintf("started: answered in %.1f s as %s", float64(p.Millis)/1000, strings.TrimSpace(p.Name+" "+p.Version)))
	}
}

func (t *text) indent() string { return strings.Repeat(" ", t.idWidth+2) }

// wrapped sets a sentence below its agent, broken between words.
func (t *text) wrapped(s string) {
	line := t.indent()
	empty := true
	for _, word := range strings.Fields(s) {
		if !empty && len([]rune(line))+1+len([]rune(word)) > width {
			t.line("%s", line)
			line, empty = t.indent(), true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	if !empty {
		t.line("%s", line)
	}
}

// mark is the word for an agent's state, and its colour.
func mark(a Agent) (word, colour string) {
	const red, green, yellow = "\x1b[31m", "\x1b[32m", "\x1b[33m"
	switch {
	case !a.State.Available && a.State.Program == "":
		return "missing", yellow
	case !a.State.Available:
		return "broken", red
	case a.State.Version.Status == harness.IsOlder:
		return "old", yellow
	case a.State.Ran || a.Probe != nil || a.ID == "demo":
		return "ready", green
	default:
		return "found", green // not run
	}
}

func versionWords(v VersionInfo) string {
	switch {
	case v.Found == "" && v.Tested == nil:
		return ""
	case v.Found == "":
		return "(tested: " + tested(v) + ")"
	case v.Status == harness.IsTested:
		return v.Found + ", as tested"
	case v.Tested == nil:
		return v.Found
	case v.Status == harness.IsNewer:
		return v.Found + ", newer than tested (" + tested(v) + ")"
	default:
		return v.Found + ", older than tested (" + tested(v) + ")"
	}
}

func tested(v VersionInfo) string {
	if v.Tested.Oldest == v.Tested.Newest {
		return v.Tested.Newest
	}
	return v.Tested.Oldest + " to " + v.Tested.Newest
}

func resumeWords(resume string) []string {
	switch resume {
	case "resume", "load":
		return []string{"goes on with earlier conversations"}
	case "none":
		return []string{"forgets conversations"}
	default:
		return nil
	}
}

// heldWords say what was tried of an agent's fence.
func heldWords(h Held) string {
	var held []string
	if h.Reads {
		held = append(held, "reads of private projects and secrets")
	}
	if h.Writes {
		held = append(held, "writes outside the region")
	}
	if h.Reserved {
		held = append(held, "writes to reserved files")
	}
	switch {
	case len(held) == 0 && h.Why != "":
		return "the kernel holds nothing: " + h.Why
	case len(held) == 0:
		return "the kernel holds nothing"
	default:
		return "in its fence the kernel refused " + strings.Join(held, ", ")
	}
}

func orUnknown(s string) string {
	if s == "" {
		return "of unknown version"
	}
	return s
}
