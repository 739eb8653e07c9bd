package bridge_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sallyport/bridge"
	"sallyport/bridge/sandbox"
	"sallyport/plugins/harness"
	"sallyport/workspace/config"
	"sallyport/workspace/fence"
	"sallyport/workspace/receipt"
)

// held makes a rig whose agent runs in a fence of at most this strength. Beside
// the session's folder there are a private project and another one.
func held(t *testing.T, atMost sandbox.Backend, script string, change ...func(*rig)) *rig {
	t.Helper()
	return newRig(t, script, append([]func(*rig){func(r *rig) {
		dir, err := filepath.EvalSymlinks(filepath.Dir(r.folder))
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"secret/key": "TOPSECRET\n", "other/f": "OTHER\n", "p/.git/hooks/pre-commit": "user's\n", "wire": "", "state/receipts": "RECEIPTS\n"} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r.config.Fences.Private = []string{filepath.Join(dir, "secret")}
		r.config.Custom = map[string]config.Agent{"fake": {Launch: config.Launch{State: []string{filepath.Join(dir, "wire")}}}}
		r.Bridge.Home.Own = fence.Own{State: []string{filepath.Join(dir, "state")}}
		r.Bridge.Home.Kernel = &sandbox.Launcher{Dir: filepath.Join(dir, "state", "fence"), AtMost: atMost}
		if works := r.Bridge.Home.Kernel.Probe(t.Context()); atMost == "" && works.Best != sandbox.Bubblewrap || atMost == sandbox.Landlock && works.Best != sandbox.Landlock {
			t.Skipf("it does not work here: %+v", works)
		}
	}}, change...)...)
}

func (r *rig) beside(name string) string {
	return filepath.Join(filepath.Dir(r.folder), filepath.FromSlash(name))
}

// attempts is a turn in which the agent's own shell tries what fences forbid.
const attempts = `{"prompts": [{"steps": [{"shell": "cat ../secret/key ../state/receipts > seen; echo x > ../other/n; echo evil > .git/hooks/post-commit; echo ok > mine; true"}]}]}`

// TestKernelHolds: the posture says before the first prompt what the kernel
// then does.
func TestKernelHolds(t *testing.T) {
	for _, tt := range []struct {
		atMost               sandbox.Backend
		level                string
		reads, outside, hook bool // refused
	}{
		{"", "full", true, true, true},
		{sandbox.Landlock, "partial", true, true, false},
		{sandbox.None, "none", false, false, false},
	} {
		t.Run(tt.level, func(t *testing.T) {
			r := held(t, tt.atMost, attempts)
			p := r.turn("go").Posture
			if p.Kernel != tt.level || (p.Reads == bridge.Enforced) != tt.reads || (p.Writes == bridge.Enforced) != tt.hook || (p.Commands == bridge.Enforced) != tt.hook {
				t.Errorf("posture is %+v", p)
			}
			if named := strings.Contains(p.Sentence, "git hooks"); named != (tt.level == "partial") {
				t.Errorf("the sentence is %q", p.Sentence)
			}
			_, outside := os.Stat(r.beside("other/n"))
			_, hook := os.Stat(r.path(".git/hooks/post-commit"))
			if seen := r.disk("seen"); strings.Contains(seen, "TOPSECRET") == tt.reads || (outside != nil) != tt.outside || (hook != nil) != tt.hook || r.disk("mine") != "ok\n" {
				t.Errorf("seen %q, outside %v, hook %v, own %q", seen, outside, hook, r.disk("mine"))
			}
		})
	}
}

// TestSandboxRequired: where nothing holds, an agent that must be held does not
// start; nor one whose network is to be closed.
func TestSandboxRequired(t *testing.T) {
	for name, kernel := range map[string]config.Kernel{
		"required": {Sandbox: config.SandboxRequire}, "no network": {Network: config.NetworkOff},
	} {
		for _, atMost := range []sandbox.Backend{"", sandbox.None} {
			t.Run(name+" "+string(atMost), func(t *testing.T) {
				r := held(t, atMost, `{}`, func(r *rig) {
					a := r.config.Custom["fake"]
					a.Kernel = kernel
					r.config.Custom["fake"] = a
				})
				_, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder})
				var start *bridge.StartError
				if refused := errors.As(err, &start); refused != (atMost == sandbox.None) || !refused && err != nil {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

// TestH052_PrivateProject: an agent that works on files by itself starts inside
// a private project only where the kernel holds it, with a state of its own.
func TestH052_PrivateProject(t *testing.T) {
	for _, atMost := range []sandbox.Backend{"", sandbox.Landlock, sandbox.None} {
		for _, fs := range []bool{false, true} {
			t.Run(string(atMost), func(t *testing.T) {
				r := held(t, atMost, `{"prompts": [{"steps": [{"shell": "echo transcript > $FAKE_HOME/t; cat $FAKE_HOME/settings.json; echo evil >> $FAKE_HOME/settings.json; true"}]}]}`,
					func(r *rig) {
						r.config.Fences.Private = []string{r.folder}
						r.Bridge.Home.Environ = append(os.Environ(), "HOME="+r.beside("home"))
						if err := os.MkdirAll(r.beside("home/.fake"), 0o700); err != nil {
							t.Fatal(err)
						}
						if err := os.WriteFile(r.beside("home/.fake/settings.json"), []byte("{}\n"), 0o600); err != nil {
							t.Fatal(err)
						}
						change(r, func(h *harness.Harness) {
							h.ACP.FS = fs
							h.Own.Footprint = harness.Footprint{State: []string{"~/.fake"}, Settings: []string{"~/.fake/settings.json"}, Moves: map[string]string{"FAKE_HOME": "~/.fake"}}
						})
					})
				_, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder})
				if refused := err != nil; refused != (atMost == sandbox.None && !fs) {
					t.Fatalf("got %v", err)
				}
				if err != nil || atMost == sandbox.None {
					return
				}
				r.turn("go")
				if _, err := os.Stat(r.beside("home/.fake/t")); err == nil {
					t.Error("the transcript is where every agent reads it")
				}
				own, err := filepath.Glob(r.beside("state/agents/fake/*/*/t"))
				if err != nil || len(own) != 1 {
					t.Fatalf("transcripts of its own are %v, %v", own, err)
				}
				settings, err := os.ReadFile(filepath.Join(filepath.Dir(own[0]), "settings.json"))
				if err != nil || atMost == "" && string(settings) != "{}\n" {
					t.Errorf("its settings are %q, %v", settings, err)
				}
			})
		}
	}
}

// TestCheckIsFenced: what the agent wrote, the user's check runs inside the same
// fences, and writes beside the region only what the user named.
func TestCheckIsFenced(t *testing.T) {
	zero := 0
	for name, tt := range map[string]struct {
		atMost sandbox.Backend
		check  config.Kernel
		want   receipt.Verdict
		read   string // of the private project, and written to its neighbour
	}{
		"full":           {"", config.Kernel{}, receipt.Verdict{Outcome: receipt.Passed, Exit: &zero, Kernel: "full"}, ""},
		"partial":        {sandbox.Landlock, config.Kernel{}, receipt.Verdict{Outcome: receipt.Passed, Exit: &zero, Kernel: "partial"}, ""},
		"off":            {"", config.Kernel{Sandbox: config.SandboxOff}, receipt.Verdict{Outcome: receipt.Passed, Exit: &zero, Kernel: "none"}, "TOPSECRET\n"},
		"none":           {sandbox.None, config.Kernel{}, receipt.Verdict{Outcome: receipt.Passed, Exit: &zero, Kernel: "none"}, "TOPSECRET\n"},
		"required":       {sandbox.None, config.Kernel{Sandbox: config.SandboxRequire}, receipt.Verdict{Outcome: receipt.NotRun, Why: "a sandbox is required, and there is none here"}, ""},
		"network closed": {"", config.Kernel{Sandbox: config.SandboxOff, Network: config.NetworkOff}, receipt.Verdict{Outcome: receipt.NotRun, Why: "its network is to be closed, and only a sandbox does that"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := held(t, tt.atMost, `{"prompts": [{"steps": [{"write": {"path": "${cwd}/test.sh", "text": "cat ../secret/key > seen; cat seen > ../other/n; echo built > ../cache/n"}}]}]}`, keeping, bypass)
			cache := r.beside("cache")
			if err := os.Mkdir(cache, 0o755); err != nil {
				t.Fatal(err)
			}
			r.config.Verify = []config.Check{{Name: "tests", Command: "sh -c 'sh test.sh; test $(cat ../cache/n) = built'", Seconds: 60, Kernel: tt.check, State: []string{cache}}}
			result, err := r.prompt(r.open().ID, "go")
			if err != nil || len(result.Verifier) != 1 {
				t.Fatalf("got %+v, %v", result.Verifier, err)
			}
			got := result.Verifier[0]
			got.Name, got.Seconds, got.Output = "", 0, ""
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s\n%s", diff, r.display.notices[len(r.display.notices)-1].Text)
			}
			if seen, there := r.disk("seen"), r.disk("../other/n"); seen != tt.read || there != tt.read {
				t.Errorf("it read %q and wrote %q, want %q", seen, there, tt.read)
			}
		})
	}
}

// TestR13_MaskIsLost: when the user makes a private project anew the posture
// says within a second that it is open, and an agent that must be held is ended.
func TestR13_MaskIsLost(t *testing.T) {
	for _, asked := range []config.Sandbox{config.SandboxAuto, config.SandboxRequire} {
		t.Run(string(asked), func(t *testing.T) {
			r := held(t, "", `{}`, func(r *rig) { r.config.Sandbox = asked })
			info := r.open()
			if err := os.RemoveAll(r.beside("secret")); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(r.beside("secret"), 0o755); err != nil {
				t.Fatal(err)
			}
			r.display.until(t, "the loss is told", func(d *display) bool {
				for _, n := range d.notices {
					if n.Kind == bridge.NoticePosture && strings.Contains(n.Text, "secret was replaced") {
						return true
					}
				}
				return false
			})
			if asked == config.SandboxRequire {
				r.wantAgents(0)
				return
			}
			now, err := r.Info(info.ID)
			if err != nil || now.Posture.Reads == bridge.Enforced || now.Posture.Kernel != "partial" {
				t.Errorf("posture is %+v, %v", now.Posture, err)
			}
		})
	}
}

// TestMaskIsLostAtStart: an agent that loses a mask before it has a session is
// ended, and who waits for it is told why.
func TestMaskIsLostAtStart(t *testing.T) {
	r := held(t, "", `{}`)
	program, up := r.write("program", "#!/bin/sh\ntouch up\nexec cat >&2\n"), r.path("up")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	change(r, func(h *harness.Harness) { h.Program.Locate.Command = []string{program} })
	failed := make(chan error, 1)
	go func() {
		_, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder})
		failed <- err
	}()
	r.poll("the program runs", func() bool { _, err := os.Stat(up); return err == nil })
	if err := os.RemoveAll(r.beside("secret")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(r.beside("secret"), 0o755); err != nil {
		t.Fatal(err)
	}
	var start *bridge.StartError
	if err := <-failed; !errors.As(err, &start) || !strings.Contains(start.Reason, "secret was replaced") {
		t.Errorf("got %v", err)
	}
}

// TestF4_PrivateWhileItRuns: a project that becomes private is not closed to the
// tools of an agent that runs, and the posture says so.
func TestF4_PrivateWhileItRuns(t *testing.T) {
	r := held(t, "", `{}`)
	info := r.open()
	r.config.Fences.Private = append(r.config.Fences.Private, r.beside("other"))
	r.Refence()
	now, err := r.Info(info.ID)
	if err != nil || now.Posture.Reads == bridge.Enforced {
		t.Errorf("posture is %+v, %v", now.Posture, err)
	}
	if told := r.display.noticed(bridge.NoticePosture); len(told) != 1 || !strings.Contains(told[0].Text, "became private") {
		t.Errorf("told %+v", told)
	}
}

// TestReservedFileIsMade: what cannot be held while it is absent is told.
func TestReservedFileIsMade(t *testing.T) {
	r := held(t, "", `{"prompts": [{"steps": [{"shell": "mkdir .idea/x; echo x > .mcp.json; true"}]}]}`)
	r.turn("go")
	r.display.until(t, "the file is told", func(d *display) bool {
		for _, n := range d.notices {
			if n.Kind == bridge.NoticeDirect && strings.Contains(n.Text, ".mcp.json") {
				return true
			}
		}
		return false
	})
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(r.path(".idea")); err == nil {
		t.Error("a folder is left that held a place")
	}
}

// TestRepositoryIsMade: the hooks of a repository that the agent makes are
// told when the turn ends, once.
func TestRepositoryIsMade(t *testing.T) {
	r := held(t, "", `{"prompts": [{"steps": [{"shell": "mkdir -p sub/.git/hooks && echo evil > sub/.git/hooks/pre-commit && echo x > sub/.env; true"}]}, {"steps": [{"say": "again"}]}]}`, keeping)
	info := r.turn("go")
	if _, err := r.prompt(info.ID, "again"); err != nil {
		t.Fatal(err)
	}
	var told []bridge.Notice
	for _, n := range r.display.noticed(bridge.NoticeDirect) {
		if strings.Contains(n.Text, "made during the turn") {
			told = append(told, n)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0].Text, "sub/.git") || !strings.Contains(told[0].Text, "sub/.env") || strings.Contains(told[0].Text, ".idea") {
		t.Errorf("told %+v", told)
	}
}

// TestStateIsMissing: an agent that dies because it cannot write where it keeps
// its files is told of with the setting that lets it.
func TestStateIsMissing(t *testing.T) {
	for _, atMost := range []sandbox.Backend{"", sandbox.Landlock} {
		r := held(t, atMost, `{}`, func(r *rig) { delete(r.config.Custom, "fake") })
		_, err := r.New(r.ctx(), bridge.NewSession{Folder: r.folder})
		var start *bridge.StartError
		if !errors.As(err, &start) || !strings.Contains(start.Hint, "agents.fake.state") {
			t.Errorf("got %v, %+v", err, start)
		}
	}
}
