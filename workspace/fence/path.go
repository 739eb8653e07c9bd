package fence

import (
	"runtime"
	"strings"
)

// flavour is a system's idea of paths. It is a parameter so that the rules of each are tested on all.
type flavour uint8

const (
	posixPaths flavour = iota
	darwinPaths
	windowsPaths
)

// native is the flavour of the running system.
func native() flavour {
	switch runtime.GOOS {
	case "windows":
		return windowsPaths
	case "darwin", "ios":
		return darwinPaths
	default:
		return posixPaths
	}
}

// folds reports whether the system's ordinary volumes ignore case.
func (f flavour) folds() bool { return f != posixPaths }

// parsed is an absolute, cleaned path: a volume ("" or "C:" or `\\server\share`) and components.
type parsed struct {
	vol   string
	comps []string
}

// join is the path in the flavour's own form.
func (f flavour) join(vol string, comps []string) string {
	sep := "/"
	if f == windowsPaths {
		sep = `\`
	}
	return vol + sep + strings.Join(comps, sep)
}

// parse cleans path by components. The second result says why it is no plain path, and is empty when it is one.
// Symbolic links play no part: "a/link/.." is "a", and it is that which is opened.
func (f flavour) parse(path string) (parsed, string) {
	if path == "" {
		return parsed{}, "the path is empty"
	}
	if strings.ContainsRune(path, 0) {
		return parsed{}, "the path contains a NUL byte"
	}
	vol, rest, why := f.volume(path)
	if why != "" {
		return parsed{}, why
	}
	split := func(r rune) bool { return r == '/' || f == windowsPaths && r == '\\' }
	var comps []string
	for c := range strings.FieldsFuncSeq(rest, split) {
		switch c {
		case ".":
		case "..":
			if len(comps) == 0 {
				return parsed{}, "it leads above the root"
			}
			comps = comps[:len(comps)-1]
		default:
			if why := f.component(c); why != "" {
				return parsed{}, why
			}
			comps = append(comps, c)
		}
	}
	if len(comps) > 0 && strings.IndexFunc(path[len(path)-1:], split) == 0 {
		return parsed{}, "it ends in a separator, so it names a folder"
	}
	return parsed{vol, comps}, ""
}

// parseFolder is parse for a folder, which may end in a separator.
func (f flavour) parseFolder(path string) (parsed, string) {
	trimmed := strings.TrimRight(path, "/")
	if f == windowsPaths {
		trimmed = strings.TrimRight(path, `/\`)
		if len(trimmed) == 2 && trimmed[1] == ':' {
			trimmed += `\`
		}
	}
	if trimmed == "" {
		trimmed = path
	}
	return f.parse(trimmed)
}

const notAbsolute = "it is not an absolute path"

// volume splits off what stands before the first component.
func (f flavour) volume(path string) (vol, rest, why string) {
	if f != windowsPaths {
		if path[0] == '/' {
			return "", path, ""
		}
		if scheme, _, ok := strings.Cut(path, ":"); ok && isScheme(scheme) {
			return "", "", "it is a URI, not a path"
		}
		return "", "", notAbsolute
	}
	p := strings.ReplaceAll(path, "/", `\`)
	switch {
	case strings.HasPrefix(p, `\\?\`), strings.HasPrefix(p, `\\.\`), strings.HasPrefix(p, `\??\`):
		return "", "", "it is a device path"
	case strings.HasPrefix(p, `\\`):
		server, share, ok := strings.Cut(p[2:], `\`)
		share, rest, _ := strings.Cut(share, `\`)
		if !ok || server == "" || share == "" || f.component(server) != "" || f.component(share) != "" {
			return "", "", notAbsolute
		}
		return `\\` + strings.ToLower(server) + `\` + strings.ToLower(share), rest, ""
	case len(p) >= 3 && isLetter(p[0]) && p[1] == ':' && p[2] == '\\':
		return strings.ToUpper(p[:2]), p[3:], ""
	}
	if scheme, _, ok := strings.Cut(path, ":"); ok && len(scheme) > 1 && isScheme(scheme) {
		return "", "", "it is a URI, not a path"
	}
	return "", "", notAbsolute
}

// component says why one component cannot be judged by its text. Only Windows has such.
func (f flavour) component(c string) string {
	if f != windowsPaths {
		return ""
	}
	last := c[len(c)-1]
	switch {
	case strings.Contains(c, ":"):
		return "it names a stream of a file"
	case last == '.' || last == ' ':
		return "a component ends in a dot or a space"
	case isDevice(c):
		return "it names a device"
	case isShort(c):
		return "a component has the form of a short name (~1)"
	}
	return ""
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !isLetter(c) && (i == 0 || !('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return false
		}
	}
	return s != ""
}

// isDevice reports the names that Windows takes for devices in every folder, with any extension.
func isDevice(c string) bool {
	stem, _, _ := strings.Cut(c, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	number, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		number, ok = strings.CutPrefix(stem, "LPT")
	}
	return ok && len([]rune(number)) == 1 && strings.Contains("0123456789¹²³", number)
}

// isShort reports names such as GIT~1 or PROGRA~1.TXT, which may stand for another, longer name.
func isShort(c string) bool {
	stem, ext, _ := strings.Cut(c, ".")
	tilde := strings.LastIndexByte(stem, '~')
	if tilde < 0 || len(stem) > 8 || len(ext) > 3 || tilde == len(stem)-1 {
		return false
	}
	return strings.Trim(stem[tilde+1:], "0123456789") == ""
}

// hasPrefix reports whether comps begins with the components of prefix.
func hasPrefix(comps, prefix []string, folding bool) bool {
	if len(comps) < len(prefix) {
		return false
	}
	for i, c := range prefix {
		if comps[i] != c && !(folding && fold(comps[i]) == fold(c)) {
			return false
		}
	}
	return true
}
