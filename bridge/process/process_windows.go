package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// GuardMain has nothing to do here: the job ends all that is in it when its last
// handle is closed, which is ours.
func GuardMain() int {
	fmt.Fprintln(os.Stderr, "sallyport: there is no guard on this system")
	return 2
}

// job is a program in a job object of its own.
type job struct {
	cmd     *exec.Cmd
	allGone chan struct{}
	mu      sync.Mutex
	handle  windows.Handle // guarded by mu; 0 once closed
}

// start starts the program suspended, puts it into its job, and lets it run, so
// that nothing it starts escapes.
func (p *Process) start(ctx context.Context, spec Spec) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if spec.Terminal != nil {
		return errors.New("there are no terminals for programs on this system")
	}
	handle, err := newJob()
	if err != nil {
		return err
	}
	j := &job{handle: handle, allGone: make(chan struct{})}
	stdout, stdoutW, err := os.Pipe()
	if err != nil {
		j.close()
		return err
	}
	j.cmd = exec.Command(spec.Path, spec.Args...)
	j.cmd.Dir, j.cmd.Env, j.cmd.Stdout, j.cmd.Stderr = spec.Dir, spec.Env, stdoutW, p.stderr
	if j.cmd.Env == nil {
		j.cmd.Env = []string{}
	}
	j.cmd.WaitDelay = drainGrace
	j.cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP,
	}
	p.Stdin, err = j.cmd.StdinPipe()
	if err == nil {
		err = j.cmd.Start()
	}
	_ = stdoutW.Close() // the program has it, or there is none
	if err == nil {
		if err = j.admit(); err != nil {
			_ = j.cmd.Process.Kill()
			_ = j.cmd.Wait()
		}
	}
	if err != nil {
		_ = stdout.Close()
		j.close()
		return err
	}
	p.Stdout, p.tree = stdoutPipe{stdout}, j
	go p.watch(j)
	return nil
}

// stdoutPipe ends when the job is emptied, which closes all its handles.
type stdoutPipe struct{ io.ReadCloser }

// newJob makes a job that kills what is in it when its handle is closed.
func newJob() (windows.Handle, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("making a job object: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(handle)
		return 0, fmt.Errorf("limiting a job object: %w", err)
	}
	return handle, nil
}

// admit puts the suspended program into the job and resumes it.
func (j *job) admit() error {
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE | windows.PROCESS_SUSPEND_RESUME
	process, err := windows.OpenProcess(access, false, uint32(j.cmd.Process.Pid))
	if err != nil {
		return fmt.Errorf("opening the program: %w", err)
	}
	defer windows.CloseHandle(process)
	if err := windows.AssignProcessToJobObject(j.handle, process); err != nil {
		return fmt.Errorf("putting the program into its job: %w", err)
	}
	resume := windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")
	if status, _, _ := resume.Call(uintptr(process)); status != 0 {
		return fmt.Errorf("letting the program run: %w", windows.NTStatus(status))
	}
	return nil
}

// watch waits for the program, then ends what it left behind.
func (p *Process) watch(j *job) {
	_ = j.cmd.Wait() // the state says it all
	p.exit = Exit{Code: j.cmd.ProcessState.ExitCode()}
	j.close()
	close(p.done)
	close(j.allGone)
}

func (j *job) pid() int              { return j.cmd.Process.Pid }
func (j *job) gone() <-chan struct{} { return j.allGone }
func (j *job) left() string          { return "" }

// terminate does nothing: there is no way to ask a program without a window that
// it cannot mistake for a person's Ctrl-C, and its input is closed already.
func (j *job) terminate() {}

func (j *job) kill() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle != 0 {
		_ = windows.TerminateJobObject(j.handle, 1) // closing it does the same
	}
}

// close ends all that is in the job.
func (j *job) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle != 0 {
		_ = windows.CloseHandle(j.handle)
		j.handle = 0
	}
}
