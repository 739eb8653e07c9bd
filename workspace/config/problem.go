package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Problem is something wrong in a file of configuration.
type Problem struct {
	// File is its absolute path.
	File string
	// Line and Column count from 1; the column counts characters. Both are 0 for a problem
	// of the file as a whole.
	Line, Column int
	// Field as fences.region[2]; empty for the file as a whole.
	Field string
	// Message says what is wrong, in lower case and without a full stop.
	Message string
	// Remedy says what to do; may be empty.
	Remedy string
	// Warning: the file can be used all the same.
	Warning bool
}

// String is "FILE:LINE:COLUMN: FIELD: MESSAGE; REMEDY".
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.Warning {
		b.WriteString("warning: ")
	}
	if p.Field != "" {
		b.WriteString(p.Field + ": ")
	}
	b.WriteString(p.Message)
	if p.Remedy != "" {
		b.WriteString("; " + p.Remedy)
	}
	return b.String()
}

// errorsIn counts the problems that are not warnings.
func errorsIn(problems []Problem) int {
	n := 0
	for _, p := range problems {
		if !p.Warning {
			n++
		}
	}
	return n
}

// source is a parsed file, kept to say where in it a field is.
type source struct {
	file string
	data []byte // without BOM
	tree hujson.Value
}

// at makes a problem of the value at path, or of the key of path's last part.
func (s *source) at(path []string, key bool, message, remedy string) Problem {
	p := Problem{File: s.file, Field: fieldName(path), Message: message, Remedy: remedy}
	if s.tree.Value == nil {
		return p
	}
	p.Line, p.Column = position(s.data, find(&s.tree, path, key))
	return p
}

// find gives the byte offset of the value at path, or of its key: the last one if there are
// two, that of the nearest value above if there is none.
func find(v *hujson.Value, path []string, key bool) int {
	for i, part := range path {
		var next *hujson.Value
		switch c := v.Value.(type) {
		case *hujson.Object:
			for m := range c.Members {
				name := &c.Members[m].Name
				if lit, ok := name.Value.(hujson.Literal); !ok || lit.String() != part {
					continue
				}
				next = &c.Members[m].Value
				if key && i == len(path)-1 {
					next = name
				}
			}
		case *hujson.Array:
			if n, err := strconv.Atoi(part); err == nil && n >= 0 && n < len(c.Elements) {
				next = &c.Elements[n]
			}
		}
		if next == nil {
			return v.StartOffset
		}
		v = next
	}
	return v.StartOffset
}

func position(data []byte, offset int) (line, column int) {
	offset = min(max(offset, 0), len(data))
	before := string(data[:offset])
	start := strings.LastIndexByte(before, '\n') + 1
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[start:])
}

func fieldName(path []string) string {
	var b strings.Builder
	for _, part := range path {
		_, err := strconv.Atoi(part)
		plain := !strings.ContainsFunc(part, func(r rune) bool { return r <= ' ' || r == '.' || r > '~' })
		switch {
		case err == nil:
			b.WriteString("[" + part + "]")
		case !plain || part == "":
			b.WriteString("[" + strconv.Quote(part) + "]")
		case b.Len() > 0:
			b.WriteString("." + part)
		default:
			b.WriteString(part)
		}
	}
	return b.String()
}
