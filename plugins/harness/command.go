package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Command is an agent that the user's own configuration describes. It is the
// only kind of harness with a command line or a path.
type Command struct {
	ID       string   // short id, as in a manifest
	Name     string   // for people; default ID
	Line     string   // command line, split as a shell does and run without one
	Args     []string // used instead of Line when not empty: program and arguments
	Like     *Harness // description to take, with the program replaced; nil: nothing is known about the agent
	Dir      string   // folder that a path such as ./agent is relative to; "": such a path is refused
	FS       bool     // claim that it works on files through the client; only without Like
	Settings Settings
}

// Settings is what a user adds to an agent's environment.
type Settings struct {
	Env       map[string]string
	PassEnv   []string
	RemoveEnv []string
}

// CustomID is the id of a harness that is a command line, and in no configuration.
const CustomID = "custom"

// FromCommand makes a harness with Origin User. The first word of the command
// is a bare name, looked up on PATH, or an absolute path, or one that begins
// with ~/; another relative path is taken from c.Dir only, never from the
// folder of a session, where a project could have put a program.
func FromCommand(c Command) (*Harness, error) {
	if !harnessID(c.ID) {
		return nil, fmt.Errorf("the agent id %s is not letters, digits, dots and hyphens", quoted(c.ID))
	}
	line := slices.Clone(c.Args)
	if len(line) == 0 {
		var err error
		if line, err = SplitLine(runtime.GOOS, c.Line); err != nil {
			return nil, fmt.Errorf("reading the command of agent %s: %w", c.ID, err)
		}
	}
	if len(line) == 0 || line[0] == "" {
		return nil, fmt.Errorf("the agent %s has an empty command", c.ID)
	}
	for _, word := range line {
		if strings.ContainsRune(word, 0) {
			return nil, fmt.Errorf("the command of agent %s has a zero byte", c.ID)
		}
	}
	var err error
	if line[0], err = anchor(line[0], c.Dir); err != nil {
		return nil, fmt.Errorf("reading the command of agent %s: %w", c.ID, err)
	}
	h := &Harness{ACP: ACP{FS: c.FS}, Caps: Caps{Modes: []Mode{{ID: "default"}, {ID: "acceptEdits"}, {ID: "plan"}, {ID: "bypassPermissions"}}}}
	if c.Like != nil {
		like := *c.Like
		h = &like
		h.Own.Self = false
	}
	name := orElse(c.Name, orElse(h.Name, c.ID))
	h.Identity = Identity{ID: c.ID, Name: name, Speaker: orElse(h.Speaker, name), Writer: orElse(h.Writer, name), From: From{Origin: User}}
	h.Program.Locate = Locate{Command: line}
	h.Install = InstallSpec{}
	return h.With(c.Settings), nil
}

// With is the harness with the user's additions to its environment. Their
// variables win over those of the manifest.
func (h *Harness) With(s Settings) *Harness {
	out := *h
	env := make(map[string]string, len(h.ACP.Environment.Env)+len(s.Env))
	for name, value := range h.ACP.Environment.Env {
		env[name] = value
	}
	for name, value := range s.Env {
		env[name] = value
	}
	out.ACP.Environment.Env = env
	out.ACP.Environment.RemoveEnv = slices.Concat(h.ACP.Environment.RemoveEnv, s.RemoveEnv)
	out.Own.PassEnv = slices.Concat(h.Own.PassEnv, s.PassEnv)
	return &out
}

// anchor makes the first word of a command a bare name or an absolute path.
func anchor(word, dir string) (string, error) {
	if rest, ok := strings.CutPrefix(filepath.ToSlash(word), "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("resolving %s: %w", word, err)
		}
		return filepath.Join(home, filepath.FromSlash(rest)), nil
	}
	if filepath.IsAbs(word) || !strings.ContainsAny(word, `/`+string(filepath.Separator)) && filepath.VolumeName(word) == "" {
		return word, nil
	}
	if dir == "" || !filepath.IsAbs(dir) || filepath.VolumeName(word) != "" {
		return "", fmt.Errorf("the program %s is a relative path: give an absolute one, one that begins with ~/, or a name on PATH", quoted(word))
	}
	return filepath.Join(dir, word), nil
}

// Errors of SplitLine.
var (
	errOpenQuote  = errors.New("a quote is not closed")
	errOpenEscape = errors.New("it ends in a backslash")
)

// SplitLine splits a command line into words as a POSIX shell does, without
// expanding anything: pipes, redirections, variables, globs and comments are
// plain text. On Windows a backslash is an ordinary character, as it is in
// paths there, except before a double quote.
func SplitLine(goos, line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote byte // the quote that is open, or 0
	inWord := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == 0 && strings.IndexByte(" \t\r\n", c) >= 0:
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		case c == quote && quote != 0:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, inWord = c, true
		case c == '\\' && escapes(goos, quote, line[i+1:]):
			if i+1 == len(line) {
				return nil, errOpenEscape
			}
			i++
			if line[i] != '\n' { // an escaped line end joins lines
				word.WriteByte(line[i])
				inWord = true
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errOpenQuote
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// escapes reports whether a backslash before rest escapes.
func escapes(goos string, quote byte, rest string) bool {
	switch {
	case quote == '\'':
		return false
	case goos == "windows":
		return strings.HasPrefix(rest, `"`)
	case quote == '"':
		return rest == "" || strings.IndexByte("$`\"\\\n", rest[0]) >= 0
	default:
		return true
	}
}

// quoteLine is the reverse of SplitLine, for people.
func quoteLine(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w == "" || strings.ContainsAny(w, " \t\r\n\"'\\$`|&;<>()*?[]#~{}!") && !windowsPath(w) {
			b.WriteString("'" + strings.ReplaceAll(w, "'", `'\''`) + "'")
		} else {
			b.WriteString(w)
		}
	}
	return b.String()
}

func windowsPath(w string) bool {
	return runtime.GOOS == "windows" && !strings.ContainsAny(w, " \t\r\n\"'$`|&;<>()*?[]#{}!")
}
