package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// The ratios of a run are also told as a table at its end. They are gathered in
// a file of the run's folder.

// atMost reports a metric and holds it against what is wanted.
func atMost(b *testing.B, value float64, unit string, limit float64) {
	told(b, value, unit, fmt.Sprintf("at most %g", limit), value <= limit)
}

// atLeast is atMost the other way round.
func atLeast(b *testing.B, value float64, unit string, limit float64) {
	told(b, value, unit, fmt.Sprintf("at least %g", limit), value >= limit)
}

// noted reports a metric of which nothing is wanted but that it is told.
func noted(b *testing.B, value float64, unit string) { told(b, value, unit, "", true) }

func told(b *testing.B, value float64, unit, wanted string, met bool) {
	b.Helper()
	b.ReportMetric(value, unit)
	f, err := os.OpenFile(table(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	missed := ""
	if !met {
		missed = "MISSED"
	}
	if _, err := fmt.Fprintf(f, "%-36s %-20s %10.3g   %-12s %s\n", b.Name()[len("Benchmark"):], unit, value, wanted, missed); err != nil {
		b.Fatal(err)
	}
}

func table() string { return filepath.Join(runDir(), "table") }

// printTable shows what was gathered, if anything.
func printTable() {
	raw, err := os.ReadFile(table())
	if err != nil {
		return
	}
	fmt.Printf("\n%-36s %-20s %10s   %s\n%s\n", "benchmark", "metric", "measured", "wanted", raw)
}
