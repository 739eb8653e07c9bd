package home

import (
	"context"
	"os"
	"path/filepath"

	"sallyport/bridge/decide"
	"sallyport/bridge/process"
	"sallyport/bridge/sandbox"
	"sallyport/workspace/fence"
)

// Journals is the folder of the deciders' journals.
func (h *Home) Journals() string { return filepath.Join(h.Paths.State, "deciders") }

// Starter starts deciders, each in a fence of its own where the kernel holds
// fences.
func (h *Home) Starter(version string) *decide.Starter {
	environ := os.Environ()
	s := &decide.Starter{
		Environ: environ, Finder: &process.Finder{Host: environ}, Private: h.User().Fences.Private, Version: version, Log: h.log,
		Own: fence.Own{State: []string{h.Paths.State}, Config: []string{filepath.Dir(h.Paths.Config), h.Paths.Data}},
	}
	kernel := &sandbox.Launcher{Dir: filepath.Join(h.Paths.State, "fence"), Environ: environ, Log: h.log}
	if kernel.Probe(context.Background()).Level() != sandbox.Nothing {
		s.Kernel = kernel
	}
	return s
}
