package receipt

import (
	"regexp"
	"strings"
	"unicode"
)

const hidden = "[hidden]"

// Redact replaces what may be a secret or content in a line of text: all but the first line of a command, user and password,
// query and fragment of an address, values of headers, options and variables that are named like a secret, and keys of known
// shapes. It rather hides too much.
func Redact(s string) string {
	if first, rest, ok := strings.Cut(s, "\n"); ok {
		if s = strings.TrimRight(first, "\r"); strings.TrimSpace(rest) != "" {
			s += " …" // a here document, or a script
		}
	}
	s = address.ReplaceAllStringFunc(s, redactAddress)
	for _, p := range named {
		s = p.ReplaceAllString(s, "${1}"+hidden)
	}
	for _, p := range shaped {
		s = p.ReplaceAllString(s, hidden)
	}
	return run.ReplaceAllStringFunc(s, redactRun)
}

var address = regexp.MustCompile("(?i)\\b(?:data:|[a-z][a-z0-9+.-]*://)[^\\s\"'<>`]+")

func redactAddress(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return "data:" + hidden
	}
	rest, tail := cutAny(rest, "?#")
	host, path := cutAny(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = hidden + host[at:]
	}
	if tail != "" {
		tail = tail[:1] + hidden
	}
	return scheme + "://" + host + path + tail
}

// cutAny cuts before the first of the characters.
func cutAny(s, chars string) (before, after string) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

const (
	secretName = `(?:token|secret|passw(?:or)?d|passwd|passphrase|pwd|api[-_.]?key|access[-_.]?key|secret[-_.]?key|private[-_.]?key|credentials?|\bauth\b)`
	value      = `(?:"[^"]*"?|'[^']*'?|[^\s"'&;|]+)`
)

// named have a name or an option in front; the first group stays.
var named = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]*(?:key|token|auth)[a-z-]*)(?:\s*[:=]\s*)[^"'\n]+`),
	regexp.MustCompile(`(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9+/=._~-]{8,}`),
	regexp.MustCompile(`(?i)([a-z0-9_.-]*` + secretName + `[a-z0-9_.-]*["']?\s*[=:]\s*)` + value),
	regexp.MustCompile(`(?i)(\s--?[a-z0-9-]*` + secretName + `[a-z0-9-]*\s+)` + value),
	regexp.MustCompile(`(\s(?:-u|--user)[\s=]*[^\s:]+:)` + value),
	regexp.MustCompile(`(\bsshpass\s+-p\s*)` + value),
	regexp.MustCompile(`(\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^;|&]*\s-p)` + value),
}

// shaped are secrets wherever they stand.
var shaped = []*regexp.Regexp{
	regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----.*`),
	regexp.MustCompile(`\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}`),
	regexp.MustCompile(`\b(?:gh[pousr]|github_pat|glpat|gldt|npm|hf|pypi|dop_v1|shpat|xai|gsk|r8|fal|lin_api|ntn|secret)[-_][A-Za-z0-9_-]{16,}`),
	regexp.MustCompile(`\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{12,}`),
	regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{30,}`),
	regexp.MustCompile(`\bya29\.[A-Za-z0-9_-]{16,}`),
	regexp.MustCompile(`\bxox[a-z]-[A-Za-z0-9-]{10,}`),
	regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)?`),
	regexp.MustCompile(`\bAGE-SECRET-KEY-1[A-Z0-9]+`),
}

var run = regexp.MustCompile(`[A-Za-z0-9]{32,}`)

// redactRun hides a long run of letters and digits that looks drawn by lot. Hashes in hex have one case of letters and stay.
func redactRun(s string) string {
	var upper, lower, digits int
	for _, r := range s {
		switch {
		case unicode.IsUpper(r):
			upper++
		case unicode.IsLower(r):
			lower++
		default:
			digits++
		}
	}
	if upper < 3 || lower < 3 || digits < 3 {
		return s
	}
	return hidden
}
