package workspace

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"
)

// ErrNoPath: the URI names no file (untitled:, git:, output: and the like).
var ErrNoPath = errors.New("names no file")

// flavour is the operating system whose paths are meant. The exported functions use
// the system's own; the others are there so that both are tested everywhere.
type flavour bool

const (
	posix   flavour = false
	windows flavour = true
)

func own() flavour { return flavour(runtime.GOOS == "windows") }

// PathOf gives the plain, absolute, cleaned path that a file URI names. Percent escapes
// are decoded exactly once; a bare '#' or '?' is part of the name, since a document's URI
// has neither query nor fragment. On Windows the drive letter is upper case and an
// authority is a UNC server. Errors: ErrNoPath for another scheme; a plain error for a
// malformed URI.
func PathOf(uri string) (string, error) { return pathOf(own(), uri) }

// URIOf gives the file URI of an absolute path, with everything but unreserved
// characters and '/' escaped, as RFC 3986 section 2.3 has them; the drive's colon of
// Windows stays bare. PathOf(URIOf(p)) is p, cleaned.
func URIOf(path string) string { return uriOf(own(), path) }

func pathOf(f flavour, uri string) (string, error) {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || !isScheme(scheme) {
		return "", fmt.Errorf("reading URI %q: it has no scheme", uri)
	}
	if !strings.EqualFold(scheme, "file") {
		return "", fmt.Errorf("reading URI %q: %w", uri, ErrNoPath)
	}
	host := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		slash := strings.IndexByte(after, '/')
		if slash < 0 {
			return "", fmt.Errorf("reading URI %q: it has no path", uri)
		}
		host, rest = after[:slash], after[slash:]
	}
	if !strings.HasPrefix(rest, "/") {
		return "", fmt.Errorf("reading URI %q: its path is not absolute", uri)
	}
	name, err := unescape(rest)
	if err != nil {
		return "", fmt.Errorf("reading URI %q: %w", uri, err)
	}
	if host, err = unescape(host); err != nil {
		return "", fmt.Errorf("reading URI %q: %w", uri, err)
	}
	if strings.EqualFold(host, "localhost") {
		host = ""
	}
	if f == posix {
		if host != "" {
			return "", fmt.Errorf("reading URI %q: files of another host cannot be reached", uri)
		}
		return clean(f, name), nil
	}
	return windowsPath(uri, host, name)
}

func windowsPath(uri, host, name string) (string, error) {
	switch {
	case host != "":
		if strings.ContainsAny(host, `\/:`) || strings.Trim(name, `/\`) == "" {
			return "", fmt.Errorf("reading URI %q: a share is //server/share", uri)
		}
		return clean(windows, `\\`+host+name), nil
	case strings.HasPrefix(name, "//"): // four slashes: another spelling of UNC
		if len(strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' })) < 2 {
			return "", fmt.Errorf("reading URI %q: a share is //server/share", uri)
		}
		return clean(windows, `\\`+name[2:]), nil
	case len(name) >= 3 && isDrive(name[1:3]):
		return clean(windows, name[1:]), nil
	default:
		return "", fmt.Errorf("reading URI %q: its path has no drive", uri)
	}
}

func uriOf(f flavour, path string) string {
	path = clean(f, path)
	if f == posix {
		return "file://" + escape(path)
	}
	path = strings.ReplaceAll(path, `\`, "/")
	if share, ok := strings.CutPrefix(path, "//"); ok {
		return "file://" + escape(share)
	}
	if len(path) >= 2 && isDrive(path[:2]) {
		return "file:///" + path[:2] + escape(path[2:])
	}
	return "file:///" + escape(path)
}

// clean is filepath.Clean for both flavours on every system. On Windows '/' becomes '\',
// the drive letter is upper case and a drive alone is its root ("C:" means "C:\").
func clean(f flavour, path string) string {
	if f == posix {
		return cleanWith("/", "", path)
	}
	path = strings.ReplaceAll(path, "/", `\`)
	volume := ""
	switch {
	case strings.HasPrefix(path, `\\`):
		parts := strings.SplitN(strings.TrimLeft(path, `\`), `\`, 3)
		volume, path = `\\`+parts[0], ""
		if len(parts) > 1 {
			volume += `\` + parts[1]
		}
		if len(parts) > 2 {
			path = parts[2]
		}
		path = `\` + path
	case len(path) >= 2 && isDrive(path[:2]):
		volume = strings.ToUpper(path[:2])
		path = `\` + path[2:]
	}
	return cleanWith(`\`, volume, path)
}

// cleanWith drops empty and "." parts and resolves ".." by name, never above the root.
func cleanWith(sep, volume, path string) string {
	rooted := strings.HasPrefix(path, sep)
	var parts []string
	for part := range strings.SplitSeq(path, sep) {
		switch {
		case part == "" || part == ".":
		case part != "..":
			parts = append(parts, part)
		case len(parts) > 0 && parts[len(parts)-1] != "..":
			parts = parts[:len(parts)-1]
		case !rooted:
			parts = append(parts, part)
		}
	}
	joined := strings.Join(parts, sep)
	if rooted {
		joined = sep + joined
	}
	if volume+joined == "" {
		return "."
	}
	return volume + joined
}

// absolute reports whether path stands by itself. A bare drive counts: it means its root.
func absolute(f flavour, path string) bool {
	if f == posix {
		return strings.HasPrefix(path, "/")
	}
	path = strings.ReplaceAll(path, "/", `\`)
	if strings.HasPrefix(path, `\\`) {
		return true
	}
	return len(path) >= 2 && isDrive(path[:2]) && (len(path) == 2 || path[2] == '\\')
}

func isDrive(s string) bool {
	return len(s) == 2 && s[1] == ':' && isLetter(s[0])
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isScheme follows RFC 3986 section 3.1, but wants two letters: one is a Windows drive.
func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i]
		digit := c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
		if !isLetter(c) && (i == 0 || !digit) {
			return false
		}
	}
	return len(s) > 1
}

// unescape decodes percent escapes once. A name may be any bytes but NUL.
func unescape(s string) (string, error) {
	if strings.IndexByte(s, 0) >= 0 {
		return "", errors.New("it holds a NUL")
	}
	if strings.IndexByte(s, '%') < 0 {
		return s, nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", fmt.Errorf("bad escape %q", s[i:])
		}
		high, low := unhex(s[i+1]), unhex(s[i+2])
		if high < 0 || low < 0 {
			return "", fmt.Errorf("bad escape %q", s[i:i+3])
		}
		c := byte(high<<4 | low)
		if c == 0 {
			return "", errors.New("it holds a NUL")
		}
		out = append(out, c)
		i += 2
	}
	return string(out), nil
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	default:
		return -1
	}
}

func escape(path string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		plain := isLetter(c) || c >= '0' && c <= '9' || strings.IndexByte("-._~/", c) >= 0
		if plain && c < utf8.RuneSelf {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}
