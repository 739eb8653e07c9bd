package escape

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"sallyport/bridge/process"
	"sallyport/bridge/sandbox"
)

// job is what a bridge is told to do, once.
type job struct {
	Backend string            `json:"backend"`
	Command []string          `json:"command"`
	Folder  string            `json:"folder"` // the session's
	Home    string            `json:"home"`
	Run     string            `json:"run"` // where sockets are
	Env     map[string]string `json:"env"`
	Echo    int               `json:"echo,omitzero"` // bytes to send in and to have back
	TellPID bool              `json:"tellPID,omitzero"`
	Linger  bool              `json:"linger,omitzero"` // the command waits for its input's end

	Key   bool   `json:"key,omitzero"`   // the bridge has a key in its session keyring
	Drill string `json:"drill,omitzero"` // see drill

	Ask     []op   `json:"ask,omitzero"` // instead of a command
	Nowhere string `json:"nowhere,omitzero"`
}

// result is what came of it.
type result struct {
	Stdout     string   `json:"stdout"`
	Stderr     string   `json:"stderr"`
	Exit       string   `json:"exit"`
	Refused    string   `json:"refused"`    // why the agent was not started: no fence
	NotStarted string   `json:"notStarted"` // why the agent was not started: other reasons
	Told       []string `json:"told"`       // what the user was told
	ToldAt     []int64  `json:"toldAt"`     // when, Unix nanoseconds
	Echoed     bool     `json:"echoed"`

	Report sandbox.Report `json:"report"`

	Cost  int    `json:"cost"`         // of a fence, in a drill, in milliseconds
	Key   bool   `json:"key,omitzero"` // the bridge has a key in its session keyring
	Drill string `json:"drill"`        // what went wrong in one
}

func (r result) String() string {
	return fmt.Sprintf("exit %q, refused %q, not started %q, told %q\n%+v\n%s\n%s", r.Exit, r.Refused, r.NotStarted, r.Told, r.Report, r.Stdout, r.Stderr)
}

// MarshalJSON and its opposite, for a list in a list.
func (o op) MarshalJSON() ([]byte, error) { return json.Marshal([]string{o.do, o.path, o.text}) }

func (o *op) UnmarshalJSON(data []byte) error {
	var parts [3]string
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	*o = op{parts[0], parts[1], parts[2]}
	return nil
}

// bridgeMain is the bridge: a job comes on its standard input, its result goes
// to the output.
func bridgeMain() int {
	var j job
	if err := json.UnmarshalRead(os.Stdin, &j); err != nil {
		fmt.Fprintln(os.Stderr, "the job:", err)
		return 1
	}
	var r result
	var err error
	switch {
	case len(j.Ask) > 0:
		r, err = answer(&j)
	case j.Drill != "":
		r, err = drill(&j)
	default:
		r, err = work(&j)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := json.MarshalWrite(os.Stdout, r); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// work starts a job's command in its fence and waits for its end.
func work(j *job) (result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if j.TellPID {
		j.Env["BRIDGE"] = fmt.Sprint(os.Getpid())
	}
	if j.Key {
		if err := keep(); err != nil {
			return result{}, err
		}
	}
	l, r, err := launch(ctx, j)
	if err != nil || l == nil {
		return r, err
	}
	var out bytes.Buffer
	var wg sync.WaitGroup
	switch {
	case j.Echo > 0:
		wg.Go(func() { r.Echoed = echo(l.Process, j.Echo) })
	case j.Linger:
		wg.Go(func() { linger(ctx, l.Process, &out) })
	default:
		_ = l.Stdin.Close() // a closed pipe is no matter
		wg.Go(func() { _, _ = io.Copy(&out, l.Stdout) })
	}
	select {
	case <-l.Done():
	case <-ctx.Done():
		r.Stderr = "it did not end in time\n"
	}
	if err := l.Stop(ctx, 100*time.Millisecond); err != nil {
		return r, err
	}
	wg.Wait()
	r.Stdout, r.Stderr, r.Exit, r.Report = out.String(), r.Stderr+l.Stderr(), l.Exit().String(), l.Report
	return r, l.end(&r)
}

// noticed is how soon the user is told.
const noticed = time.Second

// linger lets a command that is at its end live for as long as it may take to
// notice what it did.
func linger(ctx context.Context, p *process.Process, out *bytes.Buffer) {
	lines := bufio.NewReader(p.Stdout)
	for {
		line, err := lines.ReadString('\n')
		out.WriteString(line)
		if err != nil {
			return
		}
		if strings.HasPrefix(line, ":ended") {
			select {
			case <-ctx.Done():
			case <-time.After(noticed):
			}
			_ = p.Stdin.Close() // its end ends it
		}
	}
}

// echo sends noise through a program, and says whether it came back as it was.
func echo(p *process.Process, n int) bool {
	sent, back := sha256.New(), sha256.New()
	var wg sync.WaitGroup
	wg.Go(func() {
		block := make([]byte, 1<<20)
		_, _ = rand.Read(block) // never fails
		for range n / len(block) {
			_, _ = sent.Write(block)
			if _, err := p.Stdin.Write(block); err != nil {
				break
			}
		}
		_ = p.Stdin.Close() // its end is what the program waits for
	})
	got, err := io.Copy(back, p.Stdout)
	wg.Wait()
	return err == nil && got == int64(n) && bytes.Equal(sent.Sum(nil), back.Sum(nil))
}

// resolve makes a path of a question one as an agent would send it.
func (j *job) resolve(p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		return j.Home + "/" + rest
	}
	p = strings.ReplaceAll(p, "NOWHERE", j.Nowhere)
	if filepath.IsAbs(p) {
		return p
	}
	return j.Folder + "/" + p // not cleaned: agents do not either
}

// keep puts a key into the session keyring of this thread, on which what is
// started begins.
func keep() error {
	runtime.LockOSThread()
	if _, _, errno := unix.Syscall(unix.SYS_KEYCTL, unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0); errno != 0 {
		return errno
	}
	_, err := unix.AddKey("user", keyName, []byte("hidden"), unix.KEY_SPEC_SESSION_KEYRING)
	return err
}
