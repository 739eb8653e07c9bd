package harness

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Parse reads one manifest from outside. name is its file, for messages; the
// harnesses of the result have Origin Installed.
//
// Problems come in the order of the file, at most 101. One alone costs the
// least that is safe: an unknown field is ignored, a wrong one in a harness
// skips that harness, a wrong optional one elsewhere is ignored; only what
// leaves no manifest (no JSON, another format, no id) refuses it, and then the
// manifest is nil and the error says why. A byte order mark is accepted and
// reported. Two equal calls give equal results.
func Parse(name string, data []byte) (*Manifest, []Problem, error) {
	return parse(name, data, Installed)
}

func parse(name string, data []byte, origin Origin) (*Manifest, []Problem, error) {
	ps := &problems{file: name, data: data}
	d, ok := ps.read(data)
	if !ok {
		list := ps.done()
		return nil, list, refused(list)
	}
	r, err := compiled()
	if err != nil {
		return nil, nil, err
	}
	found, err := r.check(d)
	if err != nil {
		return nil, nil, fmt.Errorf("reading manifest %s: %w", name, err)
	}
	ps.judge(d, found)
	list := ps.done()
	if err := refused(list); err != nil {
		return nil, list, err
	}
	m, err := decode(name, d.root.appendJSON(nil), origin)
	if err != nil {
		return nil, list, err
	}
	if m.Name == "" {
		m.Name = m.ID
	}
	ps.review(d, m)
	return m, ps.done(), nil
}

// read turns bytes into a tree, or adds the problem that refuses them.
func (ps *problems) read(data []byte) (*document, bool) {
	fatal := func(offset int, code, message, remedy string) {
		ps.add(place{offset: offset}, Problem{Code: code, Message: message, Remedy: remedy, Severity: Error, Consequence: Refused})
	}
	if len(data) > MaxSize {
		fatal(0, "too-large", fmt.Sprintf("the manifest has %d bytes, more than %d", len(data), MaxSize), "make it smaller; a manifest has a few kilobytes")
		return nil, false
	}
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		fatal(0, "encoding", "the file is UTF-16 (it begins with its byte order mark, BOM)", "save the file as UTF-8")
		return nil, false
	}
	body, marked := bytes.CutPrefix(data, []byte("\ufeff"))
	if marked {
		ps.add(place{}, Problem{Code: "bom", Message: "the file begins with a byte order mark (BOM)",
			Remedy: "save the file as UTF-8 without BOM; other readers of JSON refuse it", Severity: Warning, Consequence: Ignored})
		ps.data = body // lines and columns are those that an editor shows
	}
	d, err := parseTree(body)
	var bad *treeError
	if errors.As(err, &bad) {
		fatal(bad.offset, bad.code, bad.message, bad.remedy)
		return nil, false
	}
	if d.root.kind != '{' {
		fatal(d.root.start, "wrong-type", "the manifest is not an object", `begin it with {"$schema": "`+FormatURL+`"`)
		return nil, false
	}
	return d, true
}

// judge turns findings into problems with their consequence, and drops from
// the tree what is not to be decoded.
func (ps *problems) judge(d *document, found []finding) {
	for _, f := range found {
		p := f.Problem
		p.Severity, p.Consequence = Error, consequenceOf(f)
		if f.unknown || f.missing && p.Consequence == Ignored {
			p.Severity = Warning
		}
		ps.add(d.at(f.path, f.unknown), p)
		switch p.Consequence {
		case Skipped:
			d.drop(f.path[:3])
		case Ignored:
			if f.unknown {
				d.drop(f.path)
			} else if !f.missing && len(f.path) > 0 {
				d.drop(f.path[:1])
			}
		}
	}
	ps.undescribed(d)
}

// consequenceOf is the narrowest consequence of a violation.
func consequenceOf(f finding) Consequence {
	switch {
	case f.unknown:
		return Ignored
	case len(f.path) >= 3 && f.path[0] == "contributes" && f.path[1] == "harnesses":
		return Skipped
	case len(f.path) == 0 || f.path[0] == "id" || f.path[0] == "contributes":
		return Refused
	case f.path[0] == "$schema" && !f.missing:
		return Refused // another format: its fields may mean something else
	case len(f.path) == 2 && f.path[0] == "escouade" && f.path[1] == "api":
		return Refused // another protocol
	default:
		return Ignored
	}
}

// undescribed drops harnesses that are not described over ACP: they need the
// code of their plugin, which is not run here.
func (ps *problems) undescribed(d *document) {
	all, ok := d.find([]string{"contributes", "harnesses"})
	if !ok || all.kind != '[' {
		return
	}
	for i, h := range all.kids {
		if h.kind != '{' || h.dropped || h.kid("acp") != nil {
			continue
		}
		h.dropped = true
		ps.add(d.at([]string{"contributes", "harnesses", strconv.Itoa(i)}, false), Problem{
			Code: "not-described", Message: "the harness has no acp object: it works by its plugin's own code, which is not run here",
			Remedy: "describe it with an acp object, if it speaks ACP", Severity: Warning, Consequence: Skipped,
		})
	}
}

func (d *document) drop(path []string) {
	if n, ok := d.find(path); ok {
		n.dropped = true
	}
}

// decode reads a manifest that is known to have the right shape.
func decode(name string, data []byte, origin Origin) (*Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("reading manifest %s: %w", name, err)
	}
	for _, h := range m.Contributes.Harnesses {
		h.From = From{Origin: origin, Plugin: m.ID, Version: m.Version, File: name}
	}
	return &m, nil
}

// UnmarshalJSONFrom fills in the defaults that are not zero values.
func (h *Harness) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain Harness
	p := plain{ACP: ACP{FS: true}, Program: ProgramSpec{VersionArgs: []string{"--version"}}}
	if err := json.UnmarshalDecode(dec, &p); err != nil {
		return fmt.Errorf("reading a harness: %w", err)
	}
	*h = Harness(p)
	h.Speaker, h.Writer = orElse(h.Speaker, h.Name), orElse(h.Writer, h.Name)
	for i := range h.Models {
		h.Models[i].Label = orElse(h.Models[i].Label, h.Models[i].ID)
	}
	return nil
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
