package main

import (
	"context"
	"log/slog"

	"sallyport/bridge"
	"sallyport/bridge/fakeagent"
	"sallyport/bridge/home"
	"sallyport/server/terminal"
	"sallyport/workspace/config"
	"sallyport/workspace/turns"
)

const demoHelp = `usage: sallyport demo [--color auto|always|never]

Shows the main job in a new folder with the built-in scripted agent: unsaved
text seen, a permission asked, an edit merged with typing, two writes refused,
the turn taken back, and its receipt.
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
		Story:    terminal.Story{File: fakeagent.DemoFile, Saved: fakeagent.DemoSaved, Unsaved: fakeagent.DemoUnsaved, Typed: fakeagent.DemoTyped, Made: fakeagent.DemoMade},
		Terminal: &terminal.Terminal{Out: c.stdout, Colour: painted, Name: "the demo agent"},
		Bridge: func(ctx context.Context, d bridge.Display, e *terminal.Buffers, state string) (bridge.Sessions, func(), error) {
			store, err := turns.Open(ctx, turns.Config{State: state, Log: log})
			if err != nil {
				return nil, nil, err
			}
			b := &bridge.Bridge{Display: d, Editor: e, Home: side, Turns: store, Log: log}
			return b, func() { _ = store.Close() }, nil // its folder goes at once
		},
	}
	if err := d.Run(context.Background()); err != nil {
		return c.fail("demo", err)
	}
	return 0
}
