package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sallyport/bridge/process"
	"sallyport/workspace/fence"
)

// setupTime bounds how long a fence may take until the agent runs in it.
const setupTime = 60 * time.Second

// start sets the fence up and starts the program in it.
func (l *Launcher) start(ctx context.Context, backend Backend, r Request) (*Fence, error) {
	failed := func(err error) error {
		return &SetupError{Backend: backend, Reason: err.Error(), Fix: l.Probe(ctx).Fix}
	}
	switch {
	case backend != Bubblewrap && backend != Landlock:
		return nil, failed(errors.New("there is no such fence on this system"))
	case backend == Landlock && r.Network != NetworkOpen:
		return nil, failed(errors.New("only bubblewrap closes the network"))
	}
	dir, err := l.dir()
	if err != nil {
		return nil, failed(err)
	}
	u := &undo{}
	f, err := l.launch(ctx, backend, r, dir, u)
	if err != nil {
		return nil, errors.Join(err, u.run()) // the first one says it
	}
	f.clear = u.run
	return f, nil
}

// undo is what takes things away again, the last first.
type undo struct{ steps []func() error }

func (u *undo) add(f func() error) { u.steps = append(u.steps, f) }

func (u *undo) run() error {
	var errs []error
	for _, f := range slices.Backward(u.steps) {
		errs = append(errs, f())
	}
	u.steps = nil
	return errors.Join(errs...)
}

func (l *Launcher) launch(ctx context.Context, backend Backend, r Request, dir string, u *undo) (*Fence, error) {
	failed := func(err error) error { return &SetupError{Backend: backend, Reason: err.Error()} }
	p, err := l.plan(backend, r, dir, u)
	if err != nil {
		return nil, failed(err)
	}
	found := l.Probe(ctx)
	for _, path := range p.layout.Writable {
		if slices.Contains([]string{"/", "/dev", "/proc", "/sys"}, path) {
			return nil, failed(fmt.Errorf("the region is %s, around which there can be none", path))
		}
	}
	if path := p.othersFolder(); path != "" {
		return nil, &SetupError{Backend: backend, Reason: path + " belongs to another user, whose files root cannot write inside a fence: start Sallyport as that user"}
	}
	inside := r.Program
	inside.Env = p.environ(backend, inside.Env)
	inside = r.Said.Of(inside)
	o := &orders{Program: inside.Path, Args: inside.Args, Dir: inside.Dir, Env: inside.Env, Seat: inside.Terminal != nil}
	o.Rules = rules{ABI: found.Landlock, Scopes: found.Landlock >= abiScopes}
	if backend == Landlock {
		if o.Rules.Files, err = landlockFiles(p); err != nil {
			return nil, failed(err)
		}
	}
	o.Rules.NoTCP = r.Network == NetworkOff && found.Landlock >= abiTCP
	o.Tests = p.tests(backend)
	start := p.watched(backend) // as it is before the program may change it
	started, result, err := run(ctx, found.Program, p, o, backend, r.Program)
	if err != nil {
		return nil, err
	}
	return &Fence{
		Process: started, Report: p.report(backend, o, result, found), start: start,
	}, nil
}

// plan gathers what the fence needs on disk.
func (l *Launcher) plan(backend Backend, r Request, dir string, u *undo) (*plan, error) {
	layout := *r.Layout
	layout.Closed, layout.Hidden, layout.Told = slices.Clone(layout.Closed), slices.Clone(layout.Hidden), slices.Clone(layout.Told)
	layout.Absent, layout.Pinned, layout.Writable = slices.Clone(layout.Absent), slices.Clone(layout.Pinned), slices.Clone(layout.Writable)
	if !slices.ContainsFunc(layout.Hidden, func(h fence.Hidden) bool { return h.Folder && fence.Beneath(dir, h.Path) }) {
		layout.Hidden = append(layout.Hidden, fence.Hidden{Path: dir, Kind: fence.Reserved, Folder: true})
	}
	p := &plan{layout: &layout, network: r.Network, blank: filepath.Join(dir, "closed"), canary: filepath.Join(dir, "canary")}
	if err := os.WriteFile(p.canary, []byte("no agent reads this\n"), 0o600); err != nil {
		return nil, err
	}
	if err := makeBlank(p.blank); err != nil {
		return nil, err
	}
	t, err := newTemporary(dir)
	if err != nil {
		return nil, err
	}
	u.add(t.close)
	p.temp = t.path
	p.needs = settle(r.Needs, &layout)
	if backend == Bubblewrap {
		g, err := openGhosts(dir)
		if err != nil {
			return nil, err
		}
		u.add(g.close)
		if err := g.hold(&layout); err != nil {
			return nil, err
		}
		p.runtime, p.sockets = l.runtimeFolders(), l.closedSockets(r.Needs.Sockets)
		p.visible = visible(r.Program)
	}
	return p, nil
}

// othersFolder is a folder of the region that only root's privileges would open; "" when there is none.
func (p *plan) othersFolder() string {
	if os.Geteuid() != 0 {
		return ""
	}
	for _, path := range p.layout.Writable {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o002 != 0 {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 {
			return path
		}
	}
	return ""
}

// makeBlank makes the file that stands for hidden ones: nobody can open it, its owner included.
func makeBlank(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0)
	if errors.Is(err, os.ErrExist) {
		return os.Chmod(path, 0)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// visible are the paths that a program must find again inside.
func visible(spec process.Spec) []string {
	all := []string{spec.Path, spec.Dir}
	if real, err := filepath.EvalSymlinks(spec.Path); err == nil {
		all = append(all, real)
	}
	for _, arg := range spec.Args {
		if filepath.IsAbs(arg) {
			all = append(all, filepath.Clean(arg))
		}
	}
	for _, entry := range spec.Env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			all = append(all, filepath.SplitList(path)...)
		}
	}
	return all
}

// environ is the program's environment inside: temporary files and caches go into the session's own folder.
func (p *plan) environ(backend Backend, env []string) []string {
	dir := p.temp
	if backend == Bubblewrap && !p.within(p.layout.Writable, tmp) {
		dir = tmp
	}
	out := make([]string, 0, len(env)+3)
	caches := map[string]string{"GOCACHE": "go-build", "npm_config_cache": "npm"}
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if name != "TMPDIR" {
			out = append(out, entry)
		}
		delete(caches, name)
	}
	out = append(out, "TMPDIR="+dir)
	for name, sub := range caches {
		out = append(out, name+"="+filepath.Join(dir, sub))
	}
	return out
}

// run starts bwrap, or the inner step itself, and waits until the program runs.
func run(ctx context.Context, bwrap string, p *plan, o *orders, backend Backend, spec process.Spec) (*process.Process, result, error) {
	failed := func(err error) error { return &SetupError{Backend: backend, Reason: err.Error()} }
	if spec.Dir == "" {
		o.Dir = "/"
	}
	encoded, err := o.encode()
	if err != nil {
		return nil, result{}, failed(err)
	}
	var files []*os.File
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	in, err := memory("orders", encoded)
	if err != nil {
		return nil, result{}, failed(err)
	}
	files = append(files, in)
	results, out, err := os.Pipe()
	if err != nil {
		return nil, result{}, failed(err)
	}
	defer results.Close()
	files = append(files, out)
	spec.Path, spec.Args, spec.Env, spec.Dir = "/proc/self/exe", []string{innerCommand}, nil, "/"
	if backend == Bubblewrap {
		self, err := os.Open("/proc/self/exe")
		if err != nil {
			return nil, result{}, failed(err)
		}
		files = append(files, self)
		args, err := memory("mounts", []byte(strings.Join(bubblewrapArgs(p), "\x00")+"\x00"))
		if err != nil {
			return nil, result{}, failed(err)
		}
		files = append(files, args)
		spec.Path = bwrap
		spec.Args = []string{"--args", fmt.Sprint(argsFD), "--", fmt.Sprintf("/proc/self/fd/%d", selfFD), innerCommand}
		spec.Wrap.Waits = true
	}
	spec.Wrap.Seats = o.Seat
	spec.Wrap.Files, spec.Wrap.Sweep = files, []string{sweepCommand, filepath.Dir(p.blank)}
	started, err := process.Start(ctx, spec)
	if err != nil {
		return nil, result{}, failed(err)
	}
	_ = out.Close() // so that its end is seen
	found, err := await(ctx, results)
	switch {
	case err != nil:
		words := lastWords(ctx, started)
		if spec.Terminal != nil {
			words = "what it said is on the terminal"
		}
		err = failed(fmt.Errorf("%w: %s", err, words))
	case found.Errno != 0:
		err = fmt.Errorf("starting %s: %w", o.Program, syscall.Errno(found.Errno))
	case found.Failed != "":
		err = failed(errors.New(found.Failed))
	default:
		return started, found, nil
	}
	return nil, found, errors.Join(err, started.Stop(ctx, 0))
}

// memory is a file in memory, sealed.
func memory(name string, data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), name)
	_, err = f.Write(data)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// await reads what the inner step says.
func await(ctx context.Context, results *os.File) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, setupTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = results.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	found, err := readResults(results)
	if err != nil && ctx.Err() != nil {
		return found, context.Cause(ctx)
	}
	if errors.Is(err, io.EOF) {
		return found, errors.New("its first program ended")
	}
	return found, err
}

// lastWords is what a fence that failed wrote.
func lastWords(ctx context.Context, p *process.Process) string {
	select {
	case <-p.Done():
	case <-ctx.Done():
	case <-time.After(time.Second): // it hangs: stopped by the caller
	}
	said := strings.TrimSpace(p.Stderr())
	return said[strings.LastIndexByte(said, '\n')+1:]
}
