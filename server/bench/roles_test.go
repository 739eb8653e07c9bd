package bench_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// roleWord makes this binary play a role instead of running tests.
const roleWord = "bench-role"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == roleWord {
		os.Exit(play(os.Args[2], os.Args[3:]))
	}
	os.Exit(inRunDir(m.Run))
}

// runDirVar names the folder of this run.
const runDirVar = "SALLYPORT_BENCH_DIR"

func runDir() string { return os.Getenv(runDirVar) }

// inRunDir makes the folder of this run, which holds what is built and gathered,
// and removes it at the end.
func inRunDir(run func() int) int {
	dir, err := os.MkdirTemp("", "sallyport-bench-")
	if err == nil {
		err = os.Setenv(runDirVar, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	defer printTable()
	return run()
}

// play runs one role.
func play(role string, args []string) int {
	roles := map[string]func([]string) error{
		"agent":   agentRole,
		"flooder": flooderRole,
		"decider": deciderRole,
		"editor":  editorRole,
		"copy":    func([]string) error { return copyHop() },
		"sdk":     func([]string) error { return sdkHop() },
	}
	run, ok := roles[role]
	if !ok {
		fmt.Fprintln(os.Stderr, "no role", role)
		return 2
	}
	if err := run(args); err != nil {
		fmt.Fprintln(os.Stderr, "role", role+":", err)
		return 1
	}
	return 0
}

// role is a command that runs this binary in a role.
func role(name string, args ...any) *exec.Cmd {
	words := []string{roleWord, name}
	for _, a := range args {
		words = append(words, fmt.Sprint(a))
	}
	cmd := exec.Command(os.Args[0], words...)
	cmd.Stderr = os.Stderr
	return cmd
}
