package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"sallyport/plugins/harness/doctor"
)

// listAgents prints a line for each agent.
func listAgents(w io.Writer, r doctor.Report, def string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, a := range r.Agents {
		state, more := "ready", a.State.Version.Found
		if !a.State.Available {
			state, more = "missing", a.State.Fix
		}
		if a.ID == def {
			state += ", default"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", a.ID, a.Name, state, more)
	}
	return t.Flush()
}
