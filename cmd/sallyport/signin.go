package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"sallyport/bridge"
	"sallyport/bridge/home"
	"sallyport/server/signin"
)

// signIn signs in to the agent that stands behind the flags, as a client's terminal
// starts it: by the words that the answer to initialize has for it.
func (c *call) signIn(a acpFlags, words []string) int {
	s, err := bridge.ReadSignIn(words)
	switch {
	case err != nil:
		return c.usage("acp", err.Error())
	case s.Agent != "" && (a.agent != "" || len(a.command) > 0):
		return c.usage("acp", fmt.Sprintf("%s names agent %s, and there is one already", bridge.SignInMarker, s.Agent))
	case s.Agent != "":
		a.agent = s.Agent
	}
	log := c.log(slog.LevelWarn)
	h, err := home.Open(log)
	if err != nil {
		return c.fail("acp", err)
	}
	defer h.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	defer stop()
	front, side, err := behind(ctx, h, a.agent, a.command)
	if err != nil {
		return c.fail("acp", err)
	}
	s.Agent, s.Folder = front.Agent, front.Folder
	t := &signin.Terminal{In: c.stdin, Out: c.stdout, Err: c.stderr, Home: side, Log: log}
	return t.Run(ctx, s)
}
