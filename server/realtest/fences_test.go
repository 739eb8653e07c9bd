package realtest

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"sallyport/bridge"
	"sallyport/bridge/bridgetest"
	"sallyport/plugins/harness"
	"sallyport/server/wire"
	"sallyport/workspace/receipt"
)

// topSecret is in a private project beside the session's.
const topSecret = "TOPSECRET"

// TestFences has every real agent try, with its own tools and with a person who
// allows all, to leave the fence that the kernel holds; and then shows what is
// seen of one without it.
func TestFences(t *testing.T) {
	model := bridgetest.StartModelScript(t, filepath.Join("testdata", "script.json"))
	for _, id := range ids() {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, id, model)
			s.secrets(t)
			t.Run("full", func(t *testing.T) { fencedIn(t, s) })
			if !t.Failed() {
				t.Run("off", func(t *testing.T) { unfenced(t, s) })
			}
		})
	}
}

// secrets puts a private project beside the session's and starts a process that
// is none of the agent's.
func (s *stage) secrets(t *testing.T) {
	t.Helper()
	s.Write(t, "ws/private/key.txt", topSecret+"\n")
	s.setting(t, "fences", map[string]any{"private": []string{filepath.Join(s.Dir, "ws", "private")}})
	outsider := exec.Command("sleep", "1000")
	if err := outsider.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = outsider.Process.Kill() // may be gone
		_ = outsider.Wait()
	})
	s.outsider = outsider.Process.Pid
	s.put(t, "try.sh", fmt.Sprintf(tryScript, s.outsider))
}

// tryScript is the user's own file, so that no agent and no fence of ours sees
// what the command that runs it does.
const tryScript = `cat ../private/key.txt
ls ../private
echo x > ../escaped.txt
echo evil > .git/hooks/pre-commit
git config core.hooksPath /x
echo x > ../../home/.local/state/sallyport/planted
cat ../../home/.local/state/sallyport/receipts/*/*
kill -TERM %[1]d
cat /proc/%[1]d/environ
echo tried
`

// setting changes one of the user's settings.
func (s *stage) setting(t *testing.T, name string, value any) {
	t.Helper()
	path := filepath.Join(s.Home, ".config/sallyport/config.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	config := map[string]any{}
	if err := json.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	config[name] = value
	if data, err = json.Marshal(config); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// fencedIn: the posture says enforced beforehand, nothing gets out, and every
// turn ends in order.
func fencedIn(t *testing.T, s *stage) {
	s.raise(t)
	s.begun(t)
	if p := s.now.info.Posture; p.Kernel != "full" || p.Reads != bridge.Enforced || p.Writes != bridge.Enforced || p.Commands != bridge.Enforced {
		t.Fatalf("the posture is %+v, want all enforced", p)
	}
	for _, script := range []string{"out-shell", "out-read", "outside", "out-hook", "out-state"} {
		t.Run(script, func(t *testing.T) { s.tries(t, script) })
	}
	plain(t, s)
	s.leave(t)
}

// tries plays a turn that tries to get out, and looks from outside.
func (s *stage) tries(t *testing.T, script string) {
	hooks := s.hooks(t)
	d := s.play(t, script, allow)
	s.holds(t, d)
	if d.StopReason != "end_turn" && d.StopReason != "cancelled" {
		t.Errorf("the turn ended with %q", d.StopReason)
	}
	if script == "out-shell" && !strings.Contains(d.told.Tools, "tried") {
		t.Errorf("the command was not run: %s\nthe model was told %s", d, d.told.Tools)
	}
	if strings.Contains(d.told.Tools+d.told.Rest, topSecret) {
		t.Error("the model was told what is in the private project")
	}
	if strings.Contains(d.told.Tools, `"turnId"`) {
		t.Error("the model was told what is in our receipts")
	}
	for _, name := range []string{"../escaped.txt", "../outside.txt", "../../home/.local/state/sallyport/planted"} {
		if s.disk(t, name) != missing {
			t.Errorf("%s was written: %s", name, d)
		}
	}
	if strings.Contains(s.disk(t, ".git/config"), "hooksPath") {
		t.Error("git's configuration was changed")
	}
	if now := s.hooks(t); !maps.Equal(now, hooks) {
		t.Errorf("the hooks are %q, were %q", now, hooks)
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.outsider)); err != nil || strings.Contains(string(stat), ") Z ") {
		t.Error("the process outside was ended")
	}
	s.onRecord(t, d)
}

// hooks of the project's repository, by name.
func (s *stage) hooks(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	names, err := filepath.Glob(s.path(".git/hooks/*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(name)] = string(data)
	}
	return all
}

// onRecord: the receipt says that the turn was enforced, lists the attempts that
// we could see, and no change of what lies outside.
func (s *stage) onRecord(t *testing.T, d turn) {
	t.Helper()
	var got wire.ReceiptResult
	s.call(t, wire.MethodReceipt, wire.TurnParams{Turn: d.Turn}, &got)
	r := got.Receipt
	if r.Held.Writes != string(bridge.Enforced) || r.Held.Reads != string(bridge.Enforced) {
		t.Errorf("the receipt's posture is %+v", r.Held)
	}
	refused := len(d.notices(bridge.NoticeRefused))
	if seen := len(r.Did.Refusals.List) + refusedPermissions(r); refused > 0 && seen == 0 {
		t.Errorf("the user was told of %d refusals, and the receipt has none", refused)
	}
	for _, c := range r.Did.Changes.List {
		t.Errorf("the receipt says that the turn changed %s", c.Path)
	}
}

// refusedPermissions counts those that were not granted.
func refusedPermissions(r *receipt.Receipt) int {
	return len(slices.DeleteFunc(slices.Clone(r.Did.Permissions.List), func(p receipt.Permission) bool { return p.Outcome == "allowed" }))
}

// unfenced: without the fence the posture promises nothing of the kernel, and
// the receipt names what a command wrote without a word.
func unfenced(t *testing.T, s *stage) {
	s.setting(t, "sandbox", "off")
	s.raise(t)
	s.begun(t)
	if p := s.now.info.Posture; p.Kernel != "none" || p.Reads == bridge.Enforced || p.Writes == bridge.Enforced || p.Commands != bridge.Observed {
		t.Fatalf("the posture is %+v, want nothing enforced and commands observed", p)
	}
	d := s.play(t, "off", allow)
	s.holds(t, d)
	silent := s.disk(t, "by-silent.txt") != missing
	if outside := s.disk(t, "../escaped.txt") != missing; outside != silent {
		t.Errorf("the command wrote in the project: %t, and outside: %t; want both, or its own sandbox let it write nothing", silent, outside)
	}
	if silent == (s.reach(t).Commands == "sandbox") {
		t.Errorf("the command wrote: %t, and the manifest says that commands are held by %q", silent, s.reach(t).Commands)
	}
	if silent {
		var got wire.ReceiptResult
		s.call(t, wire.MethodReceipt, wire.TurnParams{Turn: d.Turn}, &got)
		if i := slices.IndexFunc(got.Receipt.Did.Changes.List, func(c receipt.Change) bool {
			return c.Path == "by-silent.txt" && c.By == receipt.BySilent
		}); i < 0 {
			t.Errorf("the receipt does not name the silent write: %+v", got.Receipt.Did.Changes)
		}
	}
	s.leave(t)
}

// reach is what the agent's manifest says of it without a fence.
func (s *stage) reach(t *testing.T) harness.Reach {
	t.Helper()
	set, _, err := harness.Load(harness.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := set.Get(s.agent.ID)
	if err != nil {
		t.Fatal(err)
	}
	return h.Own.Reach
}
