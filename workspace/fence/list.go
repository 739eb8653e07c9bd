package fence

import "path/filepath"

// text is a base for people.
func (b *base) text() string {
	if b.glob == "" {
		return b.path
	}
	return filepath.Join(b.path, filepath.FromSlash(b.glob))
}

// List returns the effective fences in the order in which they are applied, for printing.
func (p *Policy) List() []Line {
	var out []Line
	for _, c := range p.allClosed() {
		access := "write"
		if c.reads {
			access = "read and write"
		}
		out = append(out, Line{c.kind, access, c.path, c.origin()})
	}
	add := func(kind Kind, access, why string, entries []string) {
		for _, e := range entries {
			out = append(out, Line{kind, access, e, why})
		}
	}
	add(Reserved, "write", "built in", builtinReserved())
	if p.rules.CI {
		add(Reserved, "write", "setting: continuous integration", ciReserved())
	}
	add(Reserved, "write", "setting", relativeOnly(p.rules.Reserved))
	add(Unreadable, "read and write", "built in", alwaysUnreadable())
	if p.rules.Unreadable == nil {
		add(Unreadable, "read and write", "default", relativeOnly(DefaultUnreadable()))
	} else {
		add(Unreadable, "read and write", "setting", relativeOnly(p.rules.Unreadable))
	}
	for i := range p.bases {
		if b := &p.bases[i]; b.writable {
			why := "setting"
			if len(p.rules.Region) == 0 {
				why = "folder of the session"
			}
			out = append(out, Line{Region, "write elsewhere", b.text(), why})
		}
	}
	return out
}

// origin says where a closed folder comes from.
func (v verdict) origin() string {
	if v.kind == Private {
		return "private project"
	}
	return v.why
}

// relativeOnly leaves out the entries that are listed as closed folders.
func relativeOnly(entries []string) []string {
	var out []string
	for _, e := range entries {
		if path, err := expandHome(e); err == nil && path == e && !filepath.IsAbs(path) {
			out = append(out, e)
		}
	}
	return out
}
