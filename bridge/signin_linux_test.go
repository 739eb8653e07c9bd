package bridge_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"

	"sallyport/bridge"
	"sallyport/bridge/sandbox"
	"sallyport/plugins/harness"
	"sallyport/workspace/config"
)

// signIn signs in by a shell's lines, and returns what they said on the terminal.
func (r *rig) signIn(ctx context.Context, lines string, change ...func(*bridge.SignIn)) (bridge.SignedIn, string, error) {
	r.t.Helper()
	master, terminal, err := pty.Open()
	if err != nil {
		r.t.Fatal(err)
	}
	defer master.Close()
	said := make(chan string, 1)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, master) // EIO at its end
		said <- b.String()
	}()
	s := bridge.SignIn{Folder: r.folder, Program: "sh", Args: []string{"-c", lines}, Terminal: terminal, Started: func(string, string) {}}
	for _, f := range change {
		f(&s)
	}
	done, err := r.SignIn(ctx, s)
	return done, <-said, err
}

// TestSignIn: what it stores in its agent's state stays; it cannot write
// elsewhere, the project included, nor read secrets.
func TestSignIn(t *testing.T) {
	r := held(t, "", `{}`, func(r *rig) {
		r.Bridge.Home.Environ = append(os.Environ(), "HOME="+r.beside("home"), "HIDDEN=secret")
		change(r, func(h *harness.Harness) { h.Own.Footprint = harness.Footprint{State: []string{"~/.fake"}} })
	})
	var name, holds string
	done, said, err := r.signIn(r.ctx(), `exec 2>&1; test -t 0 || exit 9; echo token > $HOME/.fake/login
		cat ../secret/key; echo x > ../other/n; echo x > n; echo "${HIDDEN-unset} $MINE"; exit 3`,
		func(s *bridge.SignIn) {
			s.Env = []string{"MINE=yes"}
			s.Started = func(n, h string) { name, holds = n, h }
		})
	if err != nil || done.Status != 3 || done.Agent != "Fake" || name != "Fake" {
		t.Errorf("it ended with %+v, %v for %s", done, err, name)
	}
	if got, err := os.ReadFile(r.beside("home/.fake/login")); err != nil || string(got) != "token\n" {
		t.Errorf("its state has %q, %v", got, err)
	}
	if _, err := os.Stat(r.beside("other/n")); err == nil || r.disk("n") != "" {
		t.Error("it wrote what is not its own")
	}
	if strings.Contains(said, "TOPSECRET") || !strings.Contains(said, "unset yes") {
		t.Errorf("it said %q", said)
	}
	if !strings.Contains(holds, "bubblewrap") {
		t.Errorf("what holds it is %q", holds)
	}
}

// TestSignIn_OpensNothing: variables that say where an agent's state is open
// another place to nobody.
func TestSignIn_OpensNothing(t *testing.T) {
	r := held(t, "", `{}`, func(r *rig) {
		r.Bridge.Home.Environ = append(os.Environ(), "HOME="+r.beside("home"))
		change(r, func(h *harness.Harness) {
			h.Own.Footprint = harness.Footprint{State: []string{"~/.fake", "~/.config/fake"}, Moves: map[string]string{"FAKE_HOME": "~/.fake"}}
		})
	})
	_, said, err := r.signIn(r.ctx(), `exec 2>&1; echo "$FAKE_HOME"; echo x > "$FAKE_HOME/n"; echo x > "$XDG_CONFIG_HOME/n"; true`, func(s *bridge.SignIn) {
		s.Env = []string{"FAKE_HOME=" + r.beside("other"), "XDG_CONFIG_HOME=" + r.beside("other"), "HOME=" + r.beside("other")}
	})
	if _, stat := os.Stat(r.beside("other/n")); stat == nil || err != nil || !strings.Contains(said, r.beside("other")) {
		t.Errorf("it wrote there: %v; %v; said %q", stat == nil, err, said)
	}
}

// TestSignIn_Required: without the fence that is required there is none.
func TestSignIn_Required(t *testing.T) {
	r := held(t, sandbox.None, `{}`, func(r *rig) {
		a := r.config.Custom["fake"]
		a.Kernel = config.Kernel{Sandbox: config.SandboxRequire}
		r.config.Custom["fake"] = a
	})
	_, _, err := r.signIn(r.ctx(), `exit 0`, func(s *bridge.SignIn) {
		s.Started = func(string, string) { t.Error("it was started") }
	})
	var start *bridge.StartError
	if !errors.As(err, &start) {
		t.Errorf("got %v", err)
	}
}

// TestSignIn_Ends with its context, and leaves nothing.
func TestSignIn_Ends(t *testing.T) {
	r := held(t, "", `{}`)
	ctx, cancel := context.WithCancelCause(r.ctx())
	enough := errors.New("enough")
	done, _, err := r.signIn(ctx, `trap "" HUP; sleep 1000 & sleep 1000`, func(s *bridge.SignIn) {
		s.Started = func(string, string) { cancel(enough) }
	})
	if !errors.Is(err, enough) || done.Status == 0 {
		t.Errorf("it ended with %+v, %v", done, err)
	}
}

// TestPasses: variables reach an agent by the user's word, not by the agent's.
func TestPasses(t *testing.T) {
	r := newRig(t, `{}`)
	change(r, func(h *harness.Harness) { h.Own.PassEnv = []string{"FAKE_KEY"} })
	for name, want := range map[string]bool{"FAKE_KEY": true, "AWS_SECRET_ACCESS_KEY": false, "HOME": true, "": false} {
		if got := r.Passes("fake", name); got != want {
			t.Errorf("%s passes: %v", name, got)
		}
	}
}
