package main

import (
	"context"
	"log/slog"

	"sallyport/bridge"
	"sallyport/bridge/fakeagent"
	"sallyport/bridge/home"
	"sallyport/server/terminal"
	"sallyport/workspace/config"
)

const demoHelp = `usage: sallyport demo [--color auto|always|never]

Shows the main job in a new folder with the built-in scripted agent: unsaved
text seen, a permission asked, an edit merged with typing, two writes refused.
Needs no network, no key and no other program, and changes nothing of yours.

example:
  sallyport demo
`

func demo(c *call) int {
	f := c.flags("demo", demoHelp)
	colour := f.String("color", "auto", "")
	if status, done := c.parse(f); done {
		return status
	}
	painted, ok := c.colour(*colour)
	if !ok || f.NArg() > 0 {
		return c.usage("demo", "--color is auto, always or never, and there are no arguments")
	}
	log := c.log(slog.LevelWarn)
	h, err := home.Open(log)
	if err != nil {
		return c.fail("demo", err)
	}
	defer h.Close()
	// The story is the same for everybody, whatever they have configured.
	h.Override = func(user *config.Config) { *user = *config.Default() }
	side := h.Bridge(buildVersion())
	side.Config = func(string) (*config.Config, error) { return config.Default(), nil }
	d := terminal.Demo{
		Story:    terminal.Story{File: fakeagent.DemoFile, Saved: fakeagent.DemoSaved, Unsaved: fakeagent.DemoUnsaved, Typed: fakeagent.DemoTyped},
		Terminal: &terminal.Terminal{Out: c.stdout, Colour: painted, Name: "the demo agent"},
		Bridge: func(d bridge.Display, e *terminal.Buffers) bridge.Sessions {
			return &bridge.Bridge{Display: d, Editor: e, Home: side, Log: log}
		},
	}
	if err := d.Run(context.Background()); err != nil {
		return c.fail("demo", err)
	}
	return 0
}
