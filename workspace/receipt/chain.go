package receipt

import (
	"fmt"
	"path/filepath"
	"slices"
	"sort"
)

// check finds what is wrong between the lines: receipts in the wrong place, receipts that are gone or too many, and such as were
// altered and given a new hash. known says whether the head could be read.
func check(c *Checked, links []link, known bool) {
	number(c, links)
	for _, k := range links {
		if k.fault == "" {
			c.Receipts++
		} else {
			c.add(Finding{What: Edited, File: k.file, Line: k.line, Seq: k.seq, Turn: k.turn, Why: k.fault})
		}
	}
	placed := inserted(c, links)
	placed = reordered(c, placed)
	dropped(c, links, placed, known)
	rehashed(c, placed)
	slices.SortStableFunc(c.Findings, func(a, b Finding) int {
		switch {
		case a.File < b.File:
			return -1
		case a.File > b.File:
			return 1
		default:
			return a.Line - b.Line
		}
	})
}

// number gives lines that are no receipts any more the number that they must have had, where one is missing just there.
func number(c *Checked, links []link) {
	for i := range links {
		if links[i].seq > 0 {
			continue
		}
		var before int64
		if i > 0 {
			before = links[i-1].seq
		}
		after := c.lastHead.Count + 1
		if i+1 < len(links) {
			after = links[i+1].seq
		}
		if (before > 0 || i == 0) && after == before+2 {
			links[i].seq = before + 1
		}
	}
}

// inserted gives the receipts of which there is one for each number: of several, that which the next one names.
func inserted(c *Checked, links []link) []link {
	count := map[int64]int{}
	names := map[int64]string{c.lastHead.Count: c.lastHead.Hash} // the hash of a number, as others have it
	for _, k := range links {
		if k.seq > 0 {
			count[k.seq]++
		}
		if k.fault == "" && k.seq > 1 {
			names[k.seq-1] = k.previous
		}
	}
	genuine := map[int64]int{} // the line's index
	for i, k := range links {
		if count[k.seq] < 2 {
			continue
		}
		if j, ok := genuine[k.seq]; !ok || merit(links, i, names[k.seq]) > merit(links, j, names[k.seq]) {
			genuine[k.seq] = i
		}
	}
	var out []link
	for i, k := range links {
		switch {
		case k.seq == 0:
		case count[k.seq] > 1 && genuine[k.seq] != i:
			c.add(Finding{What: Inserted, File: k.file, Line: k.line, Seq: k.seq, Turn: k.turn, Why: "another receipt has this number, and its place"})
		default:
			out = append(out, k)
		}
	}
	return out
}

// merit is how likely a line is the genuine one of its number, which others say has this hash.
func merit(links []link, i int, hash string) int {
	k, n := links[i], 0
	if k.fault == "" {
		n += 8
	}
	if k.hash == hash {
		n += 4
	}
	if i == 0 && k.seq == 1 || i > 0 && links[i-1].seq == k.seq-1 {
		n++
	}
	if i+1 < len(links) && links[i+1].seq == k.seq+1 {
		n++
	}
	return n
}

// reordered finds the fewest receipts whose removal leaves the numbers rising, and gives all by number.
func reordered(c *Checked, links []link) []link {
	var tails []int // tails[n]: where the rising row of n+1 numbers with the least last one ends
	before := make([]int, len(links))
	for i, k := range links {
		n := sort.Search(len(tails), func(n int) bool { return links[tails[n]].seq >= k.seq })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	rising := make([]bool, len(links))
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = before[i] {
			rising[i] = true
		}
	}
	for i, k := range links {
		if !rising[i] {
			c.add(Finding{What: Reordered, File: k.file, Line: k.line, Seq: k.seq, Turn: k.turn, Why: "is not in its place: numbers rise from line to line"})
		}
	}
	out := slices.Clone(links)
	slices.SortStableFunc(out, func(a, b link) int {
		switch {
		case a.seq < b.seq:
			return -1
		case a.seq > b.seq:
			return 1
		default:
			return 0
		}
	})
	return out
}

// dropped finds numbers that are missing. Lines that are no receipts any more stand for as many of those: they are findings already.
func dropped(c *Checked, all, placed []link, known bool) {
	nameless := 0
	for _, k := range all {
		if k.seq == 0 {
			nameless++
		}
	}
	gap := func(first, last int64, at link) {
		if n := last - first + 1; n <= int64(nameless) {
			nameless -= int(n)
			return
		}
		c.add(Finding{What: Dropped, File: at.file, Line: at.line, Seq: first, Last: last, Why: fmt.Sprintf("%s gone", are(last-first+1))})
	}
	next := int64(1)
	var at link
	for _, k := range placed {
		at = k
		if k.seq > next {
			gap(next, k.seq-1, k)
		}
		next = k.seq + 1
	}
	h := c.lastHead
	switch {
	case h.Count >= next:
		if at.file != "" {
			at.line++
		}
		gap(next, h.Count, at)
	case !known:
	case h.Count == 0 && next > 2:
		c.add(Finding{What: BadHead, File: filepath.Join(filepath.Dir(at.file), headFile), Line: 1, Why: "is missing: whether the last receipts are there cannot be told"})
	default:
		if c.Behind = int(next - 1 - h.Count); c.Behind > 1 {
			c.add(Finding{What: Inserted, File: at.file, Line: at.line, Seq: h.Count + 1, Last: next - 1, Why: "the head does not know " + them(next-1-h.Count)})
		}
	}
}

func are(n int64) string {
	if n == 1 {
		return "it is"
	}
	return fmt.Sprintf("%d receipts are", n)
}

func them(n int64) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// rehashed finds receipts that were altered and given a new hash: the next one, or the head, names another. If what is before and
// what is after a receipt both do not fit it, it is this one that was altered, and not its neighbours.
func rehashed(c *Checked, placed []link) {
	row := append([]link{{}}, placed...) // the first names none before it
	if c.lastHead.Count > 0 {
		row = append(row, link{seq: c.lastHead.Count + 1, previous: c.lastHead.Hash})
	}
	breaks := func(i int) bool { // between i and i+1
		if i < 0 || i+1 >= len(row) {
			return false
		}
		a, b := row[i], row[i+1]
		return a.fault == "" && b.fault == "" && b.seq == a.seq+1 && b.previous != a.hash
	}
	disowned := func(i int) bool { // by what comes after it
		return breaks(i) || row[i].fault == "" && row[i].seq > 0 && row[i].seq == c.lastHead.Count && row[i].hash != c.lastHead.Hash
	}
	for i := 1; i <= len(placed); i++ {
		k := row[i]
		nextToBlame := i+1 <= len(placed) && breaks(i) && disowned(i+1)
		if disowned(i) && (breaks(i-1) || !nextToBlame) || breaks(i-1) && i == 1 {
			c.add(Finding{What: Edited, File: k.file, Line: k.line, Seq: k.seq, Turn: k.turn, Why: "was altered and given a new hash: its neighbours name another"})
		}
	}
}
