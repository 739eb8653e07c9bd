package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// ProjectFile is the name of a project's own file.
const ProjectFile = ".sallyport.json"

// Paths says where the user's files are. All are absolute.
type Paths struct {
	// Config is the user's config.json.
	Config string
	// State is the folder of receipts, checkpoints and conversations.
	State string
	// Data is the folder of installed packages.
	Data string
}

// UserPaths gives the paths of this system and user: the XDG folders on Linux, and on every
// system whose XDG variables are set; else Application Support on macOS, APPDATA and
// LOCALAPPDATA on Windows. It makes nothing. It errs when no home folder is known.
func UserPaths() (Paths, error) {
	home, _ := os.UserHomeDir()
	return pathsOf(runtime.GOOS, os.Getenv, home)
}

func pathsOf(system string, env func(string) string, home string) (Paths, error) {
	var bases [3]string // configuration, state, data
	fallback := [3]string{".config", ".local/state", ".local/share"}
	switch system {
	case "darwin", "ios":
		library := "Library/Application Support"
		fallback = [3]string{library, library, library}
	case "windows":
		bases = [3]string{env("APPDATA"), env("LOCALAPPDATA"), env("LOCALAPPDATA")}
		fallback = [3]string{"AppData/Roaming", "AppData/Local", "AppData/Local"}
	}
	for i, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"} {
		// The XDG specification says that a relative folder is to be ignored.
		if dir := env(name); rooted(system, dir) {
			bases[i] = dir
		}
		if bases[i] == "" && home != "" {
			bases[i] = filepath.Join(home, filepath.FromSlash(fallback[i]))
		}
		if bases[i] == "" {
			return Paths{}, errors.New("finding the configuration folder: no home folder is known")
		}
		bases[i] = filepath.Join(bases[i], "sallyport")
	}
	paths := Paths{Config: filepath.Join(bases[0], "config.json"), State: bases[1], Data: bases[2]}
	if paths.State == paths.Data { // one folder for all on macOS and Windows
		paths.State = filepath.Join(bases[1], "state")
		paths.Data = filepath.Join(bases[2], "packages")
	}
	return paths, nil
}

func rooted(system, dir string) bool {
	if system == "windows" {
		return len(dir) > 2 && dir[1] == ':' && (dir[2] == '\\' || dir[2] == '/') || strings.HasPrefix(dir, `\\`)
	}
	return strings.HasPrefix(dir, "/")
}

// Prepare makes the state folder, readable by its user only.
func (p Paths) Prepare() error { return os.MkdirAll(p.State, 0o700) }
