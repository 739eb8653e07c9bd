package rpc

import "bytes"

// indexDepth is how deep members are indexed: params and what is directly in it.
const indexDepth = 3

// index notes where the upper members of params are, as the scanner passes them
// anyway: to find one later in a large message would cost a third of the scan.
type index struct {
	data    []byte
	members [24]member
	n       int
	full    bool // there are more
}

// member is one of them, by offsets into data; the key with its quotes.
type member struct{ depth, key, keyEnd, value, end int }

func (x *index) reset(data []byte) { x.data, x.n, x.full = data, 0, false }

func (x *index) add(m member) {
	if x.n == len(x.members) {
		x.full = true
		return
	}
	x.members[x.n] = m
	x.n++
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

// find looks for the last member of a name and depth between two offsets.
func (x *index) find(name string, depth, from, to int) (value []byte, start, end int, ok bool) {
	for i := x.n - 1; i >= 0; i-- {
		m := &x.members[i]
		if m.depth == depth && m.value >= from && m.end <= to && keyIs(x.data[m.key:m.keyEnd], name) {
			return x.data[m.value:m.end], m.value, m.end, true
		}
	}
	return nil, 0, 0, false
}

// keyIs reports whether a key in quotes means name.
func keyIs(key []byte, name string) bool {
	if string(key[1:len(key)-1]) == name {
		return true
	}
	if bytes.IndexByte(key, '\\') < 0 {
		return false
	}
	s, err := Unquote(key)
	return err == nil && s == name
}
