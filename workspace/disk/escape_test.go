package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"sallyport/workspace/fence"
)

// home makes the user's home of the escape attempts: a project pub, a private one, another one, our own files.
func home(t *testing.T) (string, *fence.Policy) {
	t.Helper()
	needUnix(t)
	h, _ := project(t)
	for name, content := range map[string]string{
		".bashrc": "alias", ".ssh/id_rsa": "KEY", ".config/sallyport/config.json": "{}", ".config/sallyport/plugins/p": "",
		".state/receipts/r": "RECEIPT", ".state/log": "LOG",
		"projects/pub/.git/hooks/pre-commit": "hook", "projects/pub/.git/config": "[core]", "projects/pub/.vscode/settings.json": "{}",
		"projects/pub/.envrc": "export A=1", "projects/pub/src/a.go": "package a", "projects/pub/README": "readme",
		"projects/secret/key.txt": "TOPSECRET", "projects/other/f.txt": "OTHER",
	} {
		path := filepath.Join(h, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, path, content)
	}
	pub := h + "/projects/pub"
	for link, target := range map[string]string{
		"link-in": "src/a.go", "link-other": "../other/f.txt", "link-secret": "../secret", "d": "../other", "z": h + "/projects/secret",
		"gitlink": ".git/hooks", "abs-in": pub + "/src/a.go",
	} {
		if err := os.Symlink(target, pub+"/"+link); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(h+"/projects/other/f.txt", pub+"/hard-other"); err != nil {
		t.Fatal(err)
	}
	p, err := fence.New(pub, fence.Rules{
		Private: []string{h + "/projects/secret"},
		Own:     fence.Own{State: []string{h + "/.state"}, Config: []string{h + "/.config/sallyport"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h, p
}

// contents is every file below dir, by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name, _ := filepath.Rel(dir, path); {
		case entry.Type().IsRegular():
			out[name] = bytesOf(t, path)
		default:
			out[name] = entry.Type().String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The attempts of cases/escape-attempts.md that can be asked through fs/* (marked F there): the state outside decides.
func TestEscapeAttempts_Writes(t *testing.T) {
	for id, paths := range map[string][]string{
		"W04": {"../other/n.txt"},
		"W05": {"../other/f.txt"},
		"W11": {"link-other"},
		"W12": {"d/n.txt", "d/new/n.txt"},
		"W19": {"../../.bashrc", "../../.profile"},
		"W20": {"../../.config/sallyport/config.json", "../../.config/sallyport/plugins/x", "../../.state/receipts/x"},
		"W21": {"/etc/sallyport-test", "/usr/local/bin/sallyport-test", "/var/tmp/sallyport-test"},
		"W27": {"src/../../other/n.txt"},
		"R09": {"../secret/n", "../secret/key.txt", "link-secret/n", "z/key.txt"},
		"G02": {".git/hooks/x", ".git/hooks/pre-commit", "gitlink/x", ".GIT/hooks/x"},
		"G03": {".git/config"},
		"G06": {".vscode/settings.json", ".vscode/tasks.json", ".envrc"},
		"G07": {".idea/x", ".mcp.json", ".gitmodules"},
		"G08": {"sub/.git/hooks/pre-commit"},
		"G09": {".git/commondir"},
	} {
		t.Run(id, func(t *testing.T) {
			h, p := home(t)
			before := contents(t, h)
			for _, path := range paths {
				full := path
				if path[0] != '/' {
					full = h + "/projects/pub/" + path
				}
				_, err := Write(p, full, "evil")
				var r *fence.Refusal
				if !errors.As(err, &r) {
					t.Errorf("write to %s: %v, want a refusal", path, err)
				}
				if _, err := os.Lstat(full); path[0] == '/' && err == nil {
					t.Errorf("%s was made", path)
				}
			}
			after := contents(t, h)
			for name, content := range after {
				if was, ok := before[name]; !ok || was != content {
					t.Errorf("%s is %q now", name, content)
				}
			}
			if len(after) != len(before) {
				t.Errorf("%d files, before %d", len(after), len(before))
			}
		})
	}
}

func TestEscapeAttempts_AllowedWrites(t *testing.T) {
	for id, c := range map[string]struct{ path, lands string }{
		"W01": {"n.txt", "pub/n.txt"},
		"W02": {"README", "pub/README"},
		"W14": {"hard-other", "pub/hard-other"},
		"W29": {"abs-in", "pub/src/a.go"},
	} {
		h, p := home(t)
		write(t, p, h+"/projects/pub/"+c.path, "hi\n")
		if got := bytesOf(t, h+"/projects/"+c.lands); got != "hi\n" {
			t.Errorf("%s: on disk %q", id, got)
		}
		if got := bytesOf(t, h+"/projects/other/f.txt"); got != "OTHER" {
			t.Errorf("%s: outside %q", id, got)
		}
	}
}

func TestEscapeAttempts_Reads(t *testing.T) {
	h, p := home(t)
	for _, c := range []struct {
		id, path string
		want     fence.Kind // "" for allowed
	}{
		{"R01", "../other/f.txt", ""},
		{"R02", "../secret/key.txt", fence.Private},
		{"R03", "../secret", fence.Private},
		{"R04", "link-secret/key.txt", fence.Private},
		{"R04", "z/key.txt", fence.Private},
		{"R12", "../../.ssh/id_rsa", fence.Unreadable},
		{"R16", "../secret/./key.txt", fence.Private},
		{"R16", "..//secret//key.txt", fence.Private},
		{"R18", "../../.state/receipts/r", fence.Reserved},
		{"R19", "../../.state/log", fence.Reserved},
		{"N06", "/proc/self/root" + h + "/projects/secret/key.txt", fence.Private},
	} {
		path := c.path
		if path[0] != '/' {
			path = h + "/projects/pub/" + path
		}
		f, err := Read(p, path, Window{})
		var r *fence.Refusal
		refused := errors.As(err, &r)
		if c.want == "" && err != nil || c.want != "" && (!refused || r.Fence != c.want) {
			t.Errorf("%s: read of %s: %q, %v", c.id, c.path, f.Text, err)
		}
	}
}

func TestEscapeAttempts_R20(t *testing.T) {
	h, _ := home(t)
	_, p := projectAt(t, h+"/projects", h+"/projects/secret")
	if _, err := Read(p, h+"/projects/secret/key.txt", Window{}); err == nil {
		t.Error("read of a private folder inside the region")
	}
	if _, err := Write(p, h+"/projects/secret/n", "x"); err == nil {
		t.Error("write to a private folder inside the region")
	}
}
