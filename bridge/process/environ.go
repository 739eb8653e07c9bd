package process

import (
	"maps"
	"runtime"
	"slices"
	"strings"
)

// EnvSpec says what an agent's environment holds beyond the base.
type EnvSpec struct {
	Env        map[string]string // variables of its own; never secrets
	Pass       []string          // names taken from the host, such as ANTHROPIC_API_KEY
	Remove     []string          // names taken off again, wherever they came from
	AccountVar string            // the variable of its account's folder; "" for none
	AccountDir string            // its value
}

// EnvReport lists names, never values, in order.
type EnvReport struct {
	Set      []string // what the agent gets
	Withheld []string // what the host has and the agent does not get
}

// Environ builds an environment of "name=value" from nothing, in this order:
// the base variables of the host, spec.Env, the host's variables named in
// spec.Pass, all in spec.Remove off, the account variable.
//
// The base is what programs need to find themselves, and holds no secrets:
//
//   - PATH HOME USER LOGNAME SHELL TERM LANG LC_* TMPDIR TZ XDG_*, and the
//     system's own (on Windows SystemRoot, PATHEXT, APPDATA and their like)
//   - where certificates are: SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS
//   - the proxies HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY, in either case, but
//     not one with a user or a password in its address
//
// Nothing else passes unless it is named: neither what looks like a secret nor
// what does not, such as DATABASE_URL, AWS_ACCESS_KEY_ID or SSH_AUTH_SOCK, which
// all give access to something. On Windows names are compared without case.
func Environ(host []string, spec EnvSpec) (env []string, report EnvReport) {
	return environ(host, spec, runtime.GOOS == "windows")
}

func environ(host []string, spec EnvSpec, windows bool) ([]string, EnvReport) {
	fold := func(name string) string {
		if windows {
			return strings.ToUpper(name)
		}
		return name
	}
	type variable struct{ name, value string }
	hosted := make(map[string]variable)
	built := make(map[string]variable)
	for _, entry := range host {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			continue // "=C:=C:\folder" on Windows
		}
		hosted[fold(name)] = variable{name, value}
	}
	for key, v := range hosted {
		if isBase(v.name, v.value, windows) {
			built[key] = v
		}
	}
	for name, value := range spec.Env {
		built[fold(name)] = variable{name, value}
	}
	for _, name := range spec.Pass {
		if v, ok := hosted[fold(name)]; ok {
			built[fold(name)] = v
		}
	}
	for _, name := range spec.Remove {
		delete(built, fold(name))
	}
	if spec.AccountVar != "" {
		built[fold(spec.AccountVar)] = variable{spec.AccountVar, spec.AccountDir}
	}
	var env []string
	var report EnvReport
	for _, key := range slices.Sorted(maps.Keys(built)) {
		v := built[key]
		env = append(env, v.name+"="+v.value)
		report.Set = append(report.Set, v.name)
	}
	for _, key := range slices.Sorted(maps.Keys(hosted)) {
		if got, ok := built[key]; !ok || got.value != hosted[key].value {
			report.Withheld = append(report.Withheld, hosted[key].name)
		}
	}
	return env, report
}

var (
	baseNames = []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TMPDIR", "TZ",
		"__CF_USER_TEXT_ENCODING", // macOS
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	}
	basePrefixes = []string{"LC_", "XDG_"}
	proxyNames   = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
	windowsNames = []string{
		"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "OS",
		"USERPROFILE", "USERNAME", "USERDOMAIN", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA",
		"PROGRAMDATA", "ALLUSERSPROFILE", "PUBLIC", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432",
		"COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432", "COMPUTERNAME",
		"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "PROCESSOR_IDENTIFIER", "PSMODULEPATH",
	}
	secretMarks = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"}
)

// isBase reports whether a variable of the host is one of the base.
func isBase(name, value string, windows bool) bool {
	upper := strings.ToUpper(name)
	switch {
	case slices.Contains(proxyNames, upper):
		return !strings.Contains(value, "@")
	case windows && slices.Contains(windowsNames, upper), windows && slices.Contains(baseNames, upper):
		return true
	case slices.Contains(baseNames, name):
		return true
	}
	for _, prefix := range basePrefixes {
		if strings.HasPrefix(name, prefix) {
			return !slices.ContainsFunc(secretMarks, func(mark string) bool { return strings.Contains(upper, mark) })
		}
	}
	return false
}

// lookup returns the last value of a variable in an environment.
func lookup(env []string, name string, windows bool) string {
	value := ""
	for _, entry := range env {
		n, v, _ := strings.Cut(entry, "=")
		if n == name || windows && strings.EqualFold(n, name) {
			value = v
		}
	}
	return value
}
