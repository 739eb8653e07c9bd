package decide

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"sallyport/plugins/decider"
	"sallyport/workspace/config"
)

// Pool keeps the deciders running that the user has switched on. Its fields are
// set before the first Sync; its methods can be called from any goroutine.
type Pool struct {
	Starter  func() *Starter // asked whenever one may have to be started
	Journals string          // the folder of their journals; empty: there are none
	Log      *slog.Logger    // nil: nothing is logged
	// Renew is called on a goroutine of the pool's when Sync would start a decider
	// anew, and has to call Sync; nil: nobody is told.
	Renew func()

	renewing sync.WaitGroup
	syncing  sync.Mutex // one Sync at a time; taken before mu

	mu     sync.Mutex
	on     []*member
	broken []stamp // manifests of those that could not be started
	looked time.Time
	closed bool
}

// member is one that runs.
type member struct {
	choice   config.Decider
	manifest decider.Manifest
	files    []stamp  // as they were before it was started
	closed   []string // the projects that its fence closes
	decider  *decider.Decider
	journal  *decider.Journal
}

// Sync starts and ends deciders so that those of want run. What is wrong with one
// costs that one only.
func (p *Pool) Sync(want []config.Decider) error {
	p.syncing.Lock()
	defer p.syncing.Unlock()
	p.mu.Lock()
	before := p.on
	if p.closed {
		want = nil
	}
	p.mu.Unlock()
	var after []*member
	var broken []stamp
	var errs error
	for _, choice := range want {
		was := stampOf(filepath.Join(choice.Folder, decider.ManifestName))
		m, err := p.keep(choice, before, after)
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("permissions.deciders: %w", err))
			broken = append(broken, was)
			continue
		}
		after = append(after, m)
	}
	p.mu.Lock()
	p.on, p.broken = after, broken
	p.mu.Unlock()
	var ends sync.WaitGroup // a program may take a second to end
	defer ends.Wait()
	for _, m := range before { // asked no more, from here on
		if !slices.ContainsFunc(after, func(a *member) bool { return a.decider == m.decider }) {
			ends.Go(func() { p.end(m) })
		}
	}
	return errs
}

// keep is the member for a choice: one that runs, or a new one.
func (p *Pool) keep(choice config.Decider, before, after []*member) (*member, error) {
	if !filepath.IsAbs(choice.Folder) {
		return nil, fmt.Errorf("%s: write the folder from / or ~/ on", choice.Folder)
	}
	manifest, err := decider.ReadManifest(choice.Folder)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(after, func(m *member) bool { return m.manifest.ID == manifest.ID }) {
		return nil, fmt.Errorf("%s: %s is there twice", choice.Folder, manifest.ID)
	}
	start, files := p.Starter(), stamps(choice.Folder, manifest)
	for _, m := range before {
		if reflect.DeepEqual(m.manifest, manifest) && slices.EqualFunc(m.files, files, stamp.same) && slices.Equal(m.closed, start.Private) {
			kept := *m
			kept.choice = choice
			return &kept, nil
		}
	}
	m := &member{choice: choice, manifest: manifest, files: files, closed: slices.Clone(start.Private)}
	if p.Journals != "" {
		if m.journal, err = decider.OpenJournal(p.Journals, manifest.ID); err != nil {
			return nil, err // a decision that is in no journal is not to be
		}
	}
	m.decider = decider.Open(start.Program(manifest, func(e decider.Entry) {
		if err := m.journal.Write(e); err != nil && p.Log != nil {
			p.Log.Warn("the journal of a decider", "id", manifest.ID, "err", err)
		}
	}))
	return m, nil
}

func (p *Pool) end(m *member) {
	m.decider.Close()
	if err := m.journal.Close(); err != nil && p.Log != nil {
		p.Log.Warn("closing the journal of a decider", "id", m.manifest.ID, "err", err)
	}
}

// For are the deciders of a session in folder. private is the private project
// that it lives in, empty where it is none: one that is not switched on for it is
// not among them. One that was changed on the disk is started anew meanwhile.
func (p *Pool) For(folder, private string) decider.Set {
	stale := p.Renew != nil && p.Stale()
	p.mu.Lock()
	on := p.on
	if stale && !p.closed {
		p.renewing.Go(p.Renew)
	}
	p.mu.Unlock()
	var set decider.Set
	for _, m := range on {
		in := func(dir string) bool { return within(folder, dir) }
		switch {
		case slices.ContainsFunc(m.choice.Off, in):
		case private != "" && !slices.ContainsFunc(m.choice.Private, func(dir string) bool { return within(private, dir) }):
		default:
			set = append(set, m.decider)
		}
	}
	return set
}

// within reports whether folder is dir or lies in it, by what the folders are and
// not by how they are spelt.
func within(folder, dir string) bool {
	outer, err := os.Stat(dir)
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	for {
		if inner, err := os.Stat(folder); err == nil && os.SameFile(outer, inner) {
			return true
		}
		above := filepath.Dir(folder)
		if above == folder {
			return false
		}
		folder = above
	}
}

// Close ends all.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.Sync(nil) // nothing is started
	p.renewing.Wait()
}
