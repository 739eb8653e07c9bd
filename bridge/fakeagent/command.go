package fakeagent

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// help is the text of --help.
const help = `usage: sallyport fake-agent [--log FILE] SCRIPT
       sallyport fake-agent --demo | --schema | --check SCRIPT

Speaks the Agent Client Protocol on stdin and stdout as an agent that does what
SCRIPT says. SCRIPT is JSON, comments allowed; --schema prints its JSON Schema.

  --log FILE   append every received line to FILE, as it came
  --demo       use the script of "sallyport demo"
  --check      only read the script and say what is wrong with it
  --schema     print the JSON Schema of scripts

example:
  echo '{"prompts": [{"steps": [{"say": "Hello from ${cwd}."}]}]}' > hello.jsonc
  sallyport run --command 'sallyport fake-agent hello.jsonc' "hi"

exit status: 0 the client left, 1 the connection broke, 2 usage or a bad script,
3 an expectation of the script failed; an exit step gives its own.
`

// Run is the command line of "sallyport fake-agent", without the program's and
// the subcommand's name. It returns the exit status, or ends the process for
// an exit or a crash step.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("fake-agent", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	logName := flags.String("log", "", "")
	demo := flags.Bool("demo", false, "")
	check := flags.Bool("check", false, "")
	schema := flags.Bool("schema", false, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		io.WriteString(stdout, help)
		return 0
	case err != nil:
		return usage(stderr, err.Error())
	case *schema:
		io.WriteString(stdout, Schema)
		return 0
	case *demo == (flags.NArg() > 0) || flags.NArg() > 1:
		return usage(stderr, "one script is needed")
	}
	load := Demo
	if !*demo {
		load = func() (*Script, error) { return Load(flags.Arg(0)) }
	}
	script, err := load()
	if err != nil {
		fmt.Fprintf(stderr, "sallyport fake-agent: the script cannot be used\n%v\nhint: sallyport fake-agent --schema prints what a script may hold\n", err)
		return 2
	}
	if *check {
		return 0
	}
	return serveProcess(script, *logName, stdin, stdout, stderr)
}

func usage(stderr io.Writer, what string) int {
	fmt.Fprintf(stderr, "sallyport fake-agent: %s\nhint: sallyport fake-agent --help\n", what)
	return 2
}

// serveProcess serves the process's own client.
func serveProcess(script *Script, logName string, stdin io.Reader, stdout, stderr io.Writer) int {
	agent := Agent{Script: script, Stderr: stderr, Die: die}
	if logName != "" {
		f, err := os.OpenFile(logName, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			fmt.Fprintf(stderr, "sallyport fake-agent: opening the log: %v\nhint: give a file in a folder that exists\n", err)
			return 1
		}
		defer f.Close()
		agent.Log = f
	}
	if err := agent.Serve(context.Background(), stdin, stdout); err != nil {
		fmt.Fprintf(stderr, "sallyport fake-agent: %v\nhint: this is the scripted agent's own failure, not the bridge's\n", err)
		return 1
	}
	return 0
}

// die ends this process as a script wants it: at once, whatever else runs.
func die(err error) {
	var exit *ExitError
	if errors.As(err, &exit) {
		os.Exit(exit.Code)
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		os.Exit(137)
	}
	select {} // until the kill arrives
}

//go:embed demo.jsonc
var demoScript []byte

// The file that the demo's script works on, below the session's folder, and
// the texts that it is written for. The script changes "two" to "TWO".
const (
	DemoFile    = "notes.txt"
	DemoSaved   = "one\ntwo\nthree\n"
	DemoUnsaved = DemoSaved + "four, not saved yet\n"
	DemoTyped   = DemoUnsaved + "five, typed while the agent asked\n" // between the request and the write
	DemoMade    = "summary.txt"                                       // what it writes with a tool of its own
)

// Demo is the script of "sallyport demo".
func Demo() (*Script, error) { return Parse("demo.jsonc", demoScript) }
