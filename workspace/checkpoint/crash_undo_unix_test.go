//go:build unix

package checkpoint

import (
	"os"
	"testing"
)

func TestCrashDuringRestore(t *testing.T) {
	var was, is map[string]string
	walkCrashes(t, "undo", func(p *project) {
		p.write("edited", "one")
		p.write("d/removed", "r")
		p.write("becomes-folder", "file")
		p.link("edited", "becomes-file")
		p.write("mode", "m")
		p.write("linked", "one")
		p.must(os.Link(p.at("linked"), p.at("twin")))
		p.write("shut/f", "one")
		was = p.files()
		p.take()
		p.write("edited", "two")
		p.remove("d")
		p.remove("becomes-folder")
		p.write("becomes-folder/in", "in")
		p.remove("becomes-file")
		p.write("becomes-file", "f")
		p.chmod("mode", 0o755)
		p.write("linked", "two")
		p.write("shut/f", "two")
		p.chmod("shut", 0o555)
		p.write("new/folder/f", "f")
		is = p.files()
		p.take()
	}, func(p *project, step int) {
		got := p.files()
		for name, text := range got {
			private := text == "drwx------" && (was[name] != "" || is[name] != "") // a folder gets its mode last
			if text != was[name] && text != is[name] && !private {
				p.Errorf("%s: got %q, want %q or %q", name, text, was[name], is[name])
			}
		}
		for name, text := range was {
			if is[name] == text && got[name] != text {
				p.Errorf("%s: got %q, and it did not change in the turn", name, got[name])
			}
		}
		ids := p.listed()
		before, err := p.store.Load(ids[0])
		p.must(err)
		after, err := p.store.Load(ids[1])
		p.must(err)
		r := p.restoreSome(before, after, RestoreOptions{Force: true})
		if len(r.Conflicts) > 0 {
			p.Errorf("conflicts %+v", r.Conflicts)
		}
		p.want(was)
	})
}

// What a forced undo overwrites is in the store before it is gone, whatever step it dies at.
func TestM12_CrashDuringForcedRestore(t *testing.T) {
	walkCrashes(t, "force", func(p *project) {
		p.write("a", "before")
		p.write("gone", "before")
		p.take()
		p.write("a", "turn")
		p.write("gone", "turn")
		p.take()
		p.write("a", "the user's")
		p.remove("gone")
	}, func(p *project, _ int) {
		user, kept := p.files()["a"] == "-rw-r--r-- the user's", false
		for _, id := range p.listed()[2:] {
			p.whole(id)
			c, err := p.store.Load(id)
			p.must(err)
			kept = kept || p.content(p.state(c, "a").Hash) == "the user's" && p.state(c, "gone").Kind == Absent
		}
		if !user && !kept {
			p.Errorf("what the user wrote is gone: %q, checkpoints %q", p.files(), p.listed())
		}
	})
}

// Taking up a path leaves the checkpoint as it was, and the one with the path, or none.
func TestCrashDuringAdd(t *testing.T) {
	walkCrashes(t, "add", func(p *project) {
		p.write(".gitignore", "dist\n")
		p.write("dist/in/f", "before")
		p.write("dist/other", "o")
		p.take()
	}, func(p *project, _ int) {
		ids := p.listed()
		if len(ids) > 2 {
			p.Errorf("got checkpoints %q", ids)
		}
		for _, id := range ids {
			p.whole(id)
		}
		first, err := p.store.Load(ids[0])
		p.must(err)
		c := p.add(first, "dist/in/f")
		p.write("dist/in/f", "after")
		p.now.Base = c
		p.restore(c, p.take())
		if got := p.files()["dist/in/f"]; got != "-rw-r--r-- before" {
			p.Errorf("got %s", got)
		}
	})
}
