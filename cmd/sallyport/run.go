package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"sallyport/bridge"
	"sallyport/bridge/home"
	"sallyport/bridge/permit"
	"sallyport/plugins/harness"
	"sallyport/server/terminal"
	"sallyport/workspace/config"
)

const runHelp = `usage: sallyport run [--agent ID | --command 'CMD ARGS'] [FLAGS] PROMPT

Runs one turn and ends the agent. Permissions are asked on the terminal.

  --agent ID       which agent; default: the setting "agent"
  --command LINE   an agent of your own, split like a shell, run without one
  --cwd DIR        the session's folder; default: the current one
  --mode MODE      default, acceptEdits, plan, bypassPermissions
  --policy POLICY  when nothing else decides: ask (default), record (grant once
                   and record), deny
  --json           one JSON object a line: session, posture, update, permission,
                   refusal, notice, turn
  --color WHEN     auto (default), always, never
  --log LEVEL      of stderr: debug, info, warn (default), error

PROMPT - reads the prompt from standard input.

example:
  sallyport run --agent gemini "fix the failing test"
  sallyport run --agent claude --policy deny --json "explain this" | jq .type

exit status: 0 the turn ended by itself, 1 it failed or was cancelled, 2 usage
`

func run(c *call) int {
	f := c.flags("run", runHelp)
	agent, line := f.String("agent", "", ""), f.String("command", "", "")
	cwd, mode := f.String("cwd", "", ""), f.String("mode", "", "")
	policy, lines := f.String("policy", "", ""), f.Bool("json", false, "")
	colour, level := f.String("color", "auto", ""), f.String("log", "warn", "")
	if status, done := c.parse(f); done {
		return status
	}
	painted, okColour := c.colour(*colour)
	var logLevel slog.Level
	switch {
	case f.NArg() != 1:
		return c.usage("run", "give one prompt, in quotes")
	case *agent != "" && *line != "":
		return c.usage("run", "give --agent or --command, not both")
	case !oneOf(*policy, "", "ask", "record", "deny"):
		return c.usage("run", "--policy is ask, record or deny")
	case !oneOf(*mode, "", "default", "acceptEdits", "plan", "bypassPermissions"):
		return c.usage("run", "--mode is default, acceptEdits, plan or bypassPermissions")
	case !okColour:
		return c.usage("run", "--color is auto, always or never")
	case logLevel.UnmarshalText([]byte(*level)) != nil:
		return c.usage("run", "--log is debug, info, warn or error")
	}
	dir, err := folder(*cwd)
	if err != nil {
		return c.usage("run", "--cwd: "+err.Error())
	}
	prompt, input := f.Arg(0), io.Reader(c.stdin)
	if prompt == "-" {
		raw, err := io.ReadAll(c.stdin)
		if err != nil {
			return c.fail("run", err)
		}
		prompt, input = string(raw), strings.NewReader("")
	}
	log := c.log(logLevel)
	h, err := home.Open(log)
	if err != nil {
		return c.fail("run", err)
	}
	defer h.Close()
	if *policy != "" {
		h.Override = func(user *config.Config) { user.Permissions.Policy = config.Policy(*policy) }
	}
	side := h.Bridge(buildVersion())
	name := *agent
	if *line != "" {
		own, err := home.Command(*line)
		if err != nil {
			return c.usage("run", "--command: "+err.Error())
		}
		side.Harness = func(string) (*harness.Harness, error) { return own, nil }
		name = own.Name
	}
	ask := &terminal.Terminal{Out: c.stdout, Colour: painted, Name: name, Folder: dir, Lines: typed(input), Echo: !term.IsTerminal(int(c.stdin.Fd()))}
	var display bridge.Display = ask
	if *lines {
		ask.Out = c.stderr
		display = &terminal.Lines{Out: c.stdout, Asker: ask.Ask}
	}
	turn := terminal.Turn{
		Session: bridge.NewSession{Agent: *agent, Folder: dir, Mode: permit.Mode(*mode)},
		Prompt:  prompt, Interrupted: interrupts(), Err: c.stderr,
	}
	return turn.Run(context.Background(), &bridge.Bridge{Display: display, Home: side, Log: log}, display)
}

// typed reads lines for as long as the process lives.
func typed(r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(r); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return lines
}

// interrupts is closed at the first Ctrl-C or TERM; the second ends the process
// as it would without us.
func interrupts() <-chan struct{} {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	first := make(chan struct{})
	go func() {
		<-signals
		signal.Stop(signals)
		close(first)
	}()
	return first
}

// colour says whether to paint; not ok for a word that means nothing.
func (c *call) colour(when string) (painted, ok bool) {
	switch when {
	case "always":
		return true, true
	case "never":
		return false, true
	case "auto":
		return term.IsTerminal(int(c.stdout.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb", true
	default:
		return false, false
	}
}

func oneOf(s string, all ...string) bool {
	for _, a := range all {
		if s == a {
			return true
		}
	}
	return false
}
