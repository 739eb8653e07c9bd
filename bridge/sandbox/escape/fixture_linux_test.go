package escape

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

const (
	secretText = "TOPSECRET\n"
	otherText  = "OTHER\n"
	// key is what no part of may be read: a folder's listing, or its file.
	secretWord = "TOPSECRET"
)

// template is a fixture that scenes of one user are copied from.
type template struct {
	once sync.Once
	dir  string
	err  error
}

var templates = map[string]*template{"user": {}, "root": {}}

// fixtureFiles of a home, by path. A name that ends with a slash is a folder.
var fixtureFiles = map[string]string{
	".bashrc":                             "# mine\n",
	".ssh/id_rsa":                         "PRIVATEKEY\n",
	".config/sallyport/config.json":       "{}\n",
	".local/share/sallyport/plugins/":     "",
	".local/state/sallyport/receipts/r":   "RECEIPT\n",
	".local/state/sallyport/turns/t":      "RECEIPT\n",
	".local/state/sallyport/log":          "RECEIPT\n",
	".local/share/agent/settings.json":    "{}\n",
	".local/share/agent/plugins/":         "",
	".local/share/agent/sessions/s.jsonl": "mine\n",
	"projects/pub/README":                 "read me\n",
	"projects/pub/src/a.go":               "package a\n",
	"projects/pub/.vscode/settings.json":  "{}\n",
	"projects/pub/.envrc":                 "# mine\n",
	"projects/secret/key.txt":             secretText,
	"projects/other/f.txt":                otherText,
}

// fixtureScript makes the rest: two repositories and the links.
const fixtureScript = `
set -e
for p in secret pub; do
	cd $HOME/projects/$p
	git init -q -b main .
	rm -f .git/hooks/*
	git config user.name Somebody
	git config user.email somebody@example.invalid
	git config gc.auto 0
	printf '.envrc\n' >> .git/info/exclude
	git add -A
	git commit -q -m first
done
printf '#!/bin/sh\nexit 0\n' > .git/hooks/pre-commit
chmod +x .git/hooks/pre-commit
chmod 640 README
ln -s src/a.go link-in
ln -s ../other/f.txt link-other
ln -s ../secret link-secret
ln ../other/f.txt hard-other
ln ../secret/key.txt hard-secret
printf 'link-*\nhard-*\n' >> .git/info/exclude
mkdir $HOME/../run $HOME/../tmp
chmod 700 $HOME/../run
`

// templateOf is the user's template, made when it is first asked for.
func templateOf(t *testing.T, u user) string {
	t.Helper()
	tm := templates[u.name]
	tm.once.Do(func() { tm.dir, tm.err = makeTemplate(u) })
	if tm.err != nil {
		t.Fatal(tm.err)
	}
	return tm.dir
}

func makeTemplate(u user) (string, error) {
	dir := filepath.Join(ground.dir, "template-"+u.name)
	for name, text := range fixtureFiles {
		path := filepath.Join(dir, "h", filepath.FromSlash(name))
		if name[len(name)-1] == '/' {
			if err := os.MkdirAll(path, 0o755); err != nil {
				return "", err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || os.Geteuid() != 0 {
			return err
		}
		return os.Lchown(path, u.id, u.group())
	})
	if err != nil {
		return "", err
	}
	cmd := exec.Command("sh", "-c", fixtureScript)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, []string{"HOME=" + dir + "/h", "PATH=" + path, "GIT_CONFIG_NOSYSTEM=1"}, u.become()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("making the fixture: %w: %s", err, out)
	}
	return dir, nil
}

// path is the PATH of all scenes.
const path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/go/bin"

// copyFixture is a fresh fixture, with owners, times and hard links as in the
// template.
func copyFixture(t *testing.T, u user, name string) string {
	t.Helper()
	from, dir := templateOf(t, u), filepath.Join(ground.dir, name)
	if out, err := exec.Command("cp", "-a", from, dir).CombinedOutput(); err != nil {
		t.Fatalf("copying the fixture: %v: %s", err, out)
	}
	t.Cleanup(func() {
		// A row may have taken rights away from its own folders.
		_ = exec.Command("chmod", "-R", "u+rwX", dir).Run()
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("removing the fixture: %v", err)
		}
	})
	return dir
}
