package home

import (
	"os"
	"path/filepath"

	"sallyport/bridge/decide"
	"sallyport/bridge/process"
	"sallyport/workspace/config"
	"sallyport/workspace/fence"
)

// Journals is the folder of the deciders' journals.
func (h *Home) Journals() string { return filepath.Join(h.Paths.State, "deciders") }

// Starter starts deciders, each in a fence of its own where the kernel holds
// fences and the user has not switched that off. version is Sallyport's.
func (h *Home) Starter(version string) *decide.Starter {
	environ, user := os.Environ(), h.User()
	s := &decide.Starter{
		Environ: environ, Finder: &process.Finder{Host: environ}, Private: user.Fences.Private, Version: version, Log: h.log,
		Own: fence.Own{State: []string{h.Paths.State}, Config: []string{filepath.Dir(h.Paths.Config), h.Paths.Data}},
	}
	if user.Kernel.Sandbox != config.SandboxOff {
		s.Kernel = h.kernel
	}
	return s
}

// starter is the Starter of what runs.
func (h *Home) starter() *decide.Starter {
	h.mu.Lock()
	version := h.version
	h.mu.Unlock()
	return h.Starter(version)
}

// syncDeciders starts the deciders that are on now and ends the others; what is
// wrong with one is told. They run while a bridge is attached.
func (h *Home) syncDeciders() {
	h.mu.Lock()
	attached := h.voice.bridge != nil
	h.mu.Unlock()
	if !attached {
		return
	}
	if err := h.pool.Sync(h.User().Permissions.Deciders); err != nil {
		h.tell([]Problem{{Text: err.Error(), Error: true}}, false)
	}
}
