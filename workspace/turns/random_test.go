package turns

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// agentAtRandom does what shells do: edits, makes, removes, renames, changes modes and kinds.
func (b *bench) agentAtRandom(random *rand.Rand, acts int) {
	b.Helper()
	name := func() string {
		out := ""
		for range 1 + random.IntN(3) {
			out = filepath.Join(out, fmt.Sprintf("n%d", random.IntN(4)))
		}
		return filepath.Join(b.dir, out)
	}
	for range acts {
		at := name()
		info, err := os.Lstat(at)
		there := err == nil
		switch act := random.IntN(8); { // what cannot be done is not
		case act < 3:
			if there && !info.Mode().IsRegular() {
				_ = os.RemoveAll(at)
			}
			_ = os.MkdirAll(filepath.Dir(at), 0o755)
			mode := []os.FileMode{0o644, 0o600, 0o755}[random.IntN(3)]
			_ = os.WriteFile(at, fmt.Appendf(nil, "%d\n", random.IntN(100)), mode)
		case act == 3:
			_ = os.RemoveAll(at)
		case act == 4 && there && info.Mode()&os.ModeSymlink == 0:
			_ = os.Chmod(at, info.Mode().Perm()^0o011)
		case act == 5 && !there:
			_ = os.MkdirAll(filepath.Dir(at), 0o755)
			_ = os.Symlink([]string{"n0", "n1/n2", "none"}[random.IntN(3)], at)
		case act == 6:
			_ = os.MkdirAll(at, 0o755)
		case act == 7 && there:
			_ = os.Rename(at, name())
		}
	}
}

// Whatever an agent did, it is taken back and done again, the turns one by one.
func TestAtRandom(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			b := newBench(t)
			b.agentAtRandom(random, 40)
			states := []map[string]string{b.tree()}
			for range 3 {
				b.turn(func(*Running) { b.agentAtRandom(random, 25) })
				states = append(states, b.tree())
			}
			for round := range 2 {
				for i := 2; i >= 0; i-- {
					b.undo(Undo{})
					b.want(states[i])
				}
				for i := 1; i <= 3 && round == 0; i++ {
					b.redo()
					b.want(states[i])
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}
