package process

import (
	"slices"
	"strings"
	"testing"
)

func TestL8_Environ(t *testing.T) {
	host := []string{
		"PATH=/bin", "HOME=/home/u", "LANG=C.UTF-8", "LC_ALL=C", "XDG_CONFIG_HOME=/c", "TERM=xterm", "TZ=UTC",
		"OPENAI_API_KEY=s1", "AWS_SECRET_ACCESS_KEY=s2", "GITHUB_TOKEN=s3", "FOO_TOKEN=s4", "DB_PASSWORD=s5",
		"ANTHROPIC_API_KEY=s6", "DATABASE_URL=s7", "AWS_ACCESS_KEY_ID=s8", "SSH_AUTH_SOCK=s9", "XDG_TOKEN=s10", "LC_SECRET=s11",
		"HTTPS_PROXY=http://user:s12@proxy:1", "https_proxy=http://proxy:1", "NO_PROXY=localhost", "SSL_CERT_FILE=/ca",
		"LD_PRELOAD=/x.so", "NODE_OPTIONS=--inspect", "EMPTY=", "path=lower", "=C:=odd", "noequals",
	}
	tests := []struct {
		name string
		spec EnvSpec
		has  string // variables beyond the base
		not  string // of the base, those that are gone
	}{
		{name: "base"},
		{name: "one passed", spec: EnvSpec{Pass: []string{"ANTHROPIC_API_KEY", "ABSENT"}}, has: "ANTHROPIC_API_KEY=s6"},
		{name: "own", spec: EnvSpec{Env: map[string]string{"A": "1", "TERM": "dumb"}}, has: "A=1 TERM=dumb", not: "TERM=xterm"},
		{name: "passed wins over own", spec: EnvSpec{Env: map[string]string{"FOO_TOKEN": "own"}, Pass: []string{"FOO_TOKEN"}}, has: "FOO_TOKEN=s4"},
		{
			name: "removed from everywhere",
			spec: EnvSpec{Env: map[string]string{"A": "1"}, Pass: []string{"FOO_TOKEN"}, Remove: []string{"A", "FOO_TOKEN", "TZ"}},
			not:  "TZ=UTC",
		},
		{
			name: "account last",
			spec: EnvSpec{Env: map[string]string{"G": "1"}, Remove: []string{"G"}, AccountVar: "G", AccountDir: "/acc"},
			has:  "G=/acc",
		},
	}
	base := []string{
		"PATH=/bin", "HOME=/home/u", "LANG=C.UTF-8", "LC_ALL=C", "XDG_CONFIG_HOME=/c", "TERM=xterm", "TZ=UTC",
		"https_proxy=http://proxy:1", "NO_PROXY=localhost", "SSL_CERT_FILE=/ca",
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, report := Environ(host, tt.spec)
			want := append(slices.Clone(base), strings.Fields(tt.has)...)
			want = slices.DeleteFunc(want, func(s string) bool { return slices.Contains(strings.Fields(tt.not), s) })
			slices.Sort(want)
			got := slices.Sorted(slices.Values(env))
			if !slices.Equal(got, want) {
				t.Errorf("got %q\nwant %q", got, want)
			}
			var names []string
			for _, e := range env {
				n, _, _ := strings.Cut(e, "=")
				names = append(names, n)
			}
			if !slices.Equal(names, report.Set) {
				t.Errorf("set: got %q, want %q", report.Set, names)
			}
			for _, n := range []string{"OPENAI_API_KEY", "DATABASE_URL", "SSH_AUTH_SOCK", "HTTPS_PROXY", "LD_PRELOAD"} {
				if !slices.Contains(report.Withheld, n) {
					t.Errorf("withheld: %s is missing in %q", n, report.Withheld)
				}
			}
			for _, n := range append(report.Withheld, report.Set...) {
				if strings.Contains(n, "=") {
					t.Errorf("a report holds names only, got %q", n)
				}
			}
		})
	}
}

func TestEnviron_Windows(t *testing.T) {
	host := []string{`Path=C:\bin`, `SystemRoot=C:\Windows`, "PATHEXT=.EXE", "SECRET=x", "Term=a", "ProgramFiles(x86)=y"}
	env, report := environ(host, EnvSpec{Pass: []string{"secret"}, Remove: []string{"TERM"}, Env: map[string]string{"PATHEXT": ".CMD"}}, true)
	want := []string{`Path=C:\bin`, "PATHEXT=.CMD", "ProgramFiles(x86)=y", "SECRET=x", `SystemRoot=C:\Windows`}
	if got := slices.Sorted(slices.Values(env)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := []string{"PATHEXT", "Term"}; !slices.Equal(report.Withheld, want) {
		t.Errorf("withheld: got %q, want %q", report.Withheld, want)
	}
}
