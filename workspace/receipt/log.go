package receipt

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Log is the receipts of all projects, each in a folder of its own (see Key). Its methods may be called from several goroutines and
// processes at once.
type Log struct {
	Dir  string           // "receipts" in the state folder; made when the first receipt is written
	Now  func() time.Time // picks the month; nil is time.Now
	Step func(string)     // for tests of crashes: hears of each step of Append; nil for none
}

// ErrNotFound says that no receipt of that turn is in the log.
var ErrNotFound = errors.New("no receipt of that turn")

const (
	headFile = "head.json"
	lockFile = "lock"
)

var (
	monthFile  = regexp.MustCompile(`^[0-9]{4}-(0[1-9]|1[0-2])\.jsonl$`)
	tornFile   = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}\.torn-[0-9]+$`)
	projectDir = regexp.MustCompile(`^[0-9a-f]{16}(-[A-Za-z0-9._-]{1,40})?$`)
)

// Key names the folder of a project's log: a hash of the project's folder, and its name as far as that is plain.
func Key(folder string) string {
	folder = filepath.Clean(folder)
	h := sha256.Sum256([]byte(folder))
	key := hex.EncodeToString(h[:8])
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return -1
	}, filepath.Base(folder))
	if name = strings.Trim(name, "."); name == "" {
		return key
	}
	return key + "-" + name[:min(len(name), 40)]
}

// Folder is where the receipts of a project are; kept outputs of checks lie in it too.
func (l *Log) Folder(project string) string { return filepath.Join(l.Dir, Key(project)) }

// keys are the folders of the projects that have a log, or the one of a project.
func (l *Log) keys(project string) ([]string, error) {
	if project != "" {
		return []string{Key(project)}, nil
	}
	entries, err := os.ReadDir(l.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing receipts: %w", err)
	}
	var keys []string
	for _, e := range entries {
		if e.IsDir() && projectDir.MatchString(e.Name()) {
			keys = append(keys, e.Name())
		}
	}
	return keys, nil
}

// shelf is the folder of one project's log.
type shelf struct {
	key  string
	dir  string
	root *os.Root
}

// shelf opens the folder of a log, made first if wanted. A link in its place is refused.
func (l *Log) shelf(key string, create bool) (*shelf, error) {
	dir := filepath.Join(l.Dir, key)
	if create {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &shelf{key, dir, root}, nil
}

func (s *shelf) close() { s.root.Close() }

// months are the files of the log, oldest first.
func (s *shelf) months() ([]string, error) {
	d, err := s.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	all, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(name string) bool { return !monthFile.MatchString(name) })
	slices.Sort(all)
	return all, nil
}

// open opens a regular file, and gives its size. A pipe or a device in its place does not block it.
func (s *shelf) open(name string, flags int) (*os.File, int64, error) {
	f, err := s.root.OpenFile(name, flags|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", filepath.Join(s.dir, name))
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// read reads a small file whole.
func (s *shelf) read(name string, most int64) ([]byte, error) {
	f, size, err := s.open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > most {
		return nil, fmt.Errorf("%s is larger than %d bytes", filepath.Join(s.dir, name), most)
	}
	return io.ReadAll(io.LimitReader(f, most))
}
