package text

// maxEdits bounds the number of edits that the search looks for from each end
// of one box. A box that needs more is cut at the furthest point reached, which
// costs minimality there and keeps the time per element bounded.
const maxEdits = 2048

// compare returns the stretches in which a and b differ, as spans of indexes.
// Elements are numbers below kinds; equal numbers are equal elements. budget is
// reduced by the steps taken; when it is spent the rest differs.
//
// The search is E. W. Myers, "An O(ND) Difference Algorithm and Its
// Variations" (1986), in its linear-space form. Elements that only one side
// has can match nothing and are left out of it, which also takes most of the
// cost of two unrelated texts away.
func compare(a, b []int32, kinds int, budget *int) []span {
	inA, inB := make([]bool, kinds), make([]bool, kinds)
	for _, x := range a {
		inA[x] = true
	}
	for _, x := range b {
		inB[x] = true
	}
	left, right := newSide(a, inB), newSide(b, inA)
	s := search{a: left, b: right, budget: *budget}
	s.box(0, len(left.seq), 0, len(right.seq))
	*budget = s.budget

	var spans []span
	for i, j := 0, 0; i < len(a) || j < len(b); {
		d := span{a0: i, b0: j}
		for i < len(a) && left.differs[i] {
			i++
		}
		for j < len(b) && right.differs[j] {
			j++
		}
		if d.a1, d.b1 = i, j; d.size() > 0 {
			spans = append(spans, d)
		}
		for i < len(a) && j < len(b) && !left.differs[i] && !right.differs[j] {
			i, j = i+1, j+1
		}
	}
	return spans
}

// side is one of the two sequences of a search.
type side struct {
	seq     []int32 // the elements that the other side has too
	at      []int32 // their indexes in the whole sequence
	differs []bool  // by index in the whole sequence: matches nothing
}

func newSide(whole []int32, inOther []bool) side {
	s := side{make([]int32, 0, len(whole)), make([]int32, 0, len(whole)), make([]bool, len(whole))}
	for i, x := range whole {
		if !inOther[x] {
			s.differs[i] = true
			continue
		}
		s.seq, s.at = append(s.seq, x), append(s.at, int32(i))
	}
	return s
}

func (s side) mark(from, to int) {
	for _, i := range s.at[from:to] {
		s.differs[i] = true
	}
}

// search is one run of Myers' algorithm.
type search struct {
	a, b     side
	fwd, bwd []int32 // furthest x by diagonal, from the start and from the end; -1: not reached
	budget   int
}

// box compares a[a0:a1] with b[b0:b1].
func (s *search) box(a0, a1, b0, b1 int) {
	a, b := s.a.seq, s.b.seq
	for {
		for a0 < a1 && b0 < b1 && a[a0] == b[b0] {
			a0, b0 = a0+1, b0+1
		}
		for a0 < a1 && b0 < b1 && a[a1-1] == b[b1-1] {
			a1, b1 = a1-1, b1-1
		}
		if a0 == a1 || b0 == b1 || s.budget <= 0 {
			break
		}
		x, y := s.split(a[a0:a1], b[b0:b1])
		if x+y == 0 || x == a1-a0 && y == b1-b0 {
			break // no progress; the search does not give such a point
		}
		s.box(a0, a0+x, b0, b0+y)
		a0, b0 = a0+x, b0+y
	}
	s.a.mark(a0, a1)
	s.b.mark(b0, b1)
}

// split returns a point on a shortest way through the box of a and b, which
// start and end differently and are not empty; or, where that way is too long,
// the furthest point that the search reached.
func (s *search) split(a, b []int32) (x, y int) {
	n, m := len(a), len(b)
	limit := min((n+m+1)/2, maxEdits)
	mid := limit + 1 // index of diagonal 0
	fwd, bwd := s.diagonals(2*mid + 1)
	fwd[mid+1], bwd[mid+1] = 0, 0
	delta := n - m
	f, r := diagonals{n: n, m: m}, diagonals{n: n, m: m}
	for d := 0; d <= limit && s.budget > 0; d++ {
		s.budget -= 2 * (d + 1)
		for k := f.first(d); k <= f.last(d); k += 2 {
			x := reach(fwd, mid, k, d)
			y := x - k
			from := x
			for x < n && y < m && a[x] == b[y] {
				x, y = x+1, y+1
			}
			s.budget -= x - from
			fwd[mid+k] = int32(x)
			if f.clip(x, y) {
				continue
			}
			if back := mid + delta - k; delta%2 != 0 && back >= 0 && back < len(bwd) && bwd[back] >= 0 && x >= n-int(bwd[back]) {
				return x, y
			}
		}
		for k := r.first(d); k <= r.last(d); k += 2 {
			x := reach(bwd, mid, k, d)
			y := x - k
			from := x
			for x < n && y < m && a[n-1-x] == b[m-1-y] {
				x, y = x+1, y+1
			}
			s.budget -= x - from
			bwd[mid+k] = int32(x)
			if r.clip(x, y) {
				continue
			}
			if front := mid + delta - k; delta%2 == 0 && front >= 0 && front < len(fwd) && fwd[front] >= 0 && int(fwd[front]) >= n-x {
				x = int(fwd[front])
				return x, x - (delta - k)
			}
		}
	}
	return furthest(fwd, mid, n, m)
}

// diagonals of one direction: how many at each edge left the box for good.
type diagonals struct{ n, m, low, high int }

func (g *diagonals) first(d int) int { return -d + g.low }
func (g *diagonals) last(d int) int  { return d - g.high }

// clip takes note of a way that left the box, and reports whether it did.
func (g *diagonals) clip(x, y int) bool {
	switch {
	case x > g.n:
		g.high += 2
	case y > g.m:
		g.low += 2
	default:
		return false
	}
	return true
}

// diagonals returns two rows of n diagonals, none of them reached.
func (s *search) diagonals(n int) (fwd, bwd []int32) {
	if cap(s.fwd) < n {
		s.fwd, s.bwd = make([]int32, n), make([]int32, n)
	}
	fwd, bwd = s.fwd[:n], s.bwd[:n]
	for i := range fwd {
		fwd[i], bwd[i] = -1, -1
	}
	return fwd, bwd
}

// reach returns the furthest x on diagonal k with one edit more than the
// neighbouring diagonals have needed.
func reach(row []int32, mid, k, d int) int {
	if k == -d || k != d && row[mid+k-1] < row[mid+k+1] {
		return int(row[mid+k+1])
	}
	return int(row[mid+k-1]) + 1
}

// furthest returns the point inside the box that is furthest from its start.
func furthest(row []int32, mid, n, m int) (x, y int) {
	for i, r := range row {
		rx, ry := int(r), int(r)-(i-mid)
		if r >= 0 && rx <= n && ry >= 0 && ry <= m && rx+ry > x+y {
			x, y = rx, ry
		}
	}
	return x, y
}
