package fence

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		list    string
		matches string
		not     string
	}{
		{".env .env.* !.env.example", ".env a/.ENV .env/x .env.local", "env .environment .env.example a/.env.example"},
		{".github/workflows", ".github/workflows/ci.yml a/.GitHub/Workflows", ".github/x .github workflows x/workflows"},
		{".ssh/* !.ssh/*.pub", ".ssh/k .ssh/d/k.pub a/.ssh/k", ".ssh .ssh/k.pub"},
		{"a/**/z", "a/z a/b/c/z x/a/b/z/y", "a b/z"},
		{"/etc/*.conf", "etc/x.conf", "a/etc/x.conf etc/d/x.conf"},
		{"*.{pem,key}", "a.pem A.KEY", "pem a.pem2"},
		{"!x x", "x", "y"},
		{"x !x", "", "x"},
		{"x !x x", "x", ""},
	} {
		n, err := compileNames(strings.Fields(c.list))
		if err != nil {
			t.Fatal(err)
		}
		for path := range strings.FieldsSeq(c.matches) {
			comps := strings.Split(path, "/")
			if _, ok := n.match(comps, foldAll(comps), 0); !ok {
				t.Errorf("%q does not match %s", c.list, path)
			}
		}
		for path := range strings.FieldsSeq(c.not) {
			comps := strings.Split(path, "/")
			if e, ok := n.match(comps, foldAll(comps), 0); ok {
				t.Errorf("%q matches %s by %q", c.list, path, e)
			}
		}
	}
}
