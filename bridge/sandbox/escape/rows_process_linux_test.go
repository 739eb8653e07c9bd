package escape

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// behaving are the rows on how a process in the fence behaves.
var behaving = []row{
	{id: "P01", sh: `exit 42`, want: works, work: true, got: ended("exit status 42"), staging: staging{raw: true}},
	{id: "P02", sh: `kill -9 $$`, want: works, work: true, got: ended("ended by signal: killed"), staging: staging{raw: true}},
	{id: "P03", want: works, work: true, got: notFound, staging: staging{raw: true, tune: func(_ *scene, j *job) { j.Command = []string{"/nowhere/agent"} }}},
	{id: "P04", sh: `exec cat`, want: works, work: true, got: echoed, staging: staging{raw: true, tune: func(_ *scene, j *job) { j.Echo = 64 << 20 }}},
	{id: "P05", sh: `echo x > /dev/null && head -c4 /dev/urandom | wc -c && head -c1 /dev/zero | wc -c`, want: works, work: true, got: done("4\n1\n")},
	{id: "P06", sh: `$X intrude terminal`, want: works, work: true, got: done("/dev/pts/")},
	{id: "P07", sh: `$X intrude memory`, want: works, work: true, got: done("WORKS")},
	{id: "P08", sh: compilers, want: works, work: true, got: succeeded},
	{id: "P09", sh: `bwrap --ro-bind / / --unshare-user --unshare-pid --dev /dev --proc /proc sh -c 'echo NESTED'`, work: true, got: done("NESTED"),
		want: expect{bubblewrap: allowed, "bubblewrap/root": refused, landlock: refused, none: allowed}, staging: staging{not: withoutBubblewrap}},
	{id: "P10", sh: `setsid sleep 1000 > /dev/null 2>&1 &`, want: anyway, got: lingers},
	{id: "P11", sh: `setsid sleep 1000 & : > ready; exec sleep 1000`, want: anyway, got: lingers, staging: staging{raw: true, meanwhile: killBridge, dies: true}},
	{id: "P12", sh: `true`, want: works, work: true, got: quick, play: drillCost, staging: staging{alone: true, not: noFence}},
	{id: "P13", sh: `true`, want: works, work: true, got: together, play: twoBridges},
}

func noFence(backend string, _ user) string {
	if backend == none {
		return "there is no fence"
	}
	return ""
}

func drillCost(s *scene) {
	if err := s.drill("cost"); err != nil {
		s.t.Fatal(err)
	}
}

// quick: a start in the fence costs little more than one without.
func quick(s *scene) string {
	if s.result.Drill != "" {
		return s.result.Drill
	}
	if s.result.Cost > mostCost {
		return fmt.Sprintf("a start costs %d ms more than without a fence, want at most %d", s.result.Cost, mostCost)
	}
	return ""
}

// mostCost is in milliseconds.
const mostCost = 100

// twoBridges run in one folder at once, each starting and ending sessions.
func twoBridges(s *scene) {
	other := *s
	var wg sync.WaitGroup
	var err error
	wg.Go(func() { err = other.drill("starts") })
	if err := s.drill("starts"); err != nil {
		s.t.Error(err)
	}
	if wg.Wait(); err != nil {
		s.t.Error(err)
	}
	s.result.Drill += other.result.Drill
}

// together: no start failed because of another one, and nothing is left.
func together(s *scene) string {
	return s.result.Drill + leftovers(s)
}

// compilers are run with what the agent's environment says of caches.
const compilers = `set -e
mkdir lib; printf 'package lib\nfunc F() int { return 1 }\n' > lib/lib.go; printf 'module m\ngo 1.21\n' > go.mod
printf 'int main(void){return 0;}\n' > m.c
! command -v node || node -e 'process.exit(0)'
! command -v python3 || python3 -c pass
! command -v gcc || { gcc -o m m.c; ./m; }
! command -v go || GOTOOLCHAIN=local GOFLAGS=-mod=mod go build ./lib
git status --porcelain`

func ended(want string) func(*scene) string {
	return func(s *scene) string {
		if s.result.Exit != want {
			return fmt.Sprintf("the bridge saw %q, want %q", s.result.Exit, want)
		}
		return ""
	}
}

// notFound: a program that is not there is said to be that, and not a fence
// that could not be set up.
func notFound(s *scene) string {
	if s.result.Exit == "exit status 127" && strings.Contains(s.result.Stderr, "/nowhere/agent") || strings.Contains(s.result.NotStarted, "/nowhere/agent") {
		return ""
	}
	return s.result.String()
}

func echoed(s *scene) string {
	if !s.result.Echoed {
		return "what came back is not what was sent"
	}
	return ""
}

func withoutBubblewrap(string, user) string {
	if _, err := exec.LookPath("bwrap"); err != nil {
		return "bubblewrap is not installed"
	}
	return ""
}

// lingers: a process of the scene is left a second later.
func lingers(s *scene) string {
	s.gone(time.Second)
	return s.left
}

// gone waits until nothing of the scene is left, for at most a time.
func (s *scene) gone(within time.Duration) {
	for end := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		s.left = strings.Join(s.processes(), "; ")
		if s.left == "" || time.Now().After(end) {
			return
		}
	}
}

// processes are those that have the scene's folder in their environment.
func (s *scene) processes() []string {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		s.t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		dir := "/proc/" + e.Name()
		environ, err := os.ReadFile(dir + "/environ")
		if err != nil || !strings.Contains(string(environ), s.dir+"/") {
			continue
		}
		command, _ := os.ReadFile(dir + "/cmdline") // it may be gone by now
		if len(command) > 0 {                       // neither is a zombie
			all = append(all, e.Name()+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return all
}
