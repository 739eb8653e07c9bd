package home_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// TestDecidersFollowTheConfiguration: one is on as soon as it is named, and off
// as soon as it is not.
func TestDecidersFollowTheConfiguration(t *testing.T) {
	r := newRig(t, `{}`)
	dir := t.TempDir()
	r.put(filepath.Join(dir, "decider.json"), `{"id": "dev.test.team", "command": ["./none"], "permissions": {"decide": true}}`)
	name, err := json.Marshal(dir)
	if err != nil {
		t.Fatal(err)
	}
	on := `"permissions": {"deciders": [{"folder": ` + string(name) + `}]}`
	r.configure(on)
	h := r.open()
	b := r.bridge(h)
	if n := len(b.Home.Deciders(r.folder, "")); n != 0 {
		t.Errorf("%d run before there is a bridge", n)
	}
	h.Attach(b)
	if n := len(b.Home.Deciders(r.folder, "")); n != 1 {
		t.Errorf("got %d, want the one that is named", n)
	}
	if n := len(b.Home.Deciders(r.folder, r.folder)); n != 0 {
		t.Errorf("%d are told of a private project", n)
	}
	before := b.Home.Deciders(r.folder, "")[0]
	r.put(filepath.Join(dir, "decider.json"), `{"id": "dev.test.team", "version": "2", "command": ["./none"], "permissions": {"decide": true}}`)
	r.until("it is started anew", func() bool {
		now := b.Home.Deciders(r.folder, "")
		return len(now) == 1 && now[0] != before
	})
	r.configure(`"permissions": {}`)
	r.until("it is off", func() bool { return len(b.Home.Deciders(r.folder, "")) == 0 })
	r.configure(on)
	r.until("it is on again", func() bool { return len(b.Home.Deciders(r.folder, "")) == 1 })
	r.configure(`"permissions": {"deciders": [{"folder": "/nowhere/at/all"}]}`)
	r.until("what is wrong is told", func() bool {
		told := r.told()
		return len(told) > 0 && strings.Contains(told[len(told)-1], "permissions.deciders: reading a decider")
	})
	h.Close()
	if n := len(b.Home.Deciders(r.folder, "")); n != 0 {
		t.Errorf("%d run after Close", n)
	}
}
