package main

import (
	"context"
	"log/slog"

	"sallyport/bridge/home"
)

const agentsHelp = `usage: sallyport agents [--json]

Lists the agents that Sallyport knows and whether they are on this machine.

example:
  sallyport agents
  sallyport agents --json
`

const doctorHelp = `usage: sallyport doctor [--json] [--probe]

Says of each agent whether it works on this machine, which version was tested,
what holds for it, and the one line that mends what is wrong.

  --json    the report as JSON (sallyport doctor --schema prints its schema)
  --probe   really start each agent and open a session
  --schema  print the JSON Schema of the report

example:
  sallyport doctor
  sallyport doctor --json | jq '.external_agents[] | select(.available)'

exit status: 0 also when agents are missing
`

func agents(c *call) int { return report(c, "agents", agentsHelp) }

func doctorCommand(c *call) int { return report(c, "doctor", doctorHelp) }

func report(c *call, name, help string) int {
	f := c.flags(name, help)
	asJSON := f.Bool("json", false, "")
	var probe, schema bool
	if name == "doctor" {
		f.BoolVar(&probe, "probe", false, "")
		f.BoolVar(&schema, "schema", false, "")
	}
	if status, done := c.parse(f); done {
		return status
	}
	if f.NArg() > 0 {
		return c.usage(name, "there are no arguments")
	}
	if schema {
		_, err := c.stdout.Write(home.DoctorSchema())
		return c.status(name, err)
	}
	h, err := home.Open(c.log(slog.LevelWarn))
	if err != nil {
		return c.fail(name, err)
	}
	defer h.Close()
	depth := home.Ask
	switch {
	case probe:
		depth = home.Probe
	case name == "agents":
		depth = home.Look
	}
	r := h.Doctor(context.Background(), buildVersion(), depth)
	switch {
	case *asJSON:
		raw, err := r.JSON()
		if err == nil {
			_, err = c.stdout.Write(raw)
		}
		return c.status(name, err)
	case name == "agents":
		return c.status(name, listAgents(c.stdout, r, h.DefaultID()))
	default:
		painted, _ := c.colour("auto")
		for _, p := range h.Problems() {
			if p.Error {
				_, _ = c.stderr.WriteString("sallyport doctor: " + p.Text + "\n")
			}
		}
		return c.status(name, r.Text(c.stdout, painted))
	}
}

// status is the exit status of a command that did its work.
func (c *call) status(name string, err error) int {
	if err != nil {
		return c.fail(name, err)
	}
	return 0
}
