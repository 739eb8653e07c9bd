package process

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// NotFoundError says that a program is not there. It wraps exec.ErrNotFound.
type NotFoundError struct {
	Name   string // as it was asked for
	Path   string // the PATH that was searched; "" if Name is a path itself
	Script string // the script whose first line names the program; "" if none
}

func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("program %s not found", e.Name)
	if e.Path != "" {
		text += " on PATH " + e.Path
	}
	if e.Script != "" {
		text += ", which " + e.Script + " needs to run"
	}
	return text
}

func (e *NotFoundError) Unwrap() error { return exec.ErrNotFound }

// LookPath finds a program on the PATH of env; a name with a separator is a path
// already. On Windows the endings of env's PATHEXT are tried. Folders of PATH
// that are not absolute are passed over: what is called must not depend on where.
// The error is a *NotFoundError.
func LookPath(name string, env []string) (string, error) {
	return lookPath(name, env, runtime.GOOS == "windows", runnable)
}

func lookPath(name string, env []string, windows bool, runnable func(path string) bool) (string, error) {
	separators, list, join := "/", ":", "/"
	if windows {
		separators, list, join = `/\:`, ";", `\`
	}
	endings := []string{""}
	if windows {
		endings = pathEndings(name, lookup(env, "PATHEXT", true))
	}
	try := func(base string) (string, bool) {
		for _, ending := range endings {
			if runnable(base + ending) {
				return base + ending, true
			}
		}
		return "", false
	}
	if strings.ContainsAny(name, separators) {
		if found, ok := try(name); ok {
			return found, nil
		}
		return "", &NotFoundError{Name: name}
	}
	path := lookup(env, "PATH", windows)
	for dir := range strings.SplitSeq(path, list) {
		if windows {
			dir = strings.Trim(dir, `"`)
		}
		if !isAbs(dir, windows) || name == "" {
			continue
		}
		if found, ok := try(strings.TrimRight(dir, separators[:len(separators)-1]+join) + join + name); ok {
			return found, nil
		}
	}
	return "", &NotFoundError{Name: name, Path: path}
}

// isAbs is filepath.IsAbs for either system.
func isAbs(dir string, windows bool) bool {
	if !windows {
		return strings.HasPrefix(dir, "/")
	}
	return strings.HasPrefix(dir, `\\`) || len(dir) > 2 && dir[1] == ':' && (dir[2] == '\\' || dir[2] == '/')
}

// pathEndings lists what to append to name in order: the name itself first only
// if it has one of the endings.
func pathEndings(name, pathExt string) []string {
	if pathExt == "" {
		pathExt = ".COM;.EXE;.BAT;.CMD"
	}
	var endings []string
	for ending := range strings.SplitSeq(strings.ToLower(pathExt), ";") {
		if ending == "" {
			continue
		}
		if strings.HasSuffix(strings.ToLower(name), ending) {
			return append([]string{""}, endings...)
		}
		endings = append(endings, ending)
	}
	return endings
}

// runnable reports whether path is a file that can be executed.
func runnable(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return runtime.GOOS == "windows" || info.Mode()&0o111 != 0
}

// CheckScript returns a *NotFoundError when path is a script ("#!…") whose
// interpreter is missing, be it named directly or through env. The system's own
// error would name the script instead, or come from env when it is too late.
func CheckScript(path string, env []string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	line, err := shebang(path)
	if err != nil || line == "" {
		return nil // not readable: the start will say why; no script: nothing to check
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	program := words[0]
	if filepath.Base(program) == "env" && runnable(program) {
		program = ""
		for _, word := range words[1:] {
			if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
				program = word
				break
			}
		}
		if program == "" {
			return nil
		}
	}
	if _, err := LookPath(program, env); err != nil {
		if missing, ok := err.(*NotFoundError); ok {
			missing.Script = path
		}
		return err
	}
	return nil
}

// shebang returns what follows "#!" in the first line, "" if there is no such.
func shebang(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", fs.ErrInvalid
	}
	b := make([]byte, 256)
	n, err := io.ReadFull(f, b)
	if err != nil && err != io.ErrUnexpectedEOF {
		return "", err
	}
	line, _, _ := strings.Cut(string(b[:n]), "\n")
	line, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return "", nil
	}
	return strings.TrimSpace(line), nil
}
