package sallyport_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

const casesFile = "testdata/cases.json"

var updateCases = flag.Bool("update", false, "add the tests that are named after a case to "+casesFile)

// listed is a case of the list.
type listed struct {
	ID     string   `json:"id"`
	About  string   `json:"about"`            // one line
	Tests  []string `json:"tests,omitempty"`  // folder.TestName, or folder.TestName/subtest
	Awaits string   `json:"awaits,omitempty"` // the later work, for what no test covers yet
}

// awaited are the works that a case may wait for.
var awaited = []string{"turns", "kernel fences", "deciders", "acp facade", "plugin packages"}

// groups says how many cases each group has, from 1.
var groups = map[string]int{
	"A": 11, "B": 11, "C": 6, "D": 7, "E": 3, "F": 10, "G": 9, "H": 5, "I": 8, "J": 9, "K": 11, "L": 9, "M": 15, "N": 2, "O": 9,
}

// named finds the cases in a test's name: TestB1_B2_WindowsOfABuffer.
var named = regexp.MustCompile(`^Test([A-O][0-9]+(?:_[A-O][0-9]+)*)(?:_|$)`)

// tests are the test functions and the string literals of one package.
type tests struct {
	functions []string
	literals  map[string]bool
}

// testsOf reads the tests of all packages, by folder.
func testsOf(t *testing.T) map[string]tests {
	t.Helper()
	all := map[string]tests{}
	for pkg, list := range packages(t) {
		found := tests{literals: map[string]bool{}}
		for _, name := range list {
			if !strings.HasSuffix(name, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if n.Recv == nil && strings.HasPrefix(n.Name.Name, "Test") {
						found.functions = append(found.functions, n.Name.Name)
					}
				case *ast.BasicLit:
					if s, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
						found.literals[s] = true
					}
				}
				return true
			})
		}
		all[pkg] = found
	}
	return all
}

// has says whether a test of the list is in the source.
func has(all map[string]tests, name string) bool {
	pkg, rest, ok := strings.Cut(name, ".Test")
	if !ok {
		return false
	}
	function, sub, isSub := strings.Cut("Test"+rest, "/")
	found := all[pkg]
	return slices.Contains(found.functions, function) && (!isSub || found.literals[sub])
}

func readCases(t *testing.T) []listed {
	t.Helper()
	var list []listed
	if err := json.Unmarshal(read(t, casesFile), &list, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%s: %v", casesFile, err)
	}
	return list
}

func TestCases(t *testing.T) {
	all := testsOf(t)
	if *updateCases {
		writeCases(t, all)
	}
	list := readCases(t)
	byID := map[string]listed{}
	for _, c := range list {
		if _, twice := byID[c.ID]; twice {
			t.Errorf("%s: listed twice", c.ID)
		}
		byID[c.ID] = c
		checkCase(t, all, c)
	}
	known := 0
	for group, n := range groups {
		known += n
		for i := range n {
			if id := group + strconv.Itoa(i+1); byID[id].ID == "" {
				t.Errorf("%s: missing from %s", id, casesFile)
			}
		}
	}
	if len(byID) > known {
		t.Errorf("%s has %d cases, want %d", casesFile, len(byID), known)
	}
	for pkg, found := range all {
		for _, function := range found.functions {
			for _, id := range casesOf(function) {
				if name := pkg + "." + function; !slices.Contains(byID[id].Tests, name) {
					t.Errorf("%s: %s is named after it and not listed; go test -run TestCases -update . adds it", id, name)
				}
			}
		}
	}
}

// checkCase looks at one case of the list by itself.
func checkCase(t *testing.T, all map[string]tests, c listed) {
	t.Helper()
	if c.About == "" {
		t.Errorf("%s: says nothing about itself", c.ID)
	}
	if len(c.Tests) == 0 && c.Awaits == "" {
		t.Errorf("%s: no test covers it and it names no later work", c.ID)
	}
	if c.Awaits != "" && !slices.Contains(awaited, c.Awaits) {
		t.Errorf("%s: awaits %q, want one of %q", c.ID, c.Awaits, awaited)
	}
	for _, name := range c.Tests {
		if !has(all, name) {
			t.Errorf("%s: no test %s", c.ID, name)
		}
	}
}

// casesOf are the ids in a test function's name.
func casesOf(function string) []string {
	m := named.FindStringSubmatch(function)
	if m == nil {
		return nil
	}
	var ids []string
	for _, id := range strings.Split(m[1], "_") {
		if n, err := strconv.Atoi(id[1:]); err == nil && n >= 1 && n <= groups[id[:1]] {
			ids = append(ids, id)
		}
	}
	return ids
}

// writeCases adds tests that are named after a case, and takes out those that
// are gone.
func writeCases(t *testing.T, all map[string]tests) {
	t.Helper()
	list := readCases(t)
	for i, c := range list {
		c.Tests = slices.DeleteFunc(c.Tests, func(name string) bool { return !has(all, name) })
		for pkg, found := range all {
			for _, function := range found.functions {
				if name := pkg + "." + function; slices.Contains(casesOf(function), c.ID) && !slices.Contains(c.Tests, name) {
					c.Tests = append(c.Tests, name)
				}
			}
		}
		slices.Sort(c.Tests)
		list[i].Tests = c.Tests
	}
	var out bytes.Buffer
	out.WriteString("[\n")
	for i, c := range list {
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		separator := ","
		if i == len(list)-1 {
			separator = ""
		}
		fmt.Fprintf(&out, "  %s%s\n", line, separator)
	}
	out.WriteString("]\n")
	if err := os.WriteFile(path.Clean(casesFile), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCasesOfAName(t *testing.T) {
	for _, test := range []struct {
		function string
		want     []string
	}{
		{"TestA1_CleanBuffer", []string{"A1"}},
		{"TestB1_B2_B3_Windows", []string{"B1", "B2", "B3"}},
		{"TestG1", []string{"G1"}},
		{"TestF5_W28_InARace", []string{"F5"}},
		{"TestO99_NoSuchCase", nil},
		{"TestApply", nil},
	} {
		if got := casesOf(test.function); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.function, got, test.want)
		}
	}
}
