package decide_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sallyport/bridge/decide"
	"sallyport/plugins/decider"
	"sallyport/workspace/config"
)

// folder makes a folder with a manifest.
func folder(t *testing.T, id, program string) string {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf(`{"id":"dev.test.%s","command":[%q],"permissions":{"decide":true}}`, id, program)
	if err := os.WriteFile(filepath.Join(dir, decider.ManifestName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func ids(set decider.Set) (all []string) {
	for _, d := range set {
		all = append(all, strings.TrimPrefix(d.ID, "dev.test."))
	}
	return all
}

func TestPool(t *testing.T) {
	journals := t.TempDir()
	p := &decide.Pool{Starter: func() *decide.Starter { return &decide.Starter{Environ: os.Environ()} }, Journals: journals}
	defer p.Close()
	a, b := folder(t, "a", "says-allow"), folder(t, "b", "says-allow")
	secret, other := t.TempDir(), t.TempDir()
	inOther := filepath.Join(other, "sub")
	if err := os.Mkdir(inOther, 0o700); err != nil {
		t.Fatal(err)
	}
	check := func(what, dir, private string, want ...string) {
		t.Helper()
		if got := ids(p.For(dir, private)); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	sync := func(want string, list ...config.Decider) {
		t.Helper()
		if err := p.Sync(list); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	check("before", other, "")
	sync("", config.Decider{Folder: a, Off: []string{other}}, config.Decider{Folder: b, Private: []string{secret}})
	check("anywhere", t.TempDir(), "", "a", "b")
	check("where one is off", other, "", "b")
	check("below it", inOther, "", "b")
	check("in a private project", secret, secret, "b")
	check("in another", other, other)
	link := filepath.Join(t.TempDir(), "link")
	if os.Symlink(other, link) == nil {
		check("by another name", filepath.Join(link, "sub"), "", "b")
	}
	one := p.For(secret, secret)[0]
	if err := one.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}

	// The rest goes on when one is taken back, or cannot be read.
	sync("no such file", config.Decider{Folder: b}, config.Decider{Folder: t.TempDir()})
	if got := p.For(other, ""); len(got) != 1 || got[0] != one {
		t.Errorf("got %v, want the one that ran", ids(got))
	}
	check("no longer on for the private project", secret, secret)
	sync("is there twice", config.Decider{Folder: b}, config.Decider{Folder: folder(t, "b", "says-allow")})
	sync("from / or ~/ on", config.Decider{Folder: "rules"})
	check("all taken back", other, "")
	if got := ask1(t, one); got.Why != "it was switched off" {
		t.Errorf("one that was taken back: got %v", got)
	}
	var life []string
	if err := decider.ReadJournal(journals, "dev.test.b", func(e decider.Entry) bool { life = append(life, e.Why); return true }); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(life, "it is ready") || !slices.Contains(life, "it was switched off") {
		t.Errorf("journal: got %q", life)
	}
	p.Close()
	sync("", config.Decider{Folder: a})
	check("after Close", other, "")
}

func ask1(t *testing.T, d *decider.Decider) decider.Answer {
	t.Helper()
	a, err := d.Decide(context.Background(), &decider.Question{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}
