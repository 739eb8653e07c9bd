package bench_test

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// flow is how an agent sends updates.
type flow struct {
	payload
	count  int
	burst  int           // bytes written at once; 0: each message by itself
	pause  time.Duration // after each write
	window int           // messages on their way at the most; 0: what the pipes hold
	acks   string        // a named pipe; the editor says there when half a window came
}

// words are a flow for another process.
func (f flow) words() []any {
	acks := f.acks
	if acks == "" {
		acks = "-"
	}
	return []any{f.payload, f.count, f.burst, f.pause, f.window, acks}
}

func (f flow) String() string { return strings.TrimSpace(fmt.Sprintln(f.words()...)) }

func readFlow(words []string) (f flow, err error) {
	if len(words) != 6 {
		return f, fmt.Errorf("a flow that is none: %q", words)
	}
	f.payload, f.acks = payload(words[0]), words[5]
	for i, n := range map[int]*int{1: &f.count, 2: &f.burst, 4: &f.window} {
		if *n, err = strconv.Atoi(words[i]); err != nil {
			return f, err
		}
	}
	f.pause, err = time.ParseDuration(words[3])
	return f, err
}

// write sends the updates.
func (f flow) write(w io.Writer) error {
	size := len(f.line())
	each := max(1, f.burst/size)
	const different = 64
	block, at := f.lines(each*max(1, different/each)), 0
	acks, err := openAcks(f.acks)
	if err != nil {
		return err
	}
	defer acks.Close()
	ack := make([]byte, 1)
	open, half := 0, f.window/2
	for left := f.count; left > 0; left -= each {
		n := min(each, left)
		if _, err := w.Write(block[at : at+n*size]); err != nil {
			return err
		}
		at = (at + n*size) % len(block)
		for open += n; half > 0 && (open >= 2*half || left == n && open >= half); open -= half {
			if _, err := acks.Read(ack); err != nil {
				return err
			}
		}
		if f.pause > 0 {
			wait(f.pause)
		}
	}
	return nil
}

// openAcks opens a named pipe so that neither end waits for the other.
func openAcks(path string) (*os.File, error) {
	if path == "-" || path == "" {
		return nil, nil
	}
	return os.OpenFile(path, os.O_RDWR, 0)
}

// acker tells a flow that messages came.
type acker struct {
	every int // 0: never
	to    *os.File
	count int
}

func newAcker(every, path string) (a acker, err error) {
	if a.every, err = strconv.Atoi(every); err != nil || a.every == 0 {
		return a, err
	}
	a.to, err = openAcks(path)
	return a, err
}

func (a *acker) came(n int) {
	if a.every == 0 {
		return
	}
	for a.count += n; a.count >= a.every; a.count -= a.every {
		_, _ = a.to.Write([]byte{1}) // the agent may be gone
	}
}

// ackPipe makes the named pipe of a flow with a window.
func (f flow) ackPipe(dir string) (flow, error) {
	if f.window == 0 {
		return f, nil
	}
	f.acks = dir + "/acks"
	return f, makeFIFO(f.acks)
}
