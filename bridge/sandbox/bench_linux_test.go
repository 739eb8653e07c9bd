package sandbox

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sallyport/bridge/process"
)

// TestMain lets the test binary be a program that reads one file again and
// again and prints how many nanoseconds the fastest round took, one that says
// what it reaches, or one that is to be killed while it holds a fence.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "read" {
		fmt.Println(readAgain(os.Args[2]))
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == "network" {
		fmt.Println(reaches("127.0.0.1:"+os.Args[2]), reachesOwn())
		os.Exit(0)
	}
	if len(os.Args) == 4 && os.Args[1] == "hold" {
		fmt.Fprintln(os.Stderr, hold(os.Args[2], os.Args[3]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func readAgain(path string) int64 {
	const rounds, reads = 200, 100
	best, buf := time.Hour, make([]byte, 4096)
	for range rounds {
		began := time.Now()
		for range reads {
			f, err := os.Open(path)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			if _, err := io.ReadFull(f, buf); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			f.Close()
		}
		best = min(best, time.Since(began)/reads)
	}
	return int64(best)
}

// median is of the measured times.
func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// once starts a program, waits until nothing of it is left, and gives its output and how long that took.
func once(tb testing.TB, l *Launcher, r Request) (string, time.Duration) {
	tb.Helper()
	began := time.Now()
	f, err := l.Start(tb.Context(), r)
	if err != nil {
		tb.Fatal(err)
	}
	out, err := io.ReadAll(f.Stdout)
	if err != nil {
		tb.Fatal(err)
	}
	<-f.Gone()
	took := time.Since(began)
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	if f.Exit() != (process.Exit{}) {
		tb.Fatalf("%v: %s", f.Exit(), f.Stderr())
	}
	return string(out), took
}

// with measures each backend after none, by turns, and reports medians and what the fence adds.
func with(b *testing.B, request func(Backend) Request, l *Launcher) map[Backend]time.Duration {
	all := map[Backend][]time.Duration{}
	for b.Loop() {
		for _, backend := range []Backend{None, Landlock, Bubblewrap} {
			_, took := once(b, l, request(backend))
			all[backend] = append(all[backend], took)
		}
	}
	out := map[Backend]time.Duration{}
	for backend, times := range all {
		out[backend] = median(times)
		b.ReportMetric(float64(out[backend].Microseconds())/1000, "ms/"+string(backend))
	}
	return out
}

// BenchmarkLaunch is what a fence adds to the start and end of a program that does nothing; at most 80 ms is asked of
// bubblewrap. The survey of the project is in it.
func BenchmarkLaunch(b *testing.B) {
	p := newPlace(b)
	p.needBoth()
	out := with(b, func(backend Backend) Request { return p.request(backend, "true") }, p.Launcher)
	b.ReportMetric(float64((out[Bubblewrap]-out[None]).Microseconds())/1000, "ms-added")
}

// BenchmarkSiblings is a launch beside a private folder with 5,000 siblings; at most 200 ms more than without is asked.
func BenchmarkSiblings(b *testing.B) {
	p := newPlace(b)
	p.needBoth()
	few := with(b, func(backend Backend) Request { return p.request(backend, "true") }, p.Launcher)
	for i := range 5_000 {
		if err := os.Mkdir(filepath.Join(p.dir, "home", "sibling"+strconv.Itoa(i)), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	all := map[Backend][]time.Duration{}
	for range 5 {
		for _, backend := range backends {
			_, took := once(b, p.Launcher, p.request(backend, "true"))
			all[backend] = append(all[backend], took)
		}
	}
	for backend, times := range all {
		b.ReportMetric(float64((median(times)-few[backend]).Microseconds())/1000, "ms-added/"+string(backend))
	}
}

// BenchmarkReadInside is open, read of 4 KiB and close inside a fence against outside; at most 1.15 times is asked.
func BenchmarkReadInside(b *testing.B) {
	p := newPlace(b)
	p.needBoth()
	p.write("home/p/block", strings.Repeat("x", 4096))
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	best := map[Backend]float64{}
	for b.Loop() {
		for _, backend := range []Backend{None, Landlock, Bubblewrap} {
			r := p.request(backend, "")
			r.Program.Path, r.Program.Args = self, []string{"read", p.region + "/block"}
			out, _ := once(b, p.Launcher, r)
			ns, err := strconv.ParseFloat(strings.TrimSpace(out), 64)
			if err != nil {
				b.Fatal(err)
			}
			if was, ok := best[backend]; !ok || ns < was {
				best[backend] = ns
			}
		}
	}
	for backend, ns := range best {
		b.ReportMetric(ns, "ns/"+string(backend))
	}
	b.ReportMetric(best[Bubblewrap]/best[None], "times-bubblewrap")
	b.ReportMetric(best[Landlock]/best[None], "times-landlock")
}

// needBoth skips where a backend does not work.
func (p *place) needBoth() {
	p.t.Helper()
	if works := p.Probe(p.t.Context()); works.Refused != "" || works.Landlock < abiFiles {
		p.t.Skipf("not all work here: %+v", works)
	}
}
