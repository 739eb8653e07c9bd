package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"sallyport/bridge/home"
)

// TestMain makes this binary the program in scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sallyport": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			for name, dir := range map[string]string{"HOME": "home", "XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state", "XDG_DATA_HOME": "data"} {
				e.Setenv(name, filepath.Join(e.WorkDir, dir))
			}
			program, err := exec.LookPath("sallyport")
			if err != nil {
				return err
			}
			e.Setenv("SALLYPORT", program)
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			return os.MkdirAll(filepath.Join(e.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"jsonlines": jsonLines, "validreport": validReport, "valid": valid, "alter": alter, "await": await, "gone": gone,
		},
	})
}

// jsonLines FILE TYPE… wants each line of FILE to be an object, with just these
// values of its member type, repeats left out.
func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	var types []string
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var o struct {
			Type string `json:"type"`
		}
		ts.Check(json.Unmarshal([]byte(line), &o))
		if len(types) == 0 || types[len(types)-1] != o.Type {
			types = append(types, o.Type)
		}
	}
	if got, want := strings.Join(types, " "), strings.Join(args[1:], " "); (got == want) == neg {
		ts.Fatalf("types are %s, want %s", got, want)
	}
}

// patience is how long an event may take on a busy machine.
const patience = 60 * time.Second

// poll waits for what sends no event.
func poll(ts *testscript.TestScript, what string, done func() bool) {
	for deadline := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("never came: %s", what)
		}
	}
}

// await FILE waits until there is such a file.
func await(ts *testscript.TestScript, _ bool, args []string) {
	poll(ts, args[0], func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	})
}

// gone FILE waits until the process that FILE names has ended. Behind a fence of
// the kernel ids are others than out here, so on Linux it is found by what it is:
// a sleep in the folder of FILE. Negated it waits until that is there.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	if runtime.GOOS == "linux" {
		folder, err := filepath.EvalSymlinks(filepath.Dir(ts.MkAbs(args[0])))
		ts.Check(err)
		poll(ts, "the end of a process", func() bool { return sleeps(folder) == neg })
		return
	}
	p, err := os.FindProcess(pid)
	ts.Check(err)
	poll(ts, "the end of a process", func() bool { return (p.Signal(syscall.Signal(0)) == nil) == neg })
}

// sleeps reports whether a sleep runs in a folder (proc(5)).
func sleeps(folder string) bool {
	all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, dir := range all {
		words, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || !bytes.HasPrefix(words, []byte("sleep\x00")) {
			continue
		}
		if at, err := os.Readlink(filepath.Join(dir, "cwd")); err == nil && at == folder {
			return true
		}
	}
	return false
}

// validReport FILE validates a doctor's report against the shipped schema.
func validReport(ts *testscript.TestScript, neg bool, args []string) {
	validate(ts, neg, home.DoctorSchema(), ts.ReadFile(args[0]))
}

// valid SCHEMA FILE validates a JSON file.
func valid(ts *testscript.TestScript, neg bool, args []string) {
	validate(ts, neg, []byte(ts.ReadFile(args[0])), ts.ReadFile(args[1]))
}

func validate(ts *testscript.TestScript, neg bool, schema []byte, file string) {
	read, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	ts.Check(err)
	c := jsonschema.NewCompiler()
	ts.Check(c.AddResource("schema.json", read))
	compiled, err := c.Compile("schema.json")
	ts.Check(err)
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(file))
	ts.Check(err)
	if err := compiled.Validate(value); (err != nil) != neg {
		ts.Fatalf("the file against its schema: %v", err)
	}
}

// alter LINE OLD NEW changes one line of the only file of receipts.
func alter(ts *testscript.TestScript, _ bool, args []string) {
	files, err := filepath.Glob(filepath.Join(ts.Getenv("XDG_STATE_HOME"), "sallyport", "receipts", "*", "*.jsonl"))
	ts.Check(err)
	if len(files) != 1 {
		ts.Fatalf("there are %d files of receipts", len(files))
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	raw, err := os.ReadFile(files[0])
	ts.Check(err)
	lines := strings.SplitAfter(string(raw), "\n")
	now := strings.Replace(lines[n-1], args[1], args[2], 1)
	if now == lines[n-1] {
		ts.Fatalf("line %d has no %s: %s", n, args[1], now)
	}
	lines[n-1] = now
	ts.Check(os.WriteFile(files[0], []byte(strings.Join(lines, "")), 0o600))
}
