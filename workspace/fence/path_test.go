package fence

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		fl         flavour
		path, want string // want is the cleaned path, or "!" and a part of the reason
	}{
		{posixPaths, "/", "/"},
		{posixPaths, "/p//a/./b/../c", "/p/a/c"},
		{posixPaths, `/p/a\b:c~1`, `/p/a\b:c~1`},
		{posixPaths, "/p/CON", "/p/CON"},
		{posixPaths, "/p/a. ", "/p/a. "},
		{posixPaths, "/p/%20", "/p/%20"},
		{posixPaths, "/..", "!above the root"},
		{posixPaths, "/p/../..", "!above the root"},
		{posixPaths, "p", "!not an absolute"},
		{posixPaths, `C:\p`, "!URI"}, // C: has the form of a scheme
		{posixPaths, "file:///p", "!URI"},
		{posixPaths, "/p/", "!folder"},
		{posixPaths, "/p\x00", "!NUL"},
		{darwinPaths, "/p/x:y", "/p/x:y"},
		{windowsPaths, `c:\p/a\.\b\..\c`, `C:\p\a\c`},
		{windowsPaths, `C:\`, `C:\`},
		{windowsPaths, `\\Srv\Share\a\b`, `\\srv\share\a\b`},
		{windowsPaths, `//srv/share/a`, `\\srv\share\a`},
		{windowsPaths, `C:p`, "!not an absolute"},
		{windowsPaths, `\p`, "!not an absolute"},
		{windowsPaths, `/p`, "!not an absolute"},
		{windowsPaths, `\\srv`, "!not an absolute"},
		{windowsPaths, `\\?\C:\p`, "!device path"},
		{windowsPaths, `//?/C:/p`, "!device path"},
		{windowsPaths, `\\.\PhysicalDrive0`, "!device path"},
		{windowsPaths, `\??\C:\p`, "!device path"},
		{windowsPaths, `C:\p\..\..`, "!above the root"},
		{windowsPaths, `C:\p\.git\config::$DATA`, "!stream"},
		{windowsPaths, `C:\p\a:b`, "!stream"},
		{windowsPaths, `C:\p\.git.\config`, "!dot or a space"},
		{windowsPaths, `C:\p\.git \config`, "!dot or a space"},
		{windowsPaths, `C:\p\GIT~1\config`, "!short name"},
		{windowsPaths, `C:\p\ENV~1.LOC`, "!short name"},
		{windowsPaths, `C:\p\a~b`, `C:\p\a~b`},
		{windowsPaths, `C:\p\backup~`, `C:\p\backup~`},
		{windowsPaths, `C:\p\longername~1`, `C:\p\longername~1`},
		{windowsPaths, `C:\p\nul`, "!device"},
		{windowsPaths, `C:\p\CON.txt`, "!device"},
		{windowsPaths, `C:\p\con .txt`, "!device"},
		{windowsPaths, `C:\p\com1\x`, "!device"},
		{windowsPaths, `C:\p\LPT²`, "!device"},
		{windowsPaths, `C:\p\COM10`, `C:\p\COM10`},
		{windowsPaths, `C:\p\console`, `C:\p\console`},
		{windowsPaths, "file:///C:/p", "!URI"},
	} {
		p, why := c.fl.parse(c.path)
		got := c.fl.join(p.vol, p.comps)
		if reason, refused := strings.CutPrefix(c.want, "!"); refused {
			if !strings.Contains(why, reason) {
				t.Errorf("%d %q: %q (%q), want a refusal with %q", c.fl, c.path, got, why, reason)
			}
		} else if why != "" || got != c.want {
			t.Errorf("%d %q: %q (%q), want %q", c.fl, c.path, got, why, c.want)
		}
	}
}

// D5: on Windows, folders are compared without case, for denying and, by what stands on disk, for allowing.
func TestD5_WindowsPrefix(t *testing.T) {
	q, _ := windowsPaths.parseFolder(`C:\q\`)
	for path, want := range map[string]bool{`c:\q\s.txt`: true, `C:\Q\S.TXT`: true, `C:/Q/s`: true, `c:\qq\s.txt`: false, `D:\q\s`: false} {
		p, why := windowsPaths.parse(path)
		if why != "" {
			t.Fatal(path, why)
		}
		if got := p.vol == q.vol && hasPrefix(p.comps, q.comps, windowsPaths.folds()); got != want {
			t.Errorf("%s in C:\\q: %v", path, got)
		}
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{".git", ".GIT", true},
		{"K", "\u212a", true}, // Kelvin sign
		{"é", "e\u0301", true},
		{"É", "e\u0301", true},
		{"e\u200d\u0301", "É", true}, // composes only without the joiner
		{"σ", "ς", true},
		{".git", ".git\u00ad", true},
		{"a.", "a", true},
		{"a..  .", "a", true},
		{"ß", "ss", false},
		{".git", ".gitignore", false},
	} {
		if got := fold(c.a) == fold(c.b); got != c.same {
			t.Errorf("fold(%q) == fold(%q): %v", c.a, c.b, got)
		}
	}
}

// slowReserved is the definition in plain words: after NFC and without ignorable runes and trailing dots and spaces, the name
// equals a reserved one when case is ignored.
func slowReserved(name string) bool {
	s := strings.Map(func(r rune) rune {
		if ignorable(r) {
			return -1
		}
		return r
	}, name)
	s = strings.TrimRight(norm.NFC.String(s), ". ")
	for _, r := range builtinReserved() {
		before, after, glob := strings.Cut(r, "*")
		switch {
		case !glob && strings.EqualFold(s, r):
			return true
		case glob:
			runes := []rune(s)
			b, a := len([]rune(before)), len([]rune(after))
			if len(runes) >= a+b && strings.EqualFold(string(runes[:b]), before) && strings.EqualFold(string(runes[len(runes)-a:]), after) {
				return true
			}
		}
	}
	return false
}

func FuzzReservedNames(f *testing.F) {
	for _, s := range append(builtinReserved(), ".GIT", ".g\u200cit", ".gi\u0307t", ".ſallyport", ".git. .", ".GitIgnore", "x.ſublime-project", ".git\xff", "ﬁ", ".gıt") {
		f.Add(s)
	}
	list, err := compileNames(builtinReserved())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if strings.ContainsAny(name, "/\x00") || name == "" {
			t.Skip("not one component")
		}
		comps := []string{"a", name, "b"}
		_, got := list.match(comps, foldAll(comps), 0)
		if want := slowReserved(name); got != want {
			t.Errorf("%q: reserved %v, want %v", name, got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"/p/../p-evil/x", `c:\a\..\b`, "//./a", `\\?\C:\`, "/a//b/", "file:///x", `\\a\b\c`, "/\x00", "C:/CON"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		for _, fl := range []flavour{posixPaths, darwinPaths, windowsPaths} {
			p, why := fl.parse(path)
			if why != "" {
				continue
			}
			for _, c := range p.comps {
				if c == "" || c == "." || c == ".." || strings.Contains(c, "/") || fl == windowsPaths && strings.ContainsAny(c, `\:`) {
					t.Fatalf("%d %q has component %q", fl, path, c)
				}
			}
			again, why := fl.parse(fl.join(p.vol, p.comps))
			if why != "" || again.vol != p.vol || !slices.Equal(again.comps, p.comps) {
				t.Errorf("%d %q: %q is not stable: %q %q", fl, path, p, again, why)
			}
		}
	})
}
