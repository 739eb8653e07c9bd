package bench_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/checkpoint/checkpointtest"
)

// tree is a generated project with a store of checkpoints, and a git repository of its own beside it.
type tree struct {
	testing.TB
	dir, git, state string
	files           []string
	store           *checkpoint.Store
	options         checkpoint.Options
	round           int
}

func newTree(b testing.TB, n int) *tree {
	b.Helper()
	base := b.TempDir()
	t := &tree{TB: b, dir: filepath.Join(base, "p"), git: filepath.Join(base, "git"), state: filepath.Join(base, "state"), options: checkpoint.Options{Limit: -1}}
	var err error
	t.files, err = checkpointtest.Generate(t.dir, n)
	t.must(err)
	unix.Sync() // so that nobody pays for writing the tree
	return t
}

func (t *tree) must(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (t *tree) open(state string) {
	t.Helper()
	var err error
	t.store, err = checkpoint.Open(context.Background(), checkpoint.Config{Dir: state})
	t.must(err)
}

func (t *tree) take() *checkpoint.Checkpoint {
	t.Helper()
	c, err := t.store.Take(context.Background(), []string{t.dir}, t.options)
	t.must(err)
	return c
}

// change writes to n files that are far apart, and says how many bytes.
func (t *tree) change(n int) (bytes int64) {
	t.Helper()
	for i := range n {
		text := fmt.Appendf(nil, "changed %d %d\n", t.round, i)
		t.must(os.WriteFile(t.files[(t.round*n+i)*37%len(t.files)], text, 0o644))
		bytes += int64(len(text))
	}
	t.round++
	return bytes
}

// add is git add -A && git write-tree, with an index that no other git has.
func (t *tree) add() time.Duration {
	t.Helper()
	run := func(args ...string) {
		cmd := exec.Command("git", append([]string{"--git-dir=" + t.git, "--work-tree=" + t.dir}, args...)...)
		cmd.Dir = t.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	if _, err := os.Stat(t.git); err != nil {
		run("init", "-q")
	}
	start := time.Now()
	run("add", "-A")
	run("write-tree")
	return time.Since(start)
}

func timed(do func()) time.Duration {
	start := time.Now()
	do()
	return time.Since(start)
}

// BenchmarkCheckpoint: the first checkpoint of a tree, and later ones of which nothing, or 20 files, changed, against a bare
// parallel walk that looks at each file, and against git add -A && git write-tree. Wanted: the first 10 times ahead of git; later
// ones at most 1.15 walks, 1.3 with changes, and twice ahead of git; at most 1.1 times the bytes that changed and 4 KB for each
// 1,000 files on the disk.
func BenchmarkCheckpoint(b *testing.B) {
	if _, err := exec.LookPath("git"); err != nil {
		b.Skip("no git to compare with")
	}
	for _, size := range []struct{ files, first, later int }{{2_000, 5, 21}, {20_000, 5, 21}, {100_000, 2, 9}} {
		b.Run(fmt.Sprintf("files=%d", size.files), func(b *testing.B) {
			t := newTree(b, size.files)
			b.Run("first", func(b *testing.B) { t.TB = b; benchFirst(b, t, size.first) })
			for t.take().Stats.Read > 0 { // until all times are old enough to be trusted
			}
			few, some := 1.15, 1.3
			if size.files == 2_000 {
				few, some = 0, 0 // a walk of 3 ms is nothing to hold syncs against
			}
			b.Run("changed=0", func(b *testing.B) { t.TB = b; benchLater(b, t, size.later, 0, few) })
			b.Run("changed=20", func(b *testing.B) { t.TB = b; benchLater(b, t, size.later, 20, some) })
			t.must(t.store.Close())
		})
	}
}

func benchFirst(b *testing.B, t *tree, rounds int) {
	var ours, git []time.Duration
	for i := range rounds {
		if t.store != nil {
			t.must(t.store.Close())
		}
		t.must(os.RemoveAll(t.git))
		git = append(git, t.add())
		unix.Sync()
		ours = append(ours, timed(func() {
			t.open(fmt.Sprint(t.state, i))
			t.take()
		}))
		unix.Sync()
	}
	b.ReportMetric(median(ours)/1e6, "ms-take")
	atLeast(b, ratio(git, ours), "git/take", 10)
	b.ReportMetric(0, "ns/op")
}

func benchLater(b *testing.B, t *tree, rounds, changed int, limit float64) {
	var ours, walk, git, oursCPU, walkCPU []time.Duration
	var sum, most float64
	for range rounds {
		bytes := t.change(changed)
		start := mustCPU(b, os.Getpid())
		walk = append(walk, timed(func() { bareWalk(b, t.dir) }))
		walkCPU = append(walkCPU, mustCPU(b, os.Getpid())-start)
		var c *checkpoint.Checkpoint
		was := t.taken()
		start = mustCPU(b, os.Getpid())
		ours = append(ours, timed(func() { c = t.take() }))
		oursCPU = append(oursCPU, mustCPU(b, os.Getpid())-start)
		sum += float64(t.taken() - was)
		most += 1.1*float64(bytes) + 4096*float64(len(t.files))/1000
		git = append(git, t.add())
		if c.Stats.Files < int64(len(t.files)) {
			b.Errorf("saw %d files", c.Stats.Files)
		}
	}
	b.ReportMetric(median(walk)/1e6, "ms-walk")
	b.ReportMetric(median(ours)/1e6, "ms-take")
	if limit > 0 {
		atMost(b, ratio(ours, walk), "take/walk", limit)
	} else {
		noted(b, ratio(ours, walk), "take/walk")
	}
	noted(b, ratio(oursCPU, walkCPU), "cpu/walk-cpu") // without what else the machine does
	atLeast(b, ratio(git, ours), "git/take", 2)
	if changed > 0 {
		atMost(b, sum/most, "bytes/allowed", 1)
	}
	b.ReportMetric(0, "ns/op")
}

// taken is what the store takes on the disk, without the index that is replaced now and then.
func (t *tree) taken() (n int64) {
	t.Helper()
	states, err := filepath.Glob(t.state + "*")
	t.must(err)
	for _, dir := range []string{"packs", "checkpoints"} {
		entries, err := os.ReadDir(filepath.Join(states[len(states)-1], dir))
		t.must(err)
		for _, e := range entries {
			info, err := e.Info()
			t.must(err)
			n += info.Size()
		}
	}
	return n
}

// BenchmarkUndo: a turn is taken back, and done again, in a tree of 20,000 files, from knowing the checkpoints to the last
// byte on the disk; against the walk, and against copying the files that it changed, with the same sync at the end and without.
// Wanted: 20 changed files at most 1.5 walks, 1,000 at most 3 copies.
func BenchmarkUndo(b *testing.B) {
	const rounds = 11
	for _, changed := range []int{20, 1000} {
		b.Run(fmt.Sprintf("changed=%d", changed), func(b *testing.B) {
			t := newTree(b, 20_000)
			t.open(t.state)
			before := t.take()
			t.change(changed)
			after := t.take()
			var undo, walk, synced, copied []time.Duration
			for i := range rounds {
				walk = append(walk, timed(func() { bareWalk(b, t.dir) }))
				quick, whole := t.copies(i, changed)
				synced, copied = append(synced, whole), append(copied, quick)
				undo = append(undo, timed(func() { t.restore(before, after) }))
				before, after = after, before
			}
			b.ReportMetric(median(undo)/1e6, "ms-undo")
			if changed == 20 {
				atMost(b, ratio(undo, walk), "undo/walk", 1.5)
			} else {
				atMost(b, ratio(undo, synced), "undo/copy", 3)
				noted(b, ratio(undo, copied), "undo/copy-unsynced")
			}
			b.ReportMetric(0, "ns/op")
			t.must(t.store.Close())
		})
	}
}

func (t *tree) restore(before, after *checkpoint.Checkpoint) {
	t.Helper()
	plan, err := t.store.Plan(context.Background(), before, after, checkpoint.RestoreOptions{})
	t.must(err)
	r, err := t.store.Restore(context.Background(), plan)
	t.must(err)
	if len(r.Conflicts) > 0 {
		t.Fatalf("conflicts %+v", r.Conflicts)
	}
}

// copies is how long it takes to copy the files that the turn changed: to the system, and to the disk.
func (t *tree) copies(round, changed int) (quick, whole time.Duration) {
	t.Helper()
	dir := filepath.Join(filepath.Dir(t.dir), fmt.Sprint("copies", round))
	t.must(os.Mkdir(dir, 0o755))
	start := time.Now()
	for i := range changed {
		data, err := os.ReadFile(t.files[i*37%len(t.files)])
		t.must(err)
		t.must(os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), data, 0o644))
	}
	quick = time.Since(start)
	fd, err := unix.Open(dir, unix.O_RDONLY, 0)
	t.must(err)
	t.must(unix.Syncfs(fd))
	whole = time.Since(start)
	t.must(unix.Close(fd))
	return quick, whole
}

// BenchmarkPrune: many turns with files that cannot be compressed, in a store with a limit that they pass. Wanted: the store is
// never above it after a prune.
func BenchmarkPrune(b *testing.B) {
	const limit = 4 << 20
	t := newTree(b, 2_000)
	t.open(t.state)
	most := int64(0)
	var prunes []time.Duration
	for round := range 30 {
		for i := range 20 {
			text := make([]byte, 16<<10)
			for j := range text {
				text[j] = byte((round*7919 + i*104729 + j*j*31) >> (j % 5))
			}
			t.must(os.WriteFile(t.files[(round+i*97)%len(t.files)], text, 0o644))
		}
		t.take()
		prunes = append(prunes, timed(func() {
			_, err := t.store.Prune(context.Background(), checkpoint.PruneOptions{MaxBytes: limit})
			t.must(err)
		}))
		most = max(most, t.taken())
	}
	b.ReportMetric(median(prunes)/1e6, "ms-prune")
	atMost(b, float64(most)/limit, "bytes/limit", 1)
	b.ReportMetric(0, "ns/op")
	t.must(t.store.Close())
}
