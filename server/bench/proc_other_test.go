//go:build !linux

package bench_test

import (
	"errors"
	"time"
)

const measurable = false

var errNoClock = errors.New("this system has no clock of another process that we know of")

func cpuOf(int) (time.Duration, error)          { return 0, errNoClock }
func childrenOf(int) []int                      { return nil }
func memoryOf(int) (now, peak int64, err error) { return 0, 0, errNoClock }
func forgetPeak(int) error                      { return errNoClock }
func threadsOf(int) int                         { return 0 }
func makeFIFO(string) error                     { return errNoClock }
func writtenBy(int) (int64, error)              { return 0, errNoClock }
func wait(d time.Duration)                      { time.Sleep(d) }
