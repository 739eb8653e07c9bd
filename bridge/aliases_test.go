package bridge_test

import (
	"context"

	"sallyport/plugins/harness"
	"sallyport/workspace/config"
)

type ctx = context.Context

func configUnsaved(s string) config.Unsaved { return config.Unsaved(s) }

// setModes gives the scripted agent's harness a mapping of modes.
func setModes(r *rig, modes map[string]string) {
	look := r.Bridge.Home.Harness
	r.Bridge.Home.Harness = func(id string) (*harness.Harness, error) {
		h, err := look(id)
		if err != nil {
			return nil, err
		}
		mapped := *h
		mapped.ACP.Switches.Modes = modes
		return &mapped, nil
	}
}

// change replaces the harness.
func change(r *rig, f func(h *harness.Harness)) {
	look := r.Bridge.Home.Harness
	r.Bridge.Home.Harness = func(id string) (*harness.Harness, error) {
		h, err := look(id)
		if err != nil {
			return nil, err
		}
		changed := *h
		f(&changed)
		return &changed, nil
	}
}

func passEnv(r *rig, names ...string) { change(r, func(h *harness.Harness) { h.Own.PassEnv = names }) }

func command(r *rig, words ...string) {
	change(r, func(h *harness.Harness) { h.Program.Locate.Command = words })
}

func contextOf(r *rig) (ctx, context.CancelFunc) { return context.WithCancel(r.ctx()) }

// mediated says of the scripted agent that all its files pass through us.
func mediated(r *rig) {
	change(r, func(h *harness.Harness) { h.Own.Reach.Reads, h.Own.Reach.Writes = "mediated", "mediated" })
}
