package config

import "cmp"

// Kernel is what is asked of the kernel for an agent's processes.
type Kernel struct {
	// Sandbox: the kernel's fence around an agent's processes; default "auto". Of a single
	// agent, "" leaves it as it is for all.
	Sandbox Sandbox `json:"sandbox"`
	// Network that an agent's processes reach; default "on". Where it cannot be closed the agent
	// does not start. Of a single agent, "" leaves it as it is for all.
	Network Network `json:"network"`
}

// Sandbox is how much is demanded of the kernel, from strict to free: require, auto, off.
type Sandbox string

// The sandboxes.
const (
	SandboxRequire Sandbox = "require"
	SandboxAuto    Sandbox = "auto"
	SandboxOff     Sandbox = "off"
)

// Network is what an agent's processes reach, from strict to free: off, loopback, on.
type Network string

// The networks.
const (
	NetworkOff      Network = "off"
	NetworkLoopback Network = "loopback" // one of its own: what its own processes serve, nothing of this machine
	NetworkOn       Network = "on"
)

// KernelOf is what is asked of the kernel for the harness with an id: its own settings, and
// those of all agents where it has none.
func (c *Config) KernelOf(id string) Kernel { return c.Custom[id].Kernel.Or(c.Kernel) }

// Or is k with what all has where k has nothing.
func (k Kernel) Or(all Kernel) Kernel {
	return Kernel{Sandbox: cmp.Or(k.Sandbox, all.Sandbox), Network: cmp.Or(k.Network, all.Network)}
}

// tighten gives the stricter of both in each field; unset ones of a project ask nothing.
func (k Kernel) tighten(project Kernel) Kernel {
	k.Sandbox = stricter(k.Sandbox, project.Sandbox, SandboxRequire, SandboxAuto, SandboxOff)
	k.Network = stricter(k.Network, project.Network, NetworkOff, NetworkLoopback, NetworkOn)
	return k
}
