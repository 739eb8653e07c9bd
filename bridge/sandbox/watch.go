package sandbox

import (
	"bytes"
	"context"
	"os"
	"slices"
	"time"

	"sallyport/workspace/fence"
)

// Event is something that happened to a fence while its agent ran.
type Event struct {
	Path string
	// Lost: a mask no longer stands on what is at Path now. Otherwise Path is reserved, was absent, and is there now.
	Lost bool
	// Mounted: Lost because a file system was mounted there, which programs inside may be able to write.
	Mounted bool
}

// often is how often the masks are looked at.
const often = 400 * time.Millisecond

// watched is what a fence looks after, as it was at the start.
type watched struct {
	masks  []mask
	told   []string            // absent, and reserved
	names  map[string][]string // other paths of hidden folders
	ground *ground
}

// watched is what it is now.
func (p *plan) watched(backend Backend) watched {
	return watched{p.masks(backend), p.absent(backend), p.otherNames(), p.ground(backend)}
}

// mask is what one stood on at the start.
type mask struct {
	path     string
	info     os.FileInfo
	born     int64 // 0: not known
	vanishes bool  // that nothing is there is no loss: it was moved with its mask, or deleted
}

// Watch looks after the masks until ctx ends, and tells each event once. A backend without masks has no events.
func (f *Fence) Watch(ctx context.Context, tell func([]Event)) {
	if f.Report.Backend == None {
		return
	}
	w := watcher{fence: f, told: map[string]bool{}}
	tick := time.NewTicker(often)
	defer tick.Stop()
	for {
		if events := w.look(); len(events) > 0 {
			tell(events)
		}
		select {
		case <-ctx.Done():
			return
		case <-f.Process.Gone():
			return
		case <-tick.C:
		}
	}
}

type watcher struct {
	fence *Fence
	told  map[string]bool

	mounts []byte // the table of mounts, when names were looked for last
}

func (w *watcher) look() []Event {
	var events []Event
	add := func(e Event) {
		if !w.told[e.Path] {
			w.told[e.Path] = true
			events = append(events, e)
		}
	}
	for _, m := range w.fence.start.masks {
		now, err := os.Lstat(m.path)
		switch {
		case err == nil && m.is(now), err != nil && m.vanishes:
		default:
			add(Event{Path: m.path, Lost: true})
		}
	}
	for _, path := range w.fence.start.told {
		if _, err := os.Lstat(path); err == nil {
			add(Event{Path: path})
		}
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || len(w.fence.start.masks) == 0 || bytes.Equal(table, w.mounts) {
		return events
	}
	w.mounts = table
	for path, known := range w.fence.start.names {
		for _, name := range fence.OtherNames(path) {
			if !slices.Contains(known, name) {
				add(Event{Path: name, Lost: true})
			}
		}
	}
	for _, path := range w.fence.start.ground.fresh(table) {
		add(Event{Path: path, Lost: true, Mounted: true})
	}
	return events
}

// masks are what stood where the masks of a plan were put.
func (p *plan) masks(backend Backend) []mask {
	if backend != Bubblewrap {
		return nil
	}
	var all []mask
	for _, m := range p.mounts() {
		if m.rank != closed && m.rank != setting && m.rank != hidden && m.rank != pinned {
			continue
		}
		if info, err := os.Lstat(m.path); err == nil {
			all = append(all, newMask(m.path, info, m.rank == hidden))
		}
	}
	for _, path := range p.layout.Told { // links, which cannot be masked
		if info, err := os.Lstat(path); err == nil {
			all = append(all, newMask(path, info, false))
		}
	}
	return all
}

func newMask(path string, info os.FileInfo, vanishes bool) mask {
	return mask{path, info, fence.Birth(info, path), vanishes}
}

// is reports whether the mask stands on what is there now.
func (m mask) is(now os.FileInfo) bool {
	return os.SameFile(now, m.info) && (m.born == 0 || fence.Birth(now, m.path) == m.born)
}

// absent are the reserved paths at which nothing is, and nothing holds.
func (p *plan) absent(backend Backend) []string {
	paths := slices.Clone(p.layout.Told)
	if backend != Bubblewrap {
		for _, a := range p.layout.Absent {
			paths = append(paths, a.Path)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	})
}
