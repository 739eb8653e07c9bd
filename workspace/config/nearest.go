package config

import "strings"

// nearest gives the candidate that a person most likely meant, "" when none is near:
// at most a third of the letters differ (rounded up), letter case aside.
func nearest(name string, candidates []string) string {
	best, found := 1+(min(len(name), 64)+2)/3, ""
	for _, c := range candidates {
		if len(name) > 2*len(c)+2 {
			continue
		}
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < best {
			best, found = d, c
		}
	}
	return found
}

// distance is Levenshtein's, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
