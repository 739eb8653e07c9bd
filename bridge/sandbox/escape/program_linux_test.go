package escape

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/bridgetest"
)

// program is sallyport itself, built when it is first asked for.
var program struct {
	once sync.Once
	path string
	err  error
}

func sallyport(t *testing.T) string {
	t.Helper()
	program.once.Do(func() {
		program.path = filepath.Join(ground.dir, "sallyport")
		build := exec.Command("go", "build", "-o", program.path, "./cmd/sallyport")
		build.Dir, build.Env = bridgetest.Root(t), append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			program.err = fmt.Errorf("building sallyport: %w: %s", err, out)
		}
	})
	if program.err != nil {
		t.Fatal(program.err)
	}
	return program.path
}

// acting puts an agent on the scene's PATH, under a program's name, that runs
// one line of shell in each turn; what it says is in the file "said" of the
// session's folder.
func (s *scene) acting(name, line string) {
	s.t.Helper()
	bin := filepath.Join(s.dir, "bin")
	script := filepath.Join(bin, name+".json")
	steps, err := json.Marshal(map[string]any{"prompts": []any{map[string]any{"steps": []any{
		map[string]any{"shell": "(" + line + "\n) > said 2>&1"}, map[string]any{"say": "done"},
	}}}})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(script, steps, 0o644); err != nil {
		s.t.Fatal(err)
	}
	text := fmt.Sprintf("#!/bin/sh\nexec %s fake-agent %s\n", sallyport(s.t), script)
	if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// configure writes the user's configuration.
func (s *scene) configure(text string) {
	s.t.Helper()
	if err := os.WriteFile(s.home(".config/sallyport/config.json"), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// ran is one run of sallyport.
type ran struct {
	code           int
	stdout, stderr string
}

// poorer is what is taken from the machine so that a backend is what is left.
var poorer = map[string][]string{landlock: {"bwrap"}, none: {"bwrap", "landlock"}}

// turn runs one turn of an agent with the real program, on a machine on which
// the scene's backend is the best.
func (s *scene) turn(folder string, args ...string) ran {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	command := append([]string{sallyport(s.t), "run", "--json", "--policy", "deny"}, append(args, "go")...)
	if os.Geteuid() == 0 {
		command = append([]string{ground.self}, bridgetest.Without(s.t, s.user.id, poorer[s.backend], command...)[1:]...)
	} else if s.backend != bubblewrap {
		s.t.Skip("only root can take the better ones away")
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = folder, append(slices.Clone(s.env), "PATH="+filepath.Join(s.dir, "bin")+":"+path)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return ran{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

func (r ran) String() string { return fmt.Sprintf("exit %d\n%s%s", r.code, r.stdout, r.stderr) }

// event finds the first one of a type in what was printed.
func (r ran) event(t *testing.T, kind string, into any) {
	t.Helper()
	for _, line := range strings.Split(r.stdout, "\n") {
		var head struct {
			Type string `json:"type"`
		}
		if json.Unmarshal([]byte(line), &head) == nil && head.Type == kind {
			if err := json.Unmarshal([]byte(line), into); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("there is no %s: %s", kind, r)
}

// onlyPoorer: the row is run by the program itself, which uses the best that
// there is.
func onlyPoorer(backend string, _ user) string {
	if backend == landlock && !ground.mounts {
		return "only root can take bubblewrap away"
	}
	return ""
}

// setting is the sandbox of the scene's backend.
func (s *scene) setting() string {
	if s.backend == none {
		return "off"
	}
	return "auto"
}

// oneTurn plays a row as a turn of the program. What the user was told is what
// the notices name.
func oneTurn(s *scene) {
	s.configure(fmt.Sprintf(`{"sandbox": %q}`, s.setting()))
	s.acting("actor", s.row.sh)
	r := s.turn(s.folder(), "--command", filepath.Join(s.dir, "bin", "actor"))
	if r.code != 0 {
		s.t.Fatalf("the turn: %s", r)
	}
	s.result.Stdout = s.text(filepath.Join(s.folder(), "said"))
	for _, line := range strings.Split(r.stdout, "\n") {
		var notice struct {
			Type  string   `json:"type"`
			Kind  string   `json:"kind"`
			Paths []string `json:"paths"`
		}
		if json.Unmarshal([]byte(line), &notice) == nil && notice.Type == "notice" && notice.Kind == "direct" {
			s.result.Told = append(s.result.Told, notice.Paths...)
		}
	}
}

// receipt is what the last turn's receipt says of the posture.
func (s *scene) receipt(t *testing.T) posture {
	t.Helper()
	cmd := exec.Command(sallyport(t), "receipt", "--json")
	cmd.Dir, cmd.Env, cmd.SysProcAttr = s.folder(), s.env, s.user.become()
	out, err := cmd.CombinedOutput()
	var r struct {
		Held posture `json:"held"`
	}
	if err != nil || json.Unmarshal(out, &r) != nil {
		t.Errorf("the receipt: %v: %s", err, out)
	}
	return r.Held
}
