package receipt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// planted are what must never be in a receipt, wherever an agent puts it.
var planted = []string{"PLANTED-SECRET-VALUE", "PLANTED-PROMPT-TEXT", "PLANTED-FILE-CONTENT"}

// An agent puts secrets, the prompt and contents wherever it can say something. Titles have no field at all.
func TestPlantedSecretsAreNotRecorded(t *testing.T) {
	l := newLog(t)
	secret, prompt, content := planted[0], planted[1], planted[2]
	texts := []string{
		"curl -H 'Authorization: Bearer " + secret + "' https://x.org",
		"TOKEN=" + secret + " ./run", "./run --api-key " + secret, "https://x.org/?q=" + content, "https://me:" + secret + "@x.org/",
		"cat >f <<EOF\n" + content + "\nEOF", "claude -p \\\n  '" + prompt + "'",
	}
	r := sample("t1")
	r.Did.Permissions, r.Did.Refusals, r.Did.Alarms, r.Taint = List[Permission]{}, List[Refusal]{}, List[Alarm]{}, nil
	for _, s := range texts {
		r.Did.Permissions.Add(Permission{Asked{Tool: "Bash", Target: s}, Settled{Why: s}}, 0)
		r.Did.Refusals.Add(Refusal{Why: s}, 0)
		r.Did.Alarms.Add(Alarm{Text: s}, 0)
		r.Taint = append(r.Taint, Taint{Source: s})
		r.Verifier = append(r.Verifier, Verdict{Outcome: NotRun, Why: s})
	}
	r.Held.Environment = []string{"TOKEN=" + secret}
	r.End.Error, r.Cover.None, r.Held.Sentence = texts[0], texts[1], texts[2]
	r.Held.Changes[0].Sentence = texts[3]
	if err := l.Append(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(l.Dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		for _, p := range planted {
			if strings.Contains(string(data), p) {
				t.Errorf("%s holds %s", name, p)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	r.Print(&out, PrintOptions{Width: 4000})
	for _, p := range planted {
		if strings.Contains(out.String(), p) {
			t.Errorf("it is printed: %s", p)
		}
	}
}

func TestBounds(t *testing.T) {
	long := strings.Repeat("日", 2000)
	r := sample("t1")
	for i := range 24_000 {
		by := BySilent
		if i >= 20_000 {
			by = ByUser
		}
		r.Did.Changes.Add(Change{project, fmt.Sprintf("d/%06d", i), Added, by, State{Kind: "absent"}, State{Kind: "file", Hash: sum(nil)}, false}, 0)
		r.Did.Permissions.Add(Permission{Asked{Tool: "Bash", Target: long}, Settled{Why: long}}, 0)
		r.Taint = append(r.Taint, Taint{Source: long})
	}
	r.Did.Changes.Add(Change{Root: project, Path: strings.Repeat("x", 10<<20), By: ByUser}, 0)
	l := newLog(t)
	if err := l.Append(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	got, err := l.Find(project, "t1")
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(got)
	if err != nil || len(line) > maxLine {
		t.Errorf("the line has %d bytes, %v", len(line), err)
	}
	users := 0
	for i, c := range got.Did.Changes.List {
		if c.By == ByUser {
			users++
		}
		if i > 0 && got.Did.Changes.List[i-1].Path >= c.Path {
			t.Fatalf("%s stands before %s", got.Did.Changes.List[i-1].Path, c.Path)
		}
	}
	if got.Did.Changes.Total != 24_003 || users != 4_000 || got.Did.Changes.Cut() != 24_003-len(got.Did.Changes.List) {
		t.Errorf("%d changes of %d, %d of the user", len(got.Did.Changes.List), got.Did.Changes.Total, users)
	}
	p := got.Did.Permissions
	if p.Total != 24_002 || len(p.List) < 100 || len(p.List[5].Target) > 1024 || !utf8.ValidString(p.List[5].Target) {
		t.Errorf("%d permissions of %d", len(p.List), p.Total)
	}
	if len(got.Taint) != maxFew {
		t.Errorf("%d taints", len(got.Taint))
	}
}

func TestList(t *testing.T) {
	var l List[int]
	for i := range 5 {
		l.Add(i, 3)
	}
	if l.Total != 5 || len(l.List) != 3 || l.Cut() != 2 || ListOf([]int{1}).Total != 1 {
		t.Errorf("got %+v", l)
	}
}
