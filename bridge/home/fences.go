package home

import (
	"context"

	"sallyport/bridge"
)

// Fences tries what holds for an agent in a folder; agent may be empty.
func (h *Home) Fences(ctx context.Context, version, agent, folder string) (*bridge.Fences, error) {
	b := &bridge.Bridge{Display: quiet{}, Home: h.Bridge(version), Log: h.log}
	defer b.Close(context.WithoutCancel(ctx))
	if agent == "" && h.DefaultID() == "" {
		agent = "demo" // no agent is chosen: one that needs nothing of its own
	}
	return b.Fences(ctx, agent, folder)
}
