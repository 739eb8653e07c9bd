package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/term"

	"sallyport/plugins/harness"
)

// lessFlags are what less gets from us: leave where a page is enough, show
// colours, leave the text on the screen. Git gives it the same.
const lessFlags = "FRX"

// paged has f write to the user's pager where stdout is a terminal, else to
// stdout itself. PAGER is split like a shell does and run without one; empty or
// "cat" is none, and less is taken where it is not set.
func (c *call) paged(f func(io.Writer) error) error {
	words, err := c.pager(os.LookupEnv("PAGER"))
	if err != nil {
		return err
	}
	if words == nil {
		return f(c.stdout)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = c.stdout, c.stderr, os.Environ()
	if _, set := os.LookupEnv("LESS"); !set {
		cmd.Env = append(cmd.Env, "LESS="+lessFlags)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting the pager: %w", err)
	}
	interrupts := make(chan os.Signal, 1) // Ctrl-C is the pager's
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(c.stderr, "sallyport: starting the pager: %v\nhint: PAGER=cat is none\n", err)
		return f(c.stdout)
	}
	err = f(in)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		err = nil // the person has seen enough
	}
	_ = in.Close()
	_ = cmd.Wait() // how the person left it is no matter
	return err
}

// pager is the command to start; nil is none.
func (c *call) pager(name string, set bool) ([]string, error) {
	if !c.onTerminal() {
		return nil, nil
	}
	if !set {
		less, err := exec.LookPath("less")
		if err != nil {
			return nil, nil
		}
		return []string{less, "-" + lessFlags}, nil
	}
	words, err := harness.SplitLine(runtime.GOOS, name)
	switch {
	case strings.TrimSpace(name) == "":
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("PAGER: %w", err)
	case filepath.Base(words[0]) == "cat" && len(words) == 1:
		return nil, nil
	default:
		return words, nil
	}
}

// onTerminal reports whether a person looks at stdout.
func (c *call) onTerminal() bool { return term.IsTerminal(int(c.stdout.Fd())) }

// width of the screen in columns; 0 where there is none.
func (c *call) width() int {
	w, _, err := term.GetSize(int(c.stdout.Fd()))
	if err != nil {
		return 0
	}
	return w
}
