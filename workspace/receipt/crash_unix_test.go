//go:build unix

package receipt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sallyport/workspace/crashtest"
)

// TestMain runs the acts of crash tests, which end by SIGKILL at a step.
func TestMain(m *testing.M) { crashtest.Main(m, crash) }

func crash(act, dir string, step func(string)) error {
	l := &Log{Dir: dir, Now: func() time.Time { return november }, Step: step}
	switch act {
	case "append":
		return l.Append(context.Background(), sample("t9"))
	case "full":
		return full(l)
	case "readonly":
		return readOnly(l)
	default:
		return errors.New("no such act")
	}
}

// full appends when the disk takes a part of the line, and again when it takes all.
func full(l *Log) error {
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return err
	}
	info, err := os.Stat(l.month("2026-11"))
	if err != nil {
		return err
	}
	little := was
	little.Cur = uint64(info.Size()) + 100
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &little); err != nil {
		return err
	}
	if err := l.Append(context.Background(), sample("t9")); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("with a full disk: %w", err)
	}
	if now, err := os.Stat(l.month("2026-11")); err != nil || now.Size() != info.Size() {
		return fmt.Errorf("with a full disk the file went from %d to %d bytes, %w", info.Size(), now.Size(), err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return err
	}
	return l.Append(context.Background(), sample("t9"))
}

// readOnly appends to folders that take nothing.
func readOnly(l *Log) error {
	const nobody = 65534
	if os.Getuid() == 0 {
		if err := syscall.Setuid(nobody); err != nil {
			return err
		}
	}
	if err := l.Append(context.Background(), sample("t9")); !errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("in a folder that is read-only: %w", err)
	}
	report, err := l.Verify(context.Background(), project)
	if err != nil || !report.Sound() {
		return fmt.Errorf("verifying there: %+v, %w", report, err)
	}
	return nil
}

// walk kills Append at each of its steps, each time in a fresh log made so. The receipt is there or not, and the next goes after it.
func walk(t *testing.T, before []string, prepare func(l *Log), steps int) {
	t.Helper()
	for step := 1; ; step++ {
		l := newLog(t)
		prepare(l)
		killed := crashtest.Run(t, "append", l.Dir, step)
		got := turns(t, l, project, false)
		whole := append(append([]string{}, before...), "t9")
		if !cmp.Equal(got, before) && !cmp.Equal(got, whole) || !killed && len(got) != len(whole) {
			t.Fatalf("killed at step %d (%v): turns %q", step, killed, got)
		}
		if report, err := l.Verify(t.Context(), ""); err != nil || !report.Sound() {
			t.Fatalf("killed at step %d: Verify = %+v, %v", step, report, err)
		}
		l.must(t, "t10")
		l.sound(t, len(got)+1)
		if after := turns(t, l, project, false); !cmp.Equal(after, append(got, "t10")) {
			t.Fatalf("killed at step %d: turns %q, then %q", step, got, after)
		}
		if !killed {
			if step <= steps {
				t.Errorf("Append has only %d steps", step-1)
			}
			return
		}
	}
}

func TestCrash(t *testing.T) {
	t.Run("first receipt", func(t *testing.T) { walk(t, nil, func(*Log) {}, 9) })
	t.Run("next receipt", func(t *testing.T) { walk(t, []string{"t1", "t2"}, func(l *Log) { l.must(t, "t1", "t2") }, 9) })
	t.Run("after a torn tail", func(t *testing.T) {
		walk(t, []string{"t1"}, func(l *Log) {
			l.must(t, "t1")
			f, err := os.OpenFile(l.month("2026-11"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			fmt.Fprint(f, `{"schema":1,`)
		}, 11)
	})
}

func TestFullDisk(t *testing.T) {
	l := newLog(t)
	l.must(t, "t1", "t2")
	crashtest.Run(t, "full", l.Dir, 0)
	l.sound(t, 3)
}

func TestReadOnlyFolder(t *testing.T) {
	l := newLog(t)
	l.must(t, "t1")
	data, err := os.ReadFile(l.month("2026-11"))
	if err != nil {
		t.Fatal(err)
	}
	above := filepath.Dir(filepath.Dir(filepath.Dir(l.Dir)))              // of the folder that is the test's own
	for dir := l.Folder(project); dir != above; dir = filepath.Dir(dir) { // the user nobody may look, if we are root
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	}
	if os.Getuid() == 0 {
		for _, name := range []string{l.month("2026-11"), filepath.Join(l.Folder(project), headFile), filepath.Join(l.Folder(project), lockFile)} {
			if err := os.Chmod(name, 0o444); err != nil {
				t.Fatal(err)
			}
		}
	}
	crashtest.Run(t, "readonly", l.Dir, 0)
	if after, err := os.ReadFile(l.month("2026-11")); err != nil || string(after) != string(data) {
		t.Errorf("the file was changed: %v", err)
	}
}

// What stands in place of a file of the log blocks nobody.
func TestPipeForAFile(t *testing.T) {
	for _, name := range []string{"2026-11.jsonl", headFile} {
		l := newLog(t)
		l.must(t, "t1")
		pipe := filepath.Join(l.Folder(project), name)
		if err := errors.Join(os.Remove(pipe), syscall.Mkfifo(pipe, 0o600)); err != nil {
			t.Fatal(err)
		}
		err := l.Append(t.Context(), sample("t2"))
		if name != headFile && err == nil {
			t.Errorf("Append with a pipe for %s: no error", name)
		}
		turns(t, l, project, false)
		turns(t, l, project, true)
		if _, err := l.Verify(t.Context(), project); name != headFile && err == nil {
			t.Errorf("Verify with a pipe for %s: no error", name)
		}
	}
}
