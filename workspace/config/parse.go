package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"
)

// maxSize of a file of configuration, in bytes. It also bounds how deep one can nest.
const maxSize = 256 << 10

// parse decodes a file into out, which holds the defaults. With an error among the
// problems, out must not be used.
func parse(file string, data []byte, rules func() (*schema, error), out any) (*source, []Problem, error) {
	src := &source{file: file, data: bytes.TrimPrefix(data, []byte("\uFEFF"))}
	if len(data) > maxSize {
		return src, []Problem{src.at(nil, false, fmt.Sprintf("is larger than %d KiB", maxSize>>10), "")}, nil
	}
	if len(bytes.TrimSpace(src.data)) == 0 {
		// A half-written file is empty for a moment: that must not mean "no fences".
		return src, []Problem{src.at(nil, false, "is empty", "write {} or delete the file")}, nil
	}
	tree, err := hujson.Parse(src.data)
	if err != nil {
		return src, []Problem{syntaxProblem(src, err)}, nil
	}
	src.tree = tree.Clone()
	tree.Standardize() // comments become blanks: every offset stays
	standard := tree.Pack()
	if p, bad := strict(src, standard); bad {
		return src, []Problem{p}, nil
	}
	s, err := rules()
	if err != nil {
		return src, nil, err
	}
	problems := s.check(src, standard)
	if errorsIn(problems) > 0 {
		return src, problems, nil
	}
	var semantic *json.SemanticError
	err = json.Unmarshal(standard, out)
	if errors.As(err, &semantic) && semantic.JSONPointer != "" {
		// To the schema 4.0 is an integer.
		p := src.at(pointer(semantic.JSONPointer), false, "must be written as "+semantic.GoType.String(), "")
		return src, append(problems, p), nil
	}
	if err != nil {
		return src, problems, fmt.Errorf("decoding %s, which its schema accepts: %w", file, err)
	}
	return src, problems, nil
}

// strict finds what comments-and-commas JSON lets pass: a name twice, invalid UTF-8.
func strict(src *source, standard []byte) (Problem, bool) {
	d := jsontext.NewDecoder(bytes.NewReader(standard))
	err := d.SkipValue()
	if err == nil {
		return Problem{}, false
	}
	p := src.at(nil, false, err.Error(), "")
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		p.Line, p.Column = position(src.data, int(syntax.ByteOffset))
		p.Message = syntax.Err.Error()
		path := pointer(syntax.JSONPointer)
		p.Field = fieldName(path)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			p.Message, p.Remedy = "stands here twice", "remove one"
			p.Line, p.Column = position(src.data, find(&src.tree, path, true))
		}
	}
	return p, true
}

func pointer(p jsontext.Pointer) []string { return slices.Collect(p.Tokens()) }

func syntaxProblem(src *source, err error) Problem {
	p := src.at(nil, false, "", "check the quotes, commas and braces there")
	text := err.Error()
	if n, _ := fmt.Sscanf(text, "hujson: line %d, column %d:", &p.Line, &p.Column); n == 2 {
		_, text, _ = strings.Cut(text, "column ")
		_, text, _ = strings.Cut(text, ": ")
	}
	p.Message = "not JSON: " + text
	return p
}
