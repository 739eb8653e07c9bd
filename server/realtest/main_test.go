package realtest

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	_ "sallyport/bridge/process" // so that the test binary is no guard by accident
)

var update = flag.Bool("update", false, "keep what was seen: rewrite testdata/guarantees.json and docs/GUARANTEES.md")

// program is the sallyport that is tested, built once.
var program string

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "editor" {
		os.Exit(editorMain(os.Args[2:]))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "realtest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "sallyport")
	args := append([]string{"build", "-o", program}, raceFlag...)
	build := exec.Command("go", append(args, "sallyport/cmd/sallyport")...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building sallyport: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// editorMain is the process that stands for an editor: it starts the server as
// its child, and is nothing but the two pipes between. Killing it is what
// killing an editor is to the server.
func editorMain(command []string) int {
	server := exec.Command(command[0], command[1:]...)
	server.Stderr = os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		return 1
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return 1
	}
	if err := server.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() {
		_, _ = io.Copy(in, os.Stdin) // ends with either side
		_ = in.Close()
	}()
	_, _ = io.Copy(os.Stdout, out)
	if err := server.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, "the server:", err)
		return 1
	}
	return 0
}
