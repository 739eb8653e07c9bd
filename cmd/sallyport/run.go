package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
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

// runFlags are what was asked of run.
type runFlags struct {
	agent, line  string
	dir          string
	mode, policy string
	lines        bool
	colour       bool
	log          slog.Level
}

// runFlags reads the command line. status is the exit status when done is true.
func (c *call) runFlags() (r runFlags, prompt string, status int, done bool) {
	f := c.flags("run", runHelp)
	f.StringVar(&r.agent, "agent", "", "")
	f.StringVar(&r.line, "command", "", "")
	f.StringVar(&r.mode, "mode", "", "")
	f.StringVar(&r.policy, "policy", "", "")
	f.BoolVar(&r.lines, "json", false, "")
	cwd, colour, level := f.String("cwd", "", ""), f.String("color", "auto", ""), f.String("log", "warn", "")
	if status, done := c.parse(f); done {
		return r, "", status, true
	}
	var known bool
	r.colour, known = c.colour(*colour)
	wrong := ""
	switch {
	case f.NArg() != 1:
		wrong = "give one prompt, in quotes"
	case r.agent != "" && r.line != "":
		wrong = "give --agent or --command, not both"
	case !slices.Contains([]string{"", "ask", "record", "deny"}, r.policy):
		wrong = "--policy is ask, record or deny"
	case !slices.Contains([]string{"", "default", "acceptEdits", "plan", "bypassPermissions"}, r.mode):
		wrong = "--mode is default, acceptEdits, plan or bypassPermissions"
	case !known:
		wrong = "--color is auto, always or never"
	case r.log.UnmarshalText([]byte(*level)) != nil:
		wrong = "--log is debug, info, warn or error"
	}
	dir, err := folder(*cwd)
	if wrong == "" && err != nil {
		wrong = "--cwd: " + err.Error()
	}
	if wrong != "" {
		return r, "", c.usage("run", wrong), true
	}
	r.dir = dir
	return r, f.Arg(0), 0, false
}

func run(c *call) int {
	r, prompt, status, done := c.runFlags()
	if done {
		return status
	}
	input := io.Reader(c.stdin)
	if prompt == "-" {
		raw, err := io.ReadAll(c.stdin)
		if err != nil {
			return c.fail("run", err)
		}
		prompt, input = string(raw), strings.NewReader("")
	}
	log := c.log(r.log)
	h, err := home.Open(log)
	if err != nil {
		return c.fail("run", err)
	}
	defer h.Close()
	if r.policy != "" {
		h.Override = func(user *config.Config) { user.Permissions.Policy = config.Policy(r.policy) }
	}
	side, name := h.Bridge(buildVersion()), r.agent
	if r.line != "" {
		own, err := home.Command(r.line)
		if err != nil {
			return c.usage("run", "--command: "+err.Error())
		}
		side.Harness = func(string) (*harness.Harness, error) { return own, nil }
		name = own.Name
	}
	ask := &terminal.Terminal{Out: c.stdout, Colour: r.colour, Name: name, Folder: r.dir, Lines: typed(input), Echo: !term.IsTerminal(int(c.stdin.Fd()))}
	var display bridge.Display = ask
	if r.lines {
		ask.Out = c.stderr
		display = &terminal.Lines{Out: c.stdout, Asker: ask.Ask}
	}
	turn := terminal.Turn{
		Session: bridge.NewSession{Agent: r.agent, Folder: r.dir, Mode: permit.Mode(r.mode)},
		Prompt:  prompt, Interrupted: interrupts(), Err: c.stderr,
	}
	ctx := context.Background()
	b := &bridge.Bridge{Display: display, Home: side, Log: log}
	keepTurns(ctx, h, b)
	if _, err := h.Config(r.dir); err == nil { // else that is what the turn fails with
		h.Attach(b)
	}
	return turn.Run(ctx, b, display)
}

// typed reads lines for as long as the process lives. Some are read ahead, so
// that who asks sees which were typed before the question.
func typed(r io.Reader) <-chan string {
	lines := make(chan string, 64)
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
