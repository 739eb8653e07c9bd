package server

import (
	"context"
	"path/filepath"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
	"sallyport/server/wire"
)

// cwd is the folder that a request means: its own, or the first workspace
// folder.
func (c *client) cwd(method, given string) (string, error) {
	switch {
	case given == "":
		if f := c.folders.first(); f != "" {
			return f, nil
		}
		return "", badParams(method, "/cwd", "none was given and the editor has no workspace folder")
	case !filepath.IsAbs(given):
		return "", badParams(method, "/cwd", "%q is no absolute path", clip(given))
	default:
		return given, nil
	}
}

func listAgents(ctx context.Context, c *client, _ *wire.AgentsParams) (any, error) {
	rows := []wire.Agent{}
	if c.Agents != nil {
		rows = append(rows, c.Agents(ctx)...)
	}
	return wire.AgentsResult{Agents: rows}, nil
}

// newSession is sallyport/session/new. It is answered before anything of the
// session is shown, so that no update names an id that the plugin has not seen.
func newSession(c *client, m *rpc.Message) {
	p := new(wire.NewParams)
	err := decode(wire.MethodNew, m.Params, p)
	var folder string
	if err == nil {
		folder, err = c.cwd(wire.MethodNew, p.Folder)
	}
	if err == nil && p.MCP != nil && p.MCP.Kind() != '[' && p.MCP.Kind() != 'n' {
		err = badParams(wire.MethodNew, "/mcpServers", "an array is wanted")
	}
	if err != nil {
		c.refuse(m.ID, err)
		return
	}
	id := m.ID
	c.spawn(id, func(ctx context.Context) {
		answered := false
		info, err := c.sessions.New(ctx, bridge.NewSession{
			Agent: p.Agent, Folder: folder, Roots: p.Roots, Mode: p.Mode, MCP: p.MCP,
			Ready: func(i bridge.Info) {
				answered = true
				c.reply(ctx, id, i, nil)
			},
		})
		if !answered {
			c.reply(ctx, id, info, err)
		}
	})
}

func listSessions(ctx context.Context, c *client, p *wire.ListParams) (any, error) {
	r := wire.ListResult{Live: c.sessions.Live(), Stored: []wire.StoredSession{}}
	if r.Live == nil {
		r.Live = []wire.Info{}
	}
	if p.Agent == "" {
		return r, nil
	}
	folder, err := c.cwd(wire.MethodList, p.Folder)
	if err != nil {
		return nil, err
	}
	rows, next, err := c.sessions.Stored(ctx, p.Agent, folder, p.Cursor)
	if err != nil {
		return nil, err
	}
	r.Stored, r.Next = append(r.Stored, rows...), next
	return r, nil
}

func loadSession(ctx context.Context, c *client, p *wire.LoadParams) (any, error) {
	folder, err := c.cwd(wire.MethodLoad, p.Folder)
	if err != nil {
		return nil, err
	}
	if err := need(wire.MethodLoad, "agent", p.Agent, "agentSessionId", p.ID); err != nil {
		return nil, err
	}
	return c.sessions.Load(ctx, bridge.LoadSession{Agent: p.Agent, ID: p.ID, Folder: folder, Roots: p.Roots, Replays: p.Replay})
}

// need demands that fields, given as name and value in turn, are not empty.
func need(method string, fields ...string) error {
	for i := 0; i < len(fields); i += 2 {
		if fields[i+1] == "" {
			return badParams(method, "/"+fields[i], "it is missing")
		}
	}
	return nil
}

func sessionInfo(_ context.Context, c *client, p *wire.SessionParams) (any, error) {
	return c.sessions.Info(p.Session)
}

func closeSession(ctx context.Context, c *client, p *wire.SessionParams) (any, error) {
	err := c.sessions.CloseSession(ctx, p.Session)
	c.book.drop(p.Session)
	return wire.Empty{}, err
}

func deleteSession(ctx context.Context, c *client, p *wire.DeleteParams) (any, error) {
	folder, err := c.cwd(wire.MethodDelete, p.Folder)
	if err != nil {
		return nil, err
	}
	if err := need(wire.MethodDelete, "agent", p.Agent, "agentSessionId", p.ID); err != nil {
		return nil, err
	}
	return wire.Empty{}, c.sessions.DeleteStored(ctx, p.Agent, folder, p.ID)
}

func setMode(ctx context.Context, c *client, p *wire.SetModeParams) (any, error) {
	if err := need(wire.MethodSetMode, "sessionId", p.Session, "mode", string(p.Mode)); err != nil {
		return nil, err
	}
	return c.sessions.SetMode(ctx, p.Session, p.Mode)
}

func clearTaint(ctx context.Context, c *client, p *wire.SessionParams) (any, error) {
	if err := need(wire.MethodClearTaint, "sessionId", p.Session); err != nil {
		return nil, err
	}
	rec, err := c.record()
	if err != nil {
		return nil, err
	}
	return rec.ClearTaint(ctx, p.Session)
}

func setConfigOption(ctx context.Context, c *client, p *wire.SetConfigOptionParams) (any, error) {
	if err := need(wire.MethodSetConfigOption, "sessionId", p.Session, "configId", p.Option, "value", string(p.Value)); err != nil {
		return nil, err
	}
	raw, err := c.sessions.SetConfigOption(ctx, p.Session, p.Option, p.Value)
	if len(raw) == 0 {
		raw = rpc.RawJSON("null")
	}
	return wire.SetConfigOptionResult{Agent: raw}, err
}

func setModel(ctx context.Context, c *client, p *wire.SetModelParams) (any, error) {
	if err := need(wire.MethodSetModel, "sessionId", p.Session, "modelId", p.Model); err != nil {
		return nil, err
	}
	return wire.Empty{}, c.sessions.SetModel(ctx, p.Session, p.Model)
}

func authenticate(ctx context.Context, c *client, p *wire.AuthenticateParams) (any, error) {
	folder, err := c.cwd(wire.MethodAuthenticate, p.Folder)
	if err != nil {
		return nil, err
	}
	if err := need(wire.MethodAuthenticate, "agent", p.Agent, "methodId", p.Method); err != nil {
		return nil, err
	}
	return wire.Empty{}, c.sessions.Authenticate(ctx, p.Agent, folder, p.Method)
}
