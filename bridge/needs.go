package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sallyport/bridge/sandbox"
	"sallyport/plugins/harness"
	"sallyport/workspace/fence"
)

// needs are an agent's own files as its manifest says, and the environment in which it finds them. In a private project its
// state is in a folder of that project's own among ours, which no other agent sees.
func (b *Bridge) needs(h *harness.Harness, policy *fence.Policy, env []string) (sandbox.Needs, []string, error) {
	w := whereabouts{env: variables(env), moves: h.Own.Footprint.Moves}
	shared := w.expand(h, policy.Folder())
	inside := policy.Inside()
	if inside == "" {
		return shared, env, nil
	}
	sum := sha256.Sum256([]byte(inside))
	base := filepath.Join(b.stateFolder(), "agents", h.ID, hex.EncodeToString(sum[:8]))
	own := whereabouts{env: maps.Clone(w.env), moves: w.moves}
	into := seeds{policy: policy}
	for i, name := range sortedKeys(w.moves) {
		dir := filepath.Join(base, string(rune('a'+i))+"-"+strings.ToLower(name))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return sandbox.Needs{}, nil, err
		}
		into.dirs = append(into.dirs, dir)
		own.env[name] = dir
		env = setVariable(env, name, dir)
	}
	moved := own.expand(h, policy.Folder())
	for i, from := range shared.State {
		into.signIn(from, moved.State[i])
	}
	for i, from := range shared.Settings {
		into.copy(from, moved.Settings[i])
	}
	kept := shared.State[:0:0]
	for i, path := range moved.State { // what no variable moves is not written from here: it would tell others
		if path != shared.State[i] {
			kept = append(kept, path)
		}
	}
	moved.State = kept
	return moved, env, nil
}

// stateFolder is ours.
func (b *Bridge) stateFolder() string {
	if len(b.Home.Own.State) > 0 {
		return b.Home.Own.State[0]
	}
	return b.Home.Kernel.Dir
}

// whereabouts says where an agent's paths are.
type whereabouts struct {
	env   map[string]string
	moves map[string]string // of the manifest
}

// expand makes absolute paths of a manifest's. Those below $TMPDIR are in the session's own folder anyway.
func (w whereabouts) expand(h *harness.Harness, folder string) sandbox.Needs {
	f := h.Own.Footprint
	all := func(rows []string, believed func(string) bool) (out []string) {
		for _, row := range rows {
			switch {
			case strings.HasPrefix(row, "$"), !believed(row):
			case strings.HasPrefix(row, "~/"):
				if path := w.place(row); path != "" {
					out = append(out, path)
				}
			default:
				out = append(out, filepath.Join(folder, filepath.FromSlash(row)))
			}
		}
		return out
	}
	any := func(string) bool { return true }
	return sandbox.Needs{
		State:    all(f.State, func(row string) bool { return mayHave(h, row) }),
		Settings: all(slices.DeleteFunc(slices.Clone(f.Settings), func(row string) bool { return !strings.HasPrefix(row, "~/") }), any), // the others are reserved names
		Sockets:  all(f.Sockets, func(string) bool { return h.From.Origin != harness.Installed }),
	}
}

// mayHave reports whether a manifest is believed about what its agent may write in the user's home. An installed one opens
// only folders that carry the agent's own name.
func mayHave(h *harness.Harness, row string) bool {
	if h.From.Origin != harness.Installed {
		return true
	}
	rest, ok := strings.CutPrefix(row, "~/")
	if !ok {
		return false
	}
	for _, dir := range []string{"", ".config/", ".local/share/", ".local/state/", ".cache/"} {
		name, ok := strings.CutPrefix(rest, dir)
		if ok && slices.Contains(append([]string{h.ID}, h.Program.Locate.Names...), strings.TrimPrefix(name, ".")) && (dir != "" || strings.HasPrefix(name, ".")) {
			return true
		}
	}
	return false
}

// standard are the variables that move what lies in the usual places of a home.
func standard() map[string]string {
	return map[string]string{
		"XDG_CONFIG_HOME": "~/.config", "XDG_DATA_HOME": "~/.local/share", "XDG_STATE_HOME": "~/.local/state", "XDG_CACHE_HOME": "~/.cache",
	}
}

// place is where a path of the home is: where a variable that is set moves it, the longest one first.
func (w whereabouts) place(row string) string {
	best, at := "", ""
	for _, table := range []map[string]string{standard(), w.moves} {
		for _, name := range sortedKeys(table) {
			prefix := table[name]
			value := w.env[name]
			rest, ok := strings.CutPrefix(row, strings.TrimSuffix(prefix, "/")+"/")
			if row == prefix {
				rest, ok = "", true
			}
			if ok && filepath.IsAbs(value) && len(prefix) >= len(best) {
				best, at = prefix, filepath.Join(value, filepath.FromSlash(rest))
			}
		}
	}
	if best != "" {
		return at
	}
	home := w.env["HOME"]
	if home == "" {
		home, _ = os.UserHomeDir() // "" when there is none
	}
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(strings.TrimPrefix(row, "~/")))
}

// seeds copies an agent's settings and sign-in into its state of a private
// project, where a copy is missing or older. An agent that misses one says so
// itself.
type seeds struct {
	policy *fence.Policy
	dirs   []string // where the copies go; what is in them is the agent's to write
}

// signIn copies the sign-in that lies directly in a folder of state.
func (s seeds) signIn(from, to string) {
	entries, err := os.ReadDir(from)
	if err != nil || from == to {
		return
	}
	for _, e := range entries {
		var refused *fence.Refusal
		if e.Type().IsRegular() && errors.As(s.policy.CheckRead(filepath.Join(from, e.Name())), &refused) && refused.Fence == fence.Unreadable {
			s.copy(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		}
	}
}

// copy copies a file, or the files of a folder. What the agent made of the
// destination leads nowhere else: it is reached through a root handle.
func (s seeds) copy(from, to string) {
	const (
		much  = 4 << 20
		files = 500
	)
	i := slices.IndexFunc(s.dirs, func(dir string) bool { return fence.Beneath(to, dir) })
	if i < 0 || from == to {
		return
	}
	root, err := os.OpenRoot(s.dirs[i])
	if err != nil {
		return
	}
	defer root.Close()
	n := 0
	_ = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if n++; err != nil || n > files {
			return fs.SkipAll
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > much {
			return nil
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return nil
		}
		at, err := filepath.Rel(s.dirs[i], filepath.Join(to, rel))
		if err == nil {
			copyNewer(root, path, at, info)
		}
		return nil
	})
}

func copyNewer(root *os.Root, from, to string, info fs.FileInfo) {
	if there, err := root.Lstat(to); err == nil && there.Mode().IsRegular() && !there.ModTime().Before(info.ModTime()) {
		return
	}
	in, err := os.Open(from)
	if err != nil || root.MkdirAll(filepath.Dir(to), 0o700) != nil {
		return
	}
	defer in.Close()
	part := to + ".seed"
	_ = root.Remove(part) // of a start that was cut short
	out, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err == nil {
		err = root.Rename(part, to) // replaces what stands there, and follows nothing
	}
	if err != nil {
		_ = root.Remove(part)
	}
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// variables is an environment by name; the last value of a name counts.
func variables(env []string) map[string]string {
	all := make(map[string]string, len(env))
	for _, entry := range env {
		if name, value, ok := strings.Cut(entry, "="); ok {
			all[name] = value
		}
	}
	return all
}
