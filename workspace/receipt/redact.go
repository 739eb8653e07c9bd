package receipt

import (
	"regexp"
	"slices"
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
	lower := strings.ToLower(s)
	for _, p := range patterns {
		if slices.ContainsFunc(p.marks, func(mark string) bool { return strings.Contains(lower, mark) }) {
			s = p.find.ReplaceAllString(s, "${1}"+hidden)
		}
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
	value      = `(?:"[^"]*"?|'[^']*'?|\[hidden\]|[^\s"'&;|]+)`
)

// pattern finds secrets; its first group stays.
type pattern struct {
	marks []string // in lower case; what has none of them need not be searched, which is slow
	find  *regexp.Regexp
}

func find(expression string, marks ...string) pattern {
	return pattern{marks, regexp.MustCompile(expression)}
}

var secretMarks = []string{"token", "secret", "pass", "pwd", "key", "credential", "auth"}

var patterns = []pattern{
	// By the name or the option in front.
	find(`(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]*(?:key|token|auth)[a-z-]*)(?:\s*[:=]\s*)[^"'\n]+`, "auth", "cookie", "x-"),
	find(`(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9+/=._~-]{8,}`, "bearer", "basic"),
	find(`(?i)(`+secretName+`[a-z0-9_.-]*["']?\s*[=:]\s*)`+value, secretMarks...),
	find(`(?i)(\s--?[a-z0-9-]*`+secretName+`[a-z0-9-]*\s+)`+value, secretMarks...),
	find(`(\s(?:-u|--user)[\s=]*[^\s:]+:)`+value, " -u", " --user"),
	find(`(\bsshpass\s+-p\s*)`+value, "sshpass"),
	find(`(\b(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)\b[^;|&]*\s-p)`+value, "mysql", "mariadb"),
	// By their shape, wherever they stand.
	find(`()-----BEGIN [A-Z ]*PRIVATE KEY-----.*`, "private key"),
	find(`()\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}`, "k-", "k_"),
	find(`()\b(?:gh[pousr]|github_pat|glpat|gldt|npm|hf|pypi|dop_v1|shpat|xai|gsk|r8|fal|lin_api|ntn|secret)[-_][A-Za-z0-9_-]{16,}`, "-", "_"),
	find(`()\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{12,}`, "akia", "asia", "agpa", "aida", "aroa"),
	find(`()\bAIza[A-Za-z0-9_-]{30,}`, "aiza"),
	find(`()\bya29\.[A-Za-z0-9_-]{16,}`, "ya29"),
	find(`()\bxox[a-z]-[A-Za-z0-9-]{10,}`, "xox"),
	find(`()\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)?`, "eyj"),
	find(`()\bAGE-SECRET-KEY-1[A-Z0-9]+`, "age-secret"),
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
