package watch

import (
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// tiny is the system's source with few places.
type tiny struct {
	source
	left int
}

func small(places int) (source, error) {
	s, err := openSystem()
	return &tiny{s, places}, err
}

func (s *tiny) Add(folder string) error {
	if s.left == 0 {
		return syscall.Errno(full)
	}
	s.left--
	return s.source.Add(folder)
}

func (s *tiny) Remove(folder string) error {
	err := s.source.Remove(folder)
	if err == nil {
		s.left++
	}
	return err
}

// told is a source that says what the test says.
type told struct {
	say  chan fsnotify.Event
	errs chan error
}

func (told) Add(string) error    { return nil }
func (told) Remove(string) error { return nil }
func (s told) Close() error {
	close(s.say)
	close(s.errs)
	return nil
}
func (s told) events() <-chan fsnotify.Event { return s.say }
func (s told) errors() <-chan error          { return s.errs }

// bubble runs f with a watcher of one folder whose source is the test's.
func bubble(t *testing.T, o Options, f func(s told, w *Watcher, dir string)) {
	dir := t.TempDir()
	synctest.Test(t, func(*testing.T) {
		s := told{make(chan fsnotify.Event), make(chan error)}
		o.open = func() (source, error) { return s, nil }
		o.Trees = []string{dir}
		w := New(o)
		defer w.Close()
		<-w.Events()
		f(s, w, dir)
	})
}

func TestChangesAreGathered(t *testing.T) {
	bubble(t, Options{}, func(s told, w *Watcher, dir string) {
		begun := time.Now()
		for i := range 100 { // 1 ms apart
			s.say <- fsnotify.Event{Name: filepath.Join(dir, fmt.Sprint(i%10)), Op: fsnotify.Write}
			time.Sleep(time.Millisecond)
		}
		e := <-w.Events()
		if took := time.Since(begun); len(e.Paths) != 10 || e.Overflow || took != 149*time.Millisecond {
			t.Errorf("%d paths, overflow %t, after %v; want 10, 50 ms after the last", len(e.Paths), e.Overflow, took)
		}
		time.Sleep(time.Hour)
		select {
		case e := <-w.Events():
			t.Errorf("then came %+v", e)
		default:
		}
	})
}

func TestWhatDoesNotEndIsToldInTime(t *testing.T) {
	bubble(t, Options{}, func(s told, w *Watcher, dir string) {
		begun, stop := time.Now(), make(chan struct{})
		var saying sync.WaitGroup
		saying.Go(func() {
			for {
				select {
				case s.say <- fsnotify.Event{Name: filepath.Join(dir, "a"), Op: fsnotify.Write}:
					time.Sleep(10 * time.Millisecond)
				case <-stop:
					return
				}
			}
		})
		<-w.Events()
		took := time.Since(begun)
		close(stop)
		saying.Wait()
		if took > 250*time.Millisecond {
			t.Errorf("told after %v", took)
		}
	})
}

// An event that nobody takes is bounded, and says so.
func TestNobodyTakes(t *testing.T) {
	bubble(t, Options{MaxPaths: 10}, func(s told, w *Watcher, dir string) {
		for i := range 1000 {
			s.say <- fsnotify.Event{Name: filepath.Join(dir, fmt.Sprint(i)), Op: fsnotify.Write}
		}
		time.Sleep(time.Minute)
		e := <-w.Events()
		if len(e.Paths) != 10 || !e.Overflow {
			t.Errorf("%d paths, overflow %t", len(e.Paths), e.Overflow)
		}
	})
}

func TestTheQueueRanOver(t *testing.T) {
	bubble(t, Options{}, func(s told, w *Watcher, _ string) {
		s.errs <- fsnotify.ErrEventOverflow
		if e := <-w.Events(); !e.Overflow {
			t.Errorf("came %+v", e)
		}
	})
}
