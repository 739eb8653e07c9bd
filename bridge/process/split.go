package process

import (
	"fmt"
	"path/filepath"
	"strings"
)

// SplitError says that a command line cannot be split.
type SplitError struct {
	Offset int    // of the quote or backslash, in bytes from 0
	Reason string // such as "unterminated double quote"
}

func (e *SplitError) Error() string {
	return fmt.Sprintf("%s at character %d of the command line", e.Reason, e.Offset+1)
}

// Split takes a command line apart as a POSIX shell does, without running one:
// words, 'single' and "double" quotes, backslashes. Nothing is expanded, and
// what else has a meaning to a shell has none: a pipe is an argument like any
// other. The error is a *SplitError.
func Split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t', '\n', '\r':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		case '\'':
			n := strings.IndexByte(line[i+1:], '\'')
			if n < 0 {
				return nil, &SplitError{i, "unterminated single quote"}
			}
			word.WriteString(line[i+1 : i+1+n])
			inWord = true
			i += n + 1
		case '"':
			n, ok := unquoteDouble(line[i+1:], &word)
			if !ok {
				return nil, &SplitError{i, "unterminated double quote"}
			}
			inWord = true
			i += n
		case '\\':
			i++
			if i == len(line) {
				return nil, &SplitError{i - 1, "nothing after a backslash"}
			}
			if line[i] != '\n' { // with a line break it is nothing at all
				word.WriteByte(line[i])
				inWord = true
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// unquoteDouble writes what stands before the closing quote, and returns the
// length with it.
func unquoteDouble(s string, word *strings.Builder) (int, bool) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '"' {
			return i + 1, true
		}
		if c == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '"', '\\', '$', '`':
				i++
				c = s[i]
			case '\n':
				i++
				continue
			}
		}
		word.WriteByte(c)
	}
	return 0, false
}

// cmdSyntax are the characters by which an argument speaks to cmd.exe.
const cmdSyntax = "&|<>^%\r\n"

// CheckBatch refuses arguments with a meaning to cmd.exe where path is a batch
// file (.cmd, .bat), which Windows runs through it: no quoting holds there.
func CheckBatch(path string, args []string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".cmd", ".bat":
	default:
		return nil
	}
	for _, arg := range args {
		if i := strings.IndexAny(arg, cmdSyntax); i >= 0 {
			return fmt.Errorf("argument %q cannot be passed to %s: %q has a meaning to cmd.exe", arg, path, arg[i])
		}
	}
	return nil
}
