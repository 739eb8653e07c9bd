package rules

import "testing"

// TestFold: where names are not told by case, a rule that forbids finds a file in
// every spelling, of its folder too; one that allows does not.
func TestFold(t *testing.T) {
	r, problems := Parse(Lists{Deny: []string{"Edit(.GitHub/**)"}, Allow: []string{"Edit(src/**)"}}, Source{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	at := place{folders: []string{"/Users/u/p"}, home: "/Users/u", fold: true}
	for name, want := range map[string]Say{".github/a": Deny, "/USERS/U/P/.gitHUB/a": Deny, "src/a": Allow, "SRC/a": None, "/users/u/p/src/a": None} {
		if got := r.filePart("Edit", "Edit", at, name); got.Say != want {
			t.Errorf("%s: got %v, want %v", name, got.Say, want)
		}
	}
	if _, doubt := r.file(Deny, "Edit", "", &at, "/users/U/p/.GIT\x04/a", false); !doubt {
		t.Error("it may be .github, which is not seen")
	}
}

func TestWindowsName(t *testing.T) {
	for name, want := range map[string]string{"C:/p/.env": "C:/p/.env", ".env::$DATA": ".env", ".env.": ".env", ".git /x. . ": ".git/x", "../a": "../a", "./a": "./a"} {
		if got := windowsName(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
