package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a manifest. A real one has a few kilobytes and is six deep.
const (
	MaxSize   = 1 << 20 // bytes
	maxDepth  = 32      // levels
	maxValues = 10000   // values, so that reporting on a hostile file stays cheap
)

// node is one JSON value with its place in the file. The tree exists so that
// every problem has a line, and so that what is ignored can be taken out
// before the rest is decoded.
type node struct {
	kind    jsontext.Kind
	start   int    // byte offset of the value
	name    string // member name, when in an object
	named   int    // byte offset of the member name
	text    string // the string, or the number as written
	kids    []*node
	index   map[string]*node // of kids by name, made when first asked of a large object
	dropped bool
}

// place is a byte offset with the JSON pointer of what is there.
type place struct {
	offset int
	field  string
}

// document is a parsed file.
type document struct {
	data []byte
	root *node
	size int // values in the tree
}

// parseTree reads data, which must be one JSON value of at most maxDepth
// levels with unique names. The error is a *treeError.
func parseTree(data []byte) (*document, error) {
	d := &document{data: data}
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	var open []*node // containers that are not closed yet
	var name string
	var named int
	for {
		start := skipBlank(data, int(dec.InputOffset()))
		tok, err := dec.ReadToken()
		if errors.Is(err, io.EOF) && d.root != nil && len(open) == 0 {
			return d, nil
		}
		if err != nil {
			return nil, newTreeError(data, start, err)
		}
		kind := tok.Kind()
		if kind == '}' || kind == ']' {
			open = open[:len(open)-1]
			continue
		}
		if d.root != nil && len(open) == 0 {
			return nil, &treeError{offset: start, code: "syntax", message: "there is text after the end of the manifest", remedy: "remove it"}
		}
		if n := len(open); n > 0 && open[n-1].kind == '{' && named == 0 {
			name, named = tok.String(), start
			continue
		}
		if d.size++; d.size > maxValues {
			return nil, &treeError{offset: start, code: "too-large",
				message: fmt.Sprintf("the manifest has more than %d values", maxValues), remedy: "remove values; a manifest has a few hundred"}
		}
		v := &node{kind: kind, start: start, name: name, named: named}
		name, named = "", 0
		if kind == '"' || kind == '0' {
			v.text = tok.String()
		}
		if n := len(open); n > 0 {
			open[n-1].kids = append(open[n-1].kids, v)
		} else {
			d.root = v
		}
		if kind == '{' || kind == '[' {
			if open = append(open, v); len(open) > maxDepth {
				return nil, &treeError{offset: start, code: "too-deep",
					message: fmt.Sprintf("the manifest is more than %d levels deep", maxDepth), remedy: "remove levels; the format has eight"}
			}
		}
	}
}

// skipBlank moves from the end of one token to the start of the next.
func skipBlank(data []byte, at int) int {
	for at < len(data) && strings.IndexByte(" \t\r\n,:", data[at]) >= 0 {
		at++
	}
	return at
}

// find walks down from the root; ok is false when there is nothing there.
// The node returned is then the last one that exists.
func (d *document) find(path []string) (n *node, ok bool) {
	n = d.root
	for _, step := range path {
		next := n.kid(step)
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}

func (n *node) kid(step string) *node {
	if n.kind == '[' {
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.kids) {
			return n.kids[i]
		}
		return nil
	}
	const few = 16
	if len(n.kids) > few {
		if n.index == nil {
			n.index = make(map[string]*node, len(n.kids))
			for _, k := range n.kids {
				n.index[k.name] = k
			}
		}
		return n.index[step]
	}
	for _, k := range n.kids {
		if k.name == step {
			return k
		}
	}
	return nil
}

// at is the place of a path. A path that does not exist is placed at the
// deepest part of it that does. atName places it at the member's name.
func (d *document) at(path []string, atName bool) place {
	n, ok := d.find(path)
	offset := n.start
	if ok && atName && n.named > 0 {
		offset = n.named
	}
	return place{offset: offset, field: pointer(path)}
}

// lineOf turns a byte offset into a line and a column, both 1-based.
func lineOf(data []byte, offset int) (line, column int) {
	before := data[:min(max(offset, 0), len(data))]
	last := bytes.LastIndexByte(before, '\n')
	return 1 + bytes.Count(before, []byte{'\n'}), 1 + utf8.RuneCount(before[last+1:])
}

func pointer(path []string) string {
	var p jsontext.Pointer
	for _, step := range path {
		p = p.AppendToken(step)
	}
	return string(p)
}

// value is the tree as the schema library wants it. Numbers out of the range
// of a float64 become its ends: nothing in a manifest is a large number, and
// exact ones of a million digits would cost memory.
func (n *node) value() any {
	switch n.kind {
	case '{':
		m := make(map[string]any, len(n.kids))
		for _, k := range n.kids {
			m[k.name] = k.value()
		}
		return m
	case '[':
		a := make([]any, len(n.kids))
		for i, k := range n.kids {
			a[i] = k.value()
		}
		return a
	case '"':
		return n.text
	case '0':
		f, _ := strconv.ParseFloat(n.text, 64)
		return min(max(f, -math.MaxFloat64), math.MaxFloat64)
	case 't', 'f':
		return n.kind == 't'
	default: // null
		return nil
	}
}

// appendJSON writes the tree without what was dropped.
func (n *node) appendJSON(b []byte) []byte {
	switch n.kind {
	case '{', '[':
		b = append(b, byte(n.kind))
		first := true
		for _, k := range n.kids {
			if k.dropped {
				continue
			}
			if !first {
				b = append(b, ',')
			}
			first = false
			if n.kind == '{' {
				b = append(appendQuoted(b, k.name), ':')
			}
			b = k.appendJSON(b)
		}
		return append(b, byte(n.kind)+2) // '}' is '{'+2 and ']' is '['+2
	case '"':
		return appendQuoted(b, n.text)
	case '0':
		return append(b, n.text...)
	case 't':
		return append(b, "true"...)
	case 'f':
		return append(b, "false"...)
	default:
		return append(b, "null"...)
	}
}

// appendQuoted cannot fail: the text came out of a decoder that refuses
// invalid UTF-8.
func appendQuoted(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

// treeError is a file that is no JSON that we read.
type treeError struct {
	offset                int
	code, message, remedy string
}

func (e *treeError) Error() string { return e.message }

func newTreeError(data []byte, start int, err error) *treeError {
	e := &treeError{offset: start, code: "syntax", message: "this is not JSON", remedy: "mend the JSON at this place"}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		e.offset = int(syntax.ByteOffset)
		e.message = "this is not JSON: " + visible(syntax.Err.Error())
	}
	at := min(e.offset, len(data))
	rest := bytes.TrimLeft(data[at:], " \t\r\n,")
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		e.code, e.message = "duplicate-field", fmt.Sprintf("the field %s is given twice", quoted(syntax.JSONPointer.LastToken()))
		e.remedy = "keep one of the two"
		e.offset = skipBlank(data, e.offset)
	case len(bytes.TrimSpace(data)) == 0:
		e.message, e.remedy = "the file is empty", "write a manifest"
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		e.message, e.remedy = "the file ends in the middle", "write the rest of it"
	case bytes.HasPrefix(rest, []byte("/")):
		e.remedy = "remove the comment: this format has none"
	case bytes.HasPrefix(rest, []byte("]")) || bytes.HasPrefix(rest, []byte("}")):
		e.remedy = "remove the comma before it"
	case bytes.HasPrefix(rest, []byte("'")):
		e.remedy = "use double quotes"
	case !utf8.Valid(data):
		e.code, e.remedy = "encoding", "save the file as UTF-8"
	}
	return e
}
