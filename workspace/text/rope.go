package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// rope is a text in leaves of about a kilobyte, and those in blocks, each with
// counts of what it holds: two short scans and one leaf find any place and
// change it. Two levels are enough: a gigabyte is some thousand blocks.
//
// No leaf ends inside a rune or between "\r" and "\n", so that counts of leaves
// add up to counts of the text. There is always a block, and a leaf in each;
// only the leaf of an empty text is empty.
type rope struct {
	blocks []block
	total  counts
	limits ropeLimits
}

// ropeLimits are the sizes of the parts of a rope.
type ropeLimits struct {
	leaf  int // bytes in a leaf at most; default 2048
	block int // leaves in a block at most; default 256
}

type block struct {
	leaves []leaf
	counts counts
}

type leaf struct {
	text   string
	counts [measures]int32
}

// counts is how much of each measure a stretch of text holds.
type counts [measures]int

// measure is a way to count along a text.
type measure int

const (
	byBytes measure = iota
	byBreaks
	byUTF16
	byRunes
	measures
)

func (e Encoding) measure() measure {
	switch e {
	case UTF8:
		return byBytes
	case UTF32:
		return byRunes
	default:
		return byUTF16
	}
}

func (c *counts) add(l *leaf) {
	for i, n := range l.counts {
		c[i] += int(n)
	}
}

func (c *counts) plus(d *counts) {
	for i, n := range d {
		c[i] += n
	}
}

func (c *counts) minus(d *counts) {
	for i, n := range d {
		c[i] -= n
	}
}

func newLeaf(text string) leaf {
	l := leaf{text: text}
	l.counts[byBytes] = int32(len(text))
	l.counts[byBreaks] = int32(countBreaks(text))
	runes := utf8.RuneCountInString(text)
	l.counts[byRunes] = int32(runes)
	if runes != len(text) {
		runes += wide(text)
	}
	l.counts[byUTF16] = int32(runes)
	return l
}

// countBreaks counts the line endings of s as LSP does.
func countBreaks(s string) int {
	n := strings.Count(s, "\n")
	if strings.IndexByte(s, '\r') >= 0 {
		n += strings.Count(s, "\r") - strings.Count(s, "\r\n")
	}
	return n
}

// units counts the units of the first n bytes of l.
func (l *leaf) units(n int, enc Encoding) int {
	if int(l.counts[enc.measure()]) == len(l.text) {
		return n // one unit a byte
	}
	return enc.units(l.text[:n])
}

// prefix is [Encoding.prefix] of the text of l.
func (l *leaf) prefix(n int, enc Encoding) int {
	if enc != UTF8 && int(l.counts[enc.measure()]) == len(l.text) {
		return min(n, len(l.text))
	}
	return enc.prefix(l.text, n)
}

func newRope(s string, limits ropeLimits) *rope {
	if limits.leaf == 0 {
		limits.leaf = 2048
	}
	if limits.block == 0 {
		limits.block = 256
	}
	r := &rope{limits: limits}
	leaves := r.cut(s)
	if len(leaves) == 0 {
		leaves = []leaf{newLeaf("")}
	}
	r.blocks = r.group(leaves)
	for i := range r.blocks {
		r.total.plus(&r.blocks[i].counts)
	}
	return r
}

// cut makes leaves of s, half full each. They do not share its memory, which
// would keep all of it alive for as long as one leaf is.
func (r *rope) cut(s string) []leaf {
	if s == "" {
		return nil
	}
	size := max(r.limits.leaf/2, utf8.UTFMax+1)
	leaves := make([]leaf, 0, len(s)/size+1)
	for len(s) > r.limits.leaf {
		n := size
		for n > size-utf8.UTFMax && !whole(s, n) {
			n--
		}
		leaves = append(leaves, newLeaf(strings.Clone(s[:n])))
		s = s[n:]
	}
	return append(leaves, newLeaf(strings.Clone(s)))
}

// group makes blocks of leaves, of which there is at least one.
func (r *rope) group(leaves []leaf) []block {
	size := r.limits.block
	if len(leaves) > size {
		size /= 2
	}
	blocks := make([]block, 0, len(leaves)/size+1)
	for part := range slices.Chunk(leaves, size) {
		b := block{leaves: slices.Clone(part)}
		for i := range part {
			b.counts.add(&part[i])
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// String puts the text together.
func (r *rope) String() string {
	var b strings.Builder
	b.Grow(r.total[byBytes])
	for _, k := range r.blocks {
		for i := range k.leaves {
			b.WriteString(k.leaves[i].text)
		}
	}
	return b.String()
}
