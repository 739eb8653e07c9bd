package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Program is a program on this machine, ready to be started.
type Program struct {
	Path    string   // absolute
	Args    []string // that make it speak ACP
	Package Package  // the npm package that it belongs to, if any
}

// Package is an npm package on the disk; zero when there is none.
type Package struct {
	Name, Version string
}

// String is the command line as a person would type it.
func (p Program) String() string { return quoteLine(append([]string{p.Path}, p.Args...)) }

// CommandLine is the program that would be started, by its name: what is
// shown to a person before the harness is installed.
func (h *Harness) CommandLine() string {
	line := h.Program.Locate.Command
	if len(line) == 0 && len(h.Program.Locate.Names) > 0 {
		line = append([]string{h.Program.Locate.Names[0]}, h.ACP.Args...)
	}
	return quoteLine(line)
}

// NotFoundError says that the program of a harness is not on this machine, or
// lacks there what it needs to run.
type NotFoundError struct {
	Harness string   // its name, for people
	Names   []string // looked for
	Other   Package  // a program of that name was there, but it is another agent's
	Install string   // line for this system; "" when none is known
	Cause   error    // what lookPath said last
}

// Error says what lookPath said, where that is more than "not found": the PATH
// that was searched, the interpreter that is missing.
func (e *NotFoundError) Error() string {
	var plain *exec.Error
	if e.Other.Name == "" && e.Cause != nil && e.Cause != exec.ErrNotFound && !errors.As(e.Cause, &plain) {
		return fmt.Sprintf("%s cannot be started: %v", e.Harness, e.Cause)
	}
	return e.Short()
}

// Short is the error without what lookPath said.
func (e *NotFoundError) Short() string {
	names := strings.Join(e.Names, " or ")
	if e.Other.Name != "" {
		return fmt.Sprintf("%s is not installed: the program %s on PATH belongs to %s %s", e.Harness, names, e.Other.Name, e.Other.Version)
	}
	return fmt.Sprintf("%s is not installed: %s is not on PATH", e.Harness, names)
}

func (e *NotFoundError) Unwrap() error { return e.Cause }

// Find looks for the program. lookPath resolves a bare name to a path; nil is
// exec.LookPath, that is, PATH and on Windows PATHEXT. A result that is not
// absolute is not taken: a project could have put it there.
//
// Errors: *NotFoundError; *LauncherError when the arguments cannot be given
// safely to the program found.
func (h *Harness) Find(lookPath func(string) (string, error)) (Program, error) {
	if lookPath == nil {
		lookPath = exec.LookPath
	}
	p, err := h.find(lookPath)
	if err != nil {
		return Program{}, err
	}
	if err := checkLauncher(runtime.GOOS, p); err != nil {
		return Program{}, err
	}
	return p, nil
}

func (h *Harness) find(lookPath func(string) (string, error)) (Program, error) {
	missing := &NotFoundError{Harness: h.Name, Names: h.Program.Locate.Names, Install: h.Install.Lines.For(runtime.GOOS)}
	if h.Own.Self && h.From.Origin == Builtin {
		self, err := os.Executable()
		if err != nil {
			return Program{}, fmt.Errorf("finding ourselves: %w", err)
		}
		return Program{Path: self, Args: h.ACP.Args}, nil
	}
	if line := h.Program.Locate.Command; h.From.Origin == User && len(line) > 0 {
		missing.Names = line[:1]
		path, err := lookPath(line[0])
		if missing.Cause = err; err != nil || !filepath.IsAbs(path) {
			return Program{}, missing
		}
		return Program{Path: path, Args: line[1:], Package: h.packageOf(path)}, nil
	}
	for _, name := range h.Program.Locate.Names {
		path, err := lookPath(name)
		if err != nil {
			missing.Cause = err
			continue
		}
		if !filepath.IsAbs(path) {
			continue
		}
		p := Program{Path: path, Args: h.ACP.Args, Package: h.packageOf(path)}
		if h.isOther(p.Package) {
			missing.Other = p.Package
			continue
		}
		return p, nil
	}
	return Program{}, missing
}

func (h *Harness) isOther(p Package) bool {
	for _, name := range h.Own.Package.NotNpm {
		if p.Name == name {
			return true
		}
	}
	return false
}

// LauncherError refuses arguments that cmd.exe would read as its own syntax.
type LauncherError struct {
	Launcher string // the .cmd or .bat
	Argument string
}

func (e *LauncherError) Error() string {
	return fmt.Sprintf("the argument %s cannot be given to %s: cmd.exe would read a character of it as a command", quoted(e.Argument), e.Launcher)
}

// checkLauncher refuses what cannot be passed through a batch file unharmed.
// cmd.exe expands even quoted text, so nothing is escaped.
func checkLauncher(goos string, p Program) error {
	ext := strings.ToLower(p.Path[max(strings.LastIndexByte(p.Path, '.'), 0):])
	if goos != "windows" || ext != ".cmd" && ext != ".bat" {
		return nil
	}
	for _, arg := range p.Args {
		if strings.ContainsAny(arg, "&|<>^%\"\r\n") {
			return &LauncherError{Launcher: p.Path, Argument: arg}
		}
	}
	return nil
}

// IsNotFound reports whether err says that a program is not installed.
func IsNotFound(err error) bool {
	var missing *NotFoundError
	return errors.As(err, &missing)
}
