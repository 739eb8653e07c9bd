package server

import (
	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/plugins/harness"
	"sallyport/plugins/harness/doctor"
	"sallyport/server/wire"
)

// Rows makes the answer to sallyport/agents of a doctor's report. def is the
// id of the default harness, "" for none.
func Rows(r doctor.Report, set *harness.Set, def string) []wire.Agent {
	rows := make([]wire.Agent, 0, len(r.Agents))
	for _, a := range r.Agents {
		row := wire.Agent{
			ID: a.ID, Name: a.Name, Default: a.ID == def || a.GlobalID == def, Modes: []bridge.ModeInfo{},
			State:   wire.State{Available: a.State.Available, Reason: a.State.Problem, Fix: a.State.Fix},
			Program: wire.Program{Path: a.State.Program, Version: a.State.Version.Found, Tested: a.State.Version.Status == harness.IsTested},
		}
		if t := a.State.Version.Tested; t != nil {
			row.Program.Oldest, row.Program.Newest = t.Oldest, t.Newest
		}
		if h, err := set.Get(a.GlobalID); err == nil {
			for _, m := range h.Caps.Modes {
				row.Modes = append(row.Modes, bridge.ModeInfo{ID: permit.Mode(m.ID), Meaning: m.Meaning.In("en")})
			}
			p := bridge.PostureOf(h)
			row.Grades = &wire.Grades{Reads: p.Reads, Writes: p.Writes, Commands: p.Commands}
		}
		rows = append(rows, row)
	}
	return rows
}
