package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"sallyport/bridge"
	"sallyport/bridge/home"
	"sallyport/bridge/rpc"
	"sallyport/server"
	"sallyport/server/wire"
	"sallyport/workspace"
)

const serveHelp = `usage: sallyport serve [--agent ID] [--log LEVEL]

Speaks the Language Server Protocol on stdin and stdout; an editor starts it.
Stdout belongs to the protocol, logs go to stderr. It ends, with every agent,
when the editor does.

  --agent ID   the default agent of this editor; default: the setting "agent"
  --log LEVEL  debug, info, warn, error; default: the setting "logLevel"

example (Neovim 0.11 and newer):
  vim.lsp.config('sallyport', {
    cmd = { 'sallyport', 'serve' }, root_markers = { '.git' }, workspace_required = true,
  })
  vim.lsp.enable('sallyport')
`

func serve(c *call) int {
	f := c.flags("serve", serveHelp)
	level, agent := f.String("log", "", ""), f.String("agent", "", "")
	_ = f.Bool("stdio", true, "") // LSP clients like to pass it
	if status, done := c.parse(f); done {
		return status
	}
	var logLevel slog.LevelVar
	switch {
	case f.NArg() > 0:
		return c.usage("serve", "there are no arguments")
	case *level != "" && logLevel.UnmarshalText([]byte(*level)) != nil:
		return c.usage("serve", "--log is debug, info, warn or error")
	}
	log := c.log(&logLevel)
	h, err := home.Open(log)
	if err != nil {
		return c.fail("serve", err)
	}
	defer h.Close()
	h.Default = *agent
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	var b *bridge.Bridge
	s := server.Server{
		Version: buildVersion(), Log: log, StateDir: h.Paths.State,
		Agents: func(ctx context.Context) []wire.Agent {
			return server.Rows(h.Doctor(ctx, buildVersion(), home.Look), h.Set(), h.DefaultID())
		},
		Sessions: func(d bridge.Display, e workspace.Editor, _ *workspace.Documents) bridge.Sessions {
			saveMemory()
			if *level == "" {
				logLevel.Set(h.User().LogLevel)
			}
			b = &bridge.Bridge{Display: d, Editor: e, Home: h.Bridge(buildVersion()), Log: log}
			keepTurns(ctx, h, b)
			h.Attach(b)
			return b
		},
	}
	s.Initialized = func(folder string) {
		for _, id := range h.User().Prestart {
			b.Prestart(id, folder)
		}
	}
	in, out := rpc.Stdio()
	exit, err := s.Run(ctx, in, out)
	if err != nil {
		log.Error("the connection to the editor broke", "err", err)
	}
	return exit
}

// saveMemory has garbage collected sooner than Go does by itself: this process
// sits beside an editor all day with the texts of its documents, and hardly works.
func saveMemory() {
	const percent = 40
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
