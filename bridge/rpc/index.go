package rpc

import (
	"bytes"
	"math"
)

const (
	// indexDepth is how deep members are indexed: params and what is directly in it.
	indexDepth = 3
	// elementDepth is the depth of members of the objects in the arrays directly
	// in that: in those of an update's content, say.
	elementDepth = indexDepth + 2
	// maxElements leaves room for upper members that come later.
	maxElements = 40
)

// index notes where the upper members of params are, as the scanner passes them
// anyway: to find one later in a large message would cost a third of the scan.
type index struct {
	data    []byte
	members [maxElements + 24]member
	n       int
	full    bool // there are more
	some    bool // there are more in elements
	escapes bool // some names have escapes
}

// member is one of them, by offsets into data: in is where its object begins,
// the key has its quotes.
type member struct{ depth, in, key, keyEnd, value, end int32 }

func (x *index) reset(data []byte) {
	x.data, x.n, x.full, x.some, x.escapes = data, 0, len(data) > math.MaxInt32, false, false
}

func (x *index) add(depth, in, key, keyEnd, value, end int) {
	switch {
	case x.n < maxElements:
	case depth == elementDepth:
		x.some = true
		return
	case x.n == len(x.members):
		x.full = true
		return
	}
	m := &x.members[x.n]
	m.depth, m.in, m.key, m.keyEnd, m.value, m.end = int32(depth), int32(in), int32(key), int32(keyEnd), int32(value), int32(end)
	x.n++
	x.escapes = x.escapes || bytes.IndexByte(x.data[key:keyEnd], '\\') >= 0
}

// shift moves what stands at or behind an offset.
func (x *index) shift(from, by int) {
	for i := range x.members[:x.n] {
		m := &x.members[i]
		for _, at := range []*int32{&m.in, &m.key, &m.keyEnd, &m.value, &m.end} {
			if int(*at) >= from {
				*at += int32(by)
			}
		}
	}
}

// Param returns the member of m.Params that path leads to, through objects only,
// borrowed, and whether it is there. Of two with one name the last counts. The
// first two steps of a path cost next to nothing, whatever the size of params.
func (m *Message) Param(path ...string) (value []byte, ok bool) {
	value = m.Params
	if m.index == nil || m.index.full {
		for _, name := range path {
			if value, ok = Member(value, name); !ok {
				return nil, false
			}
		}
		return value, ok
	}
	from, to := 0, len(m.index.data)
	for i, name := range path {
		depth := i + 2
		if depth > indexDepth {
			value, ok = Member(value, name)
		} else {
			value, from, to, ok = m.index.find(name, depth, from, to)
		}
		if !ok {
			return nil, false
		}
	}
	return value, ok
}

// EachParam calls fn with each member of the object that path leads to in
// m.Params, borrowed, as Members does. With a path of one step at the most it
// costs next to nothing, whatever the size.
func (m *Message) EachParam(fn func(key, value []byte) bool, path ...string) error {
	value, ok := m.Param(path...)
	if !ok || m.index == nil || m.index.full || len(path) > indexDepth-2 {
		return Members(value, fn)
	}
	if len(value) == 0 || value[0] != '{' {
		return errSyntax
	}
	x := m.index
	from, depth := int32(x.offset(value)), int32(len(path)+2)
	for i := range x.members[:x.n] {
		e := &x.members[i]
		if e.depth != depth || e.in != from {
			continue
		}
		key, err := unquoteKey(x.data[e.key:e.keyEnd])
		if err != nil {
			return err
		}
		if !fn(key, x.data[e.value:e.end]) {
			break
		}
	}
	return nil
}

// EachElement calls fn with the member called name of each object in the array
// that path leads to in m.Params, borrowed. Of two in one object the last counts.
// What is no array has no elements, and what is no object no members. With a
// path of two steps it costs next to nothing, unless there are many elements.
func (m *Message) EachElement(name string, fn func(value []byte), path ...string) {
	array, ok := m.Param(path...)
	if !ok || len(array) == 0 || array[0] != '[' {
		return
	}
	if m.index == nil || m.index.full || m.index.some || len(path)+1 != indexDepth {
		eachElement(array, func(element []byte) {
			if value, ok := Member(element, name); ok {
				fn(value)
			}
		})
		return
	}
	x := m.index
	from := int32(x.offset(array))
	to := from + int32(len(array))
	var last *member
	for i := range x.members[:x.n] {
		e := &x.members[i]
		if e.depth != elementDepth || e.in < from || e.end > to || !x.named(e, name) {
			continue
		}
		if last != nil && last.in != e.in {
			fn(x.data[last.value:last.end])
		}
		last = e
	}
	if last != nil {
		fn(x.data[last.value:last.end])
	}
}

// offset is where in data a part of it begins.
func (x *index) offset(part []byte) int { return cap(x.data) - cap(part) }

// find looks for the last member of a name and depth between two offsets.
func (x *index) find(name string, depth, from, to int) (value []byte, start, end int, ok bool) {
	for i := x.n - 1; i >= 0; i-- {
		m := &x.members[i]
		if int(m.depth) == depth && int(m.value) >= from && int(m.end) <= to && x.named(m, name) {
			return x.data[m.value:m.end], int(m.value), int(m.end), true
		}
	}
	return nil, 0, 0, false
}

// named reports whether a member's name is name.
func (x *index) named(m *member, name string) bool {
	return string(x.data[m.key+1:m.keyEnd-1]) == name || x.escapes && isQuoted(x.data[m.key:m.keyEnd], name)
}

func isQuoted(key []byte, name string) bool {
	s, err := Unquote(key)
	return err == nil && s == name
}
