package watch

import "github.com/fsnotify/fsnotify"

// source is what tells of single folders: the system's, or a test's that runs full.
type source interface {
	Add(folder string) error
	Remove(folder string) error
	Close() error
	events() <-chan fsnotify.Event // closed by Close
	errors() <-chan error          // closed by Close
}

// system is the operating system's.
type system struct{ *fsnotify.Watcher }

func openSystem() (source, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return system{w}, nil
}

func (s system) events() <-chan fsnotify.Event { return s.Events }
func (s system) errors() <-chan error          { return s.Errors }
