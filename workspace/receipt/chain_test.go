package receipt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// chained makes a sound chain of n lines.
func chained(n int) []link {
	links := make([]link, n)
	for i := range links {
		links[i] = link{file: "f", line: i + 1, seq: int64(i + 1), turn: fmt.Sprint("t", i+1), hash: sum([]byte{byte(i)})}
		if i > 0 {
			links[i].previous = links[i-1].hash
		}
	}
	return links
}

// Whatever is done to some lines, something is found; when nothing is, nothing. One alteration gives one finding.
func TestCheckFindsAll(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 8_000 {
		n := 1 + random.IntN(12)
		sound := chained(n)
		links := slices.Clone(sound)
		acts := random.IntN(4)
		var log []string
		for range acts {
			if len(links) == 0 {
				break
			}
			i, j := random.IntN(len(links)), random.IntN(len(links))
			act := random.IntN(7)
			log = append(log, fmt.Sprint(act, " ", i, " ", j))
			switch act {
			case 0: // dropped
				links = slices.Delete(links, i, i+1)
			case 1: // swapped
				links[i], links[j] = links[j], links[i]
			case 2: // copied
				links = slices.Insert(links, j, links[i])
			case 3: // altered
				links[i].fault = "altered"
			case 4: // altered, hash made anew
				links[i].hash = sum([]byte{byte(i), byte(j), 1})
			case 5: // is no receipt any more
				links[i] = link{file: "f", fault: "is no receipt"}
			case 6: // names another before it
				links[i].previous = sum([]byte{byte(i), byte(j), 2})
				links[i].hash = sum([]byte{byte(i), byte(j), 3})
			}
		}
		for i := range links {
			links[i].line = i + 1
		}
		c := &Checked{lastHead: head{int64(n), sound[n-1].hash}}
		altered := !slices.Equal(links, sound)
		check(c, slices.Clone(links), true)
		if altered != (c.Total > 0) {
			t.Fatalf("round %d, %d lines, acts %v: %d findings\n%+v", round, n, log, c.Total, links)
		}
		if acts == 1 && altered && c.Total != 1 && log[0][0] != '1' { // two that change places may be two
			t.Fatalf("round %d, %d lines, act %v: findings %v", round, n, log, c.Findings)
		}
	}
}
