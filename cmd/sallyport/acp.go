package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/facade"
	"sallyport/bridge/home"
	"sallyport/bridge/rpc"
	"sallyport/plugins/harness"
	"sallyport/workspace"
)

const acpHelp = `usage: sallyport acp [--agent ID] [--log LEVEL] [-- COMMAND…]

Speaks the Agent Client Protocol (ACP) on stdin and stdout, in the place of an
agent: Zed, JetBrains and other ACP clients start it, and get the real agent
within the fences. Stdout belongs to the protocol, logs go to stderr. It ends,
with every agent, when the client does.

  --agent ID   the agent behind it; default: the setting "agent", and the
               others can be picked in each session
  --log LEVEL  debug, info, warn, error; default: the setting "logLevel"
  -- COMMAND…  an agent of your own and its arguments, run without a shell

Where an agent is signed in to at a terminal, the client starts the same line
there, with --sallyport-sign-in and more behind it: the agent's program then runs
in that terminal, inside the fences.

example (settings.json of Zed):
  "agent_servers": { "Claude in Sallyport": {
    "type": "custom", "command": "sallyport", "args": ["acp", "--agent", "claude"] } }
`

// acpFlags are what was asked of acp.
type acpFlags struct {
	agent   string
	command []string
	level   string // of the log; empty: the setting
}

// acpFlags reads the command line. status is the exit status when done is true.
func (c *call) acpFlags() (a acpFlags, status int, done bool) {
	f := c.flags("acp", acpHelp)
	f.StringVar(&a.level, "log", "", "")
	f.StringVar(&a.agent, "agent", "", "")
	if status, done := c.parse(f); done {
		return a, status, true
	}
	a.command = f.Args()
	switch {
	case a.level != "" && new(slog.LevelVar).UnmarshalText([]byte(a.level)) != nil:
		return a, c.usage("acp", "--log is debug, info, warn or error"), true
	case a.agent != "" && len(a.command) > 0:
		return a, c.usage("acp", "give --agent or a command, not both"), true
	}
	return a, 0, false
}

func acp(c *call) int {
	words := c.args
	at := slices.Index(words, bridge.SignInMarker)
	if at >= 0 {
		c.args = words[:at]
	}
	a, status, done := c.acpFlags()
	switch {
	case done:
		return status
	case at >= 0:
		return c.signIn(a, words[at+1:])
	}
	var logLevel slog.LevelVar
	log := c.log(&logLevel)
	h, err := home.Open(log)
	if err != nil {
		return c.fail("acp", err)
	}
	defer h.Close()
	if logLevel.UnmarshalText([]byte(a.level)) != nil { // none was given
		logLevel.Set(h.User().LogLevel)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	front, side, err := behind(ctx, h, a.agent, a.command)
	if err != nil {
		return c.fail("acp", err)
	}
	front.Log, front.Version = log, buildVersion()
	if self, err := os.Executable(); err == nil {
		front.Self = append([]string{self, "acp"}, words...)
	}
	front.Bridge = func(d bridge.Display, editors func(string) workspace.Editor, greeting jsontext.Value) *bridge.Bridge {
		b := &bridge.Bridge{Display: d, Editors: editors, Client: greeting, Home: side, Log: log}
		keepTurns(ctx, h, b)
		h.Attach(b)
		return b
	}
	saveMemory()
	in, out := rpc.Stdio()
	err = front.Run(ctx, in, out)
	var start *facade.StartError
	switch {
	case errors.As(err, &start): // the last line: clients show it
		return c.fail("acp", start)
	case err != nil:
		log.Error("the connection to the client broke", "err", err)
		return 1
	default:
		return 0
	}
}

// behind says which agent stands behind the facade: the one that is named, a
// command of the user's, or the user's default with the others to pick from.
func behind(ctx context.Context, h *home.Home, agent string, command []string) (*facade.Facade, bridge.Home, error) {
	side := h.Bridge(buildVersion())
	dir, err := os.Getwd()
	if err != nil {
		return nil, side, err
	}
	front := &facade.Facade{Agent: agent, Folder: dir}
	switch {
	case len(command) > 0:
		own, err := harness.FromCommand(harness.Command{ID: harness.CustomID, Name: filepath.Base(command[0]), Args: command, Dir: dir, FS: true})
		if err != nil {
			return nil, side, fmt.Errorf("reading the command: %w", err)
		}
		side.Harness = func(string) (*harness.Harness, error) { return own, nil }
		front.Agent = own.ID
	case agent == "":
		front.Choices, front.Agent = found(ctx, h)
	}
	return front, side, nil
}

// found lists the agents that can be started here, and the one to begin with: the
// user's default, else the first of them.
func found(ctx context.Context, h *home.Home) (choices func() []facade.Choice, first string) {
	list := func() (all []facade.Choice) {
		for _, a := range h.Doctor(ctx, buildVersion(), home.Look).Agents {
			if a.State.Available {
				all = append(all, facade.Choice{ID: a.ID, Name: a.Name})
			}
		}
		return all
	}
	if first = h.DefaultID(); first == "" {
		if all := list(); len(all) > 0 {
			first = all[0].ID
		}
	}
	return list, first
}
