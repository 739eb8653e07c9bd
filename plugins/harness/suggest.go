package harness

import "strings"

// Nearest is the candidate that name most likely meant, or "" when none is
// near: the same but for case, a start of it of three letters or more, or at
// most two slips of the finger (one in a name of up to four letters).
func Nearest(name string, candidates []string) string {
	best, bestSlips := "", 3
	if len(name) <= 4 {
		bestSlips = 2
	}
	if len(name) > 100 {
		return ""
	}
	for _, c := range candidates {
		if strings.EqualFold(name, c) {
			return c
		}
		n := slips(strings.ToLower(name), strings.ToLower(c))
		if len(name) >= 3 && strings.HasPrefix(strings.ToLower(c), strings.ToLower(name)) {
			n = min(n, 1)
		}
		if n < bestSlips {
			best, bestSlips = c, n
		}
	}
	return best
}

// slips is the number of letters inserted, left out, replaced, or swapped
// with their neighbour between a and b.
func slips(a, b string) int {
	s, t := []rune(a), []rune(b)
	var before, last []int
	row := make([]int, len(t)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(s); i++ {
		before, last, row = last, row, make([]int, len(t)+1)
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(t)]
}
