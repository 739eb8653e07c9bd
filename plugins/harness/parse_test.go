package harness

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// good is a whole manifest with one harness; tests put other text in it.
const good = `{
  "$schema": "https://escouade.dev/schemas/plugin-1.json",
  "id": "org.example.probe",
  "name": "Probe",
  "version": "1.0.0",
  "escouade": { "api": "1" },
  "contributes": { "harnesses": [
    { "id": "probe", "name": "Probe",
      "locate": { "names": ["probe"] },
      "caps": { "modes": ["default"] },
      "acp": { "args": ["acp"] } }
  ] }
}
`

func goose(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/goose.escouade-plugin.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestGooseLoadsUnchanged: the manifest that its author published gives
// everything that it says, and nothing is wrong with it (H005 to H041).
func TestGooseLoadsUnchanged(t *testing.T) {
	m, problems, err := Parse("goose/"+FileName, goose(t))
	if err != nil || len(problems) > 0 {
		t.Fatalf("Parse: %v, problems %v", err, problems)
	}
	if m.ID != "dev.escouade.goose" || m.Version != "1.0.0" || m.Author.Name != "Escouade" || m.Source.License != "MIT" || m.Escouade != (Host{"1", "2.1.0"}) {
		t.Errorf("plugin = %+v", m.Plugin)
	}
	if got := m.Description.In("fr-CA"); !strings.HasPrefix(got, "Goose, l'agent open source") {
		t.Errorf("description in fr-CA = %q", got)
	}
	h := m.Contributes.Harnesses[0]
	want := Harness{
		Identity: Identity{ID: "goose", Name: "Goose", Speaker: "Goose", Writer: "Goose",
			From: From{Origin: Installed, Plugin: "dev.escouade.goose", Version: "1.0.0", File: "goose/" + FileName}},
		Program: ProgramSpec{Locate: Locate{Names: []string{"goose"}}, VersionArgs: []string{"--version"},
			Tested: Tested{"1.57.0", "1.57.0"}, AccountVar: "GOOSE_PATH_ROOT"},
		Install: InstallSpec{Update: "goose update", Lines: Lines{
			Windows: "Invoke-WebRequest -Uri https://raw.githubusercontent.com/aaif-goose/goose/main/download_cli.ps1 -OutFile download_cli.ps1; ./download_cli.ps1",
			Unix:    "curl -fsSL https://github.com/aaif-goose/goose/releases/download/stable/download_cli.sh | CONFIGURE=false bash"}},
		Caps: Caps{ReadOnly: true, Modes: []Mode{
			{"default", Text{
				"fr": "Goose demande avant chaque outil (son mode approve). Il écrit les fichiers lui-même, sans les faire passer par Escouade.",
				"en": "Goose asks before each tool (its approve mode). It writes files by itself, without passing them through Escouade."}},
			{"acceptEdits", Text{
				"fr": "Goose ne demande que pour ce qu'il juge sensible (son mode smart_approve) ; Escouade accepte ses écritures dans le dossier de l'agent.",
				"en": "Goose asks only for what it deems sensitive (its smart_approve mode); Escouade accepts its writes in the agent's folder."}},
			{"bypassPermissions", Text{
				"fr": "Goose ne demande rien (son mode auto) : commandes, fichiers, tout le disque. Pas de bac à sable.",
				"en": "Goose asks nothing (its auto mode): commands, files, the whole disk. No sandbox."}},
		}},
		ACP: ACP{Args: []string{"acp"}, QuestionsInText: true,
			Switches: Switches{ReadOnlyMode: "chat", ModelOption: "model",
				Modes: map[string]string{"default": "approve", "acceptEdits": "smart_approve", "bypassPermissions": "auto"}},
			Tools: ToolNames{Names: map[string]string{"shell": "Bash", "write": "Write", "edit": "Edit", "text_editor": "Edit", "read": "Read", "tree": "Glob"}}},
	}
	if diff := cmp.Diff(want, *h); diff != "" {
		t.Errorf("harness differs (-want +got):\n%s", diff)
	}
	if got, want := h.Global(), "plugin:dev.escouade.goose:goose"; got != want {
		t.Errorf("Global() = %q, want %q", got, want)
	}
	if got, want := h.CommandLine(), "goose acp"; got != want { // H061
		t.Errorf("CommandLine() = %q, want %q", got, want)
	}
}

// TestDefaults: what a manifest leaves out (H015, H020, H031).
func TestDefaults(t *testing.T) {
	m, problems, err := Parse("p", []byte(good))
	if err != nil || len(problems) > 0 {
		t.Fatalf("Parse: %v, problems %v", err, problems)
	}
	h := m.Contributes.Harnesses[0]
	if !h.ACP.FS || !slices.Equal(h.Program.VersionArgs, []string{"--version"}) || h.Speaker != "Probe" || h.Writer != "Probe" {
		t.Errorf("defaults: fs %v, versionArgs %q, speaker %q, writer %q", h.ACP.FS, h.Program.VersionArgs, h.Speaker, h.Writer)
	}
	if h.Caps.Images || h.Caps.PDF || h.Caps.ReadOnly || h.ACP.QuestionsInText || h.ACP.FenceOnPermissions {
		t.Errorf("what was not said is claimed: %+v %+v", h.Caps, h.ACP)
	}
}

// TestBadManifests: for each fault the one problem, with its place and remedy,
// and what it costs.
func TestBadManifests(t *testing.T) {
	type want struct {
		line        int
		field, code string
		remedy      string
		consequence Consequence
	}
	for _, tc := range []struct {
		name     string
		old, new string // replaced in good
		want     want
	}{
		{"unknown top-level field", `"name": "Probe",
  "v`, `"licence": "MIT", "name": "Probe",
  "v`, want{4, "/licence", "unknown-field", `did you mean "license"?`, Ignored}},
		{"key in another case", `"version": "1.0.0",`, `"version": "1.0.0", "Version": "2",`, want{5, "/Version", "unknown-field", `did you mean "version"?`, Ignored}},
		{"wrong optional type", `"version": "1.0.0"`, `"version": 1`, want{5, "/version", "wrong-type", `write text, for example "1.0.0"`, Ignored}},
		{"null", `"version": "1.0.0"`, `"version": null`, want{5, "/version", "wrong-type", `write text, for example "1.0.0"`, Ignored}},
		{"no version", "  \"version\": \"1.0.0\",\n", "", want{1, "/version", "missing-field", `add "version": "1.0.0"`, Ignored}},
		{"no id", "  \"id\": \"org.example.probe\",\n", "", want{1, "/id", "missing-field", `add "id": "dev.escouade.goose"`, Refused}},
		{"id with a colon", `org.example.probe`, `org.example:probe`, want{3, "/id", "wrong-form", `write a reverse domain in lower case, without colon, for example "dev.escouade.goose"`, Refused}},
		{"id of one label", `org.example.probe`, `probe`, want{3, "/id", "wrong-form", `write a reverse domain in lower case, without colon, for example "dev.escouade.goose"`, Refused}},
		{"another format", `plugin-1.json`, `plugin-2.json`, want{2, "/$schema", "wrong-value", `write "https://escouade.dev/schemas/plugin-1.json"`, Refused}},
		{"no format", `  "$schema": "https://escouade.dev/schemas/plugin-1.json",` + "\n", "", want{1, "/$schema", "missing-field", `add "$schema": "https://escouade.dev/schemas/plugin-1.json"`, Ignored}},
		{"another protocol", `"api": "1"`, `"api": "2"`, want{6, "/escouade/api", "wrong-value", `write "1"`, Refused}},
		{"protocol as a number", `"api": "1"`, `"api": 1`, want{6, "/escouade/api", "wrong-value", `write "1"`, Refused}},
		{"newer host", `"api": "1"`, `"api": "1", "min": "3.0.0"`, want{6, "/escouade/min", "newer-host", "check that the harness works; what is not known here is ignored", Kept}},
		{"unknown contribution", `"contributes": {`, `"contributes": { "themes": [],`, want{7, "/contributes/themes", "unknown-field", "remove it", Ignored}},
		{"harnesses not a list", `"contributes": { "harnesses": [`, `"contributes": { "harnesses": 1, "x": [`, want{7, "/contributes/harnesses", "wrong-type", "write an array", Refused}},
		{"harness not an object", `"harnesses": [`, `"harnesses": [ 7,`, want{7, "/contributes/harnesses/0", "wrong-type", "write an object", Skipped}},
		{"harness without acp", `"harnesses": [`, `"harnesses": [ {"id": "x", "name": "X"},`, want{7, "/contributes/harnesses/0", "not-described", "describe it with an acp object, if it speaks ACP", Skipped}},
		{"harness twice", `"harnesses": [`, `"harnesses": [ {"id": "probe", "name": "X", "locate": {"names": ["x"]}, "acp": {}},`, want{8, "/contributes/harnesses/1/id", "duplicate-id", "give this one another id", Skipped}},
		{"harness id with a colon", `"id": "probe"`, `"id": "a:b"`, want{8, "/contributes/harnesses/0/id", "wrong-form", `use letters, digits, dots and hyphens, without colon, for example "goose"`, Skipped}},
		{"unknown field of acp", `"args": ["acp"]`, `"arg": ["acp"]`, want{11, "/contributes/harnesses/0/acp/arg", "unknown-field", `did you mean "args"?`, Ignored}},
		{"args as text", `"args": ["acp"]`, `"args": "acp"`, want{11, "/contributes/harnesses/0/acp/args", "wrong-type", `write an array, for example ["acp"]`, Skipped}},
		{"fs as text", `"args": ["acp"]`, `"fs": "no"`, want{11, "/contributes/harnesses/0/acp/fs", "wrong-type", `write true or false`, Skipped}},
		{"program with a path", `["probe"]`, `["/usr/bin/probe"]`, want{9, "/contributes/harnesses/0/locate/names/0", "wrong-form", bareName, Skipped}},
		{"program in the folder", `["probe"]`, `["./probe"]`, want{9, "/contributes/harnesses/0/locate/names/0", "wrong-form", bareName, Skipped}},
		{"program above", `["probe"]`, `[".."]`, want{9, "/contributes/harnesses/0/locate/names/0", "wrong-form", bareName, Skipped}},
		{"program on a drive", `["probe"]`, `["C:probe"]`, want{9, "/contributes/harnesses/0/locate/names/0", "wrong-form", bareName, Skipped}},
		{"program with backslash", `["probe"]`, `["bin\\probe"]`, want{9, "/contributes/harnesses/0/locate/names/0", "wrong-form", bareName, Skipped}},
		{"second program wrong", `["probe"]`, `["probe", ""]`, want{9, "/contributes/harnesses/0/locate/names/1", "wrong-form", bareName, Skipped}},
		{"no programs", `["probe"]`, `[]`, want{9, "/contributes/harnesses/0/locate/names", "empty", `fill it in, for example ["goose"]`, Skipped}},
		{"interpreter", `["probe"]`, `["bash"]`, want{9, "/contributes/harnesses/0/locate/names/0", "interpreter", "check the arguments before you use it", Kept}},
		{"secret by name", `"args"`, `"env": {"FOO_API_KEY": "abc"}, "args"`, want{11, "/contributes/harnesses/0/acp/env/FOO_API_KEY", "secret",
			`remove it, and name it in x-sallyport.passEnv: ["FOO_API_KEY"] so that the user's own value is passed on`, Ignored}},
		{"secret by value", `"args"`, `"env": {"FOO": "ghp_abc"}, "args"`, want{11, "/contributes/harnesses/0/acp/env/FOO", "secret",
			`remove it, and name it in x-sallyport.passEnv: ["FOO"] so that the user's own value is passed on`, Ignored}},
		{"variable that loads code", `"args"`, `"env": {"LD_PRELOAD": "x.so"}, "args"`, want{11, "/contributes/harnesses/0/acp/env/LD_PRELOAD", "unsafe-variable",
			"remove it; set it in your own configuration if you want it", Skipped}},
		{"variable in lower case", `"args"`, `"env": {"Path": "x"}, "args"`, want{11, "/contributes/harnesses/0/acp/env/Path", "unsafe-variable",
			"remove it; set it in your own configuration if you want it", Skipped}},
		{"no variable name", `"args"`, `"env": {"A=B": "x"}, "args"`, want{11, "/contributes/harnesses/0/acp/env/A=B", "unknown-field", "name a variable with letters, digits and underscores", Ignored}},
		{"mode that is not offered", `"args"`, `"modes": {"defualt": "ask"}, "args"`, want{11, "/contributes/harnesses/0/acp/modes/defualt", "unknown-mode", `did you mean "default"?`, Kept}},
		{"mode without id", `["default"]`, `["default", {"meaning": "x"}]`, want{10, "/contributes/harnesses/0/caps/modes/1/id", "missing-field", `add "id": "default"`, Skipped}},
		{"meaning by no language", `["default"]`, `["default", {"id": "x", "meaning": {"english": "x", "en": "y"}}]`,
			want{10, "/contributes/harnesses/0/caps/modes/1/meaning/english", "unknown-field", `key the texts by language, for example "en" or "fr"`, Ignored}},
		{"ability that is no bool", `"caps": {`, `"caps": { "audio": 1,`, want{10, "/contributes/harnesses/0/caps/audio", "wrong-type", "write true or false, for example true", Skipped}},
		{"range upside down", `"caps"`, `"tested": {"oldest": "2.0.0", "newest": "1.0.0"}, "caps"`, want{10, "/contributes/harnesses/0/tested", "wrong-range", "exchange them", Ignored}},
		{"half a range", `"caps"`, `"tested": {"oldest": "2.0.0"}, "caps"`, want{10, "/contributes/harnesses/0/tested/newest", "missing-field", `add "newest"`, Skipped}},
		{"fence claimed", `"args"`, `"fenceOnPermissions": true, "args"`, want{11, "/contributes/harnesses/0/acp/fenceOnPermissions", "not-believed", "remove it", Ignored}},
		{"self claimed", `"acp": {`, `"x-sallyport": {"self": true}, "acp": {`, want{11, "/contributes/harnesses/0/x-sallyport/self", "not-believed", "remove it, and name a program in locate.names", Skipped}},
		{"unknown quirk", `"acp": {`, `"x-sallyport": {"quirks": ["write-eco"]}, "acp": {`, want{11, "/contributes/harnesses/0/x-sallyport/quirks/0", "unknown-quirk", `did you mean "write-echo"?`, Ignored}},
		{"unknown extension", `"args"`, `"extensions": ["vim"], "args"`, want{11, "/contributes/harnesses/0/acp/extensions/0", "unknown-extension", `remove it; "cursor" is known`, Ignored}},
		{"escape in an install line", `"caps"`, `"install": {"unix": "true \u001b[2K"}, "caps"`, want{10, "/contributes/harnesses/0/install/unix", "hidden-text", "write plain text", Skipped}},
		{"line end in an install line", `"caps"`, `"install": {"unix": "true\nrm x"}, "caps"`, want{10, "/contributes/harnesses/0/install/unix", "hidden-text", "write plain text", Skipped}},
		{"turned text in a name", `"id": "probe", "name": "Probe"`, `"id": "probe", "name": "a\u202eb"`, want{8, "/contributes/harnesses/0/name", "hidden-text", "write plain text", Skipped}},
		{"escape in the plugin's name", "\"name\": \"Probe\",\n  \"v", `"name": "\u001b]0;x\u0007", "v`, want{4, "/name", "hidden-text", "write plain text", Ignored}},
		{"field twice", `"version": "1.0.0",`, `"version": "1.0.0", "version": "2.0.0",`, want{5, "", "duplicate-field", "keep one of the two", Refused}},
		{"comment", `"version": "1.0.0",`, `"version": "1.0.0", // ours`, want{5, "", "syntax", "remove the comment: this format has none", Refused}},
		{"comma at the end", `"args": ["acp"] } }`, `"args": ["acp"] }, }`, want{11, "", "syntax", "remove the comma before it", Refused}},
		{"single quotes", `"version": "1.0.0"`, `'version': "1.0.0"`, want{5, "", "syntax", "use double quotes", Refused}},
		{"cut short", "  ] }\n}\n", "  ]", want{12, "", "syntax", "write the rest of it", Refused}},
		{"two documents", "] }\n}\n", "] }\n}\n{}", want{14, "", "syntax", "remove it", Refused}},
		{"bad UTF-8", `"version": "1.0.0"`, "\"version\": \"1.\xe9\"", want{5, "", "encoding", "save the file as UTF-8", Refused}},
		{"too deep", `"version": "1.0.0"`, `"version": ` + strings.Repeat("[", 40), want{5, "", "too-deep", "remove levels; the format has eight", Refused}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if strings.Count(good, tc.old) != 1 {
				t.Fatalf("%q is %d times in the manifest", tc.old, strings.Count(good, tc.old))
			}
			text := strings.Replace(good, tc.old, tc.new, 1)
			m, problems, err := Parse("dir/p.json", []byte(text))
			if tc.name == "harnesses not a list" { // its replacement needs a second unknown field
				problems = problems[:1]
			}
			if len(problems) != 1 {
				t.Fatalf("problems = %v, want one", problems)
			}
			p := problems[0]
			got := want{p.Line, p.Field, p.Code, p.Remedy, p.Consequence}
			if got != tc.want {
				t.Errorf("problem = %+v\nwant      %+v", got, tc.want)
			}
			if p.File != "dir/p.json" || p.Column < 1 || p.Message == "" || strings.ContainsFunc(p.Message, hidden) {
				t.Errorf("problem = %+v", p)
			}
			if refused := tc.want.consequence == Refused; (err != nil) != refused || (m == nil) != refused {
				t.Fatalf("Parse: manifest %v, error %v; refused should be %v", m != nil, err, refused)
			}
			if m == nil {
				return
			}
			kept := 1
			if tc.want.consequence == Skipped && p.Field != "/contributes/harnesses/0" && p.Code != "duplicate-id" {
				kept = 0
			}
			if got := len(m.Contributes.Harnesses); got != kept {
				t.Errorf("%d harnesses kept, want %d", got, kept)
			}
		})
	}
}

const bareName = "write the program's bare name, without folder, drive or spaces; it is looked up on PATH"

// TestColumns: a column counts characters, and points at the value, or at the
// name of an unknown field.
func TestColumns(t *testing.T) {
	text := strings.Replace(good, `"name": "Probe",
  "v`, `"name": "Prøbe", "licence": 1, "author": {"url": 3},
  "v`, 1)
	_, problems, err := Parse("p", []byte(text))
	if err != nil || len(problems) != 2 {
		t.Fatalf("Parse: %v, problems %v", err, problems)
	}
	if got, want := problems[0].Column, 20; got != want {
		t.Errorf("column of licence = %d, want %d", got, want)
	}
	if got, want := problems[1].Column, 52; got != want {
		t.Errorf("column of author.url = %d, want %d", got, want)
	}
}

// TestNarrow: a broken harness costs its siblings nothing, and each problem is
// told (K8, K9).
func TestNarrow(t *testing.T) {
	text := strings.Replace(good, `"harnesses": [`, `"harnesses": [
    { "id": "bad", "name": "Bad", "locate": { "names": ["/bin/bad"] }, "acp": { "fs": 1 } },`, 1)
	m, problems, err := Parse("p", []byte(text))
	if err != nil || len(m.Contributes.Harnesses) != 1 || m.Contributes.Harnesses[0].ID != "probe" {
		t.Fatalf("Parse: %v, harnesses %v", err, m)
	}
	if len(problems) != 2 || problems[0].Line != 8 || problems[1].Line != 8 {
		t.Errorf("problems = %v, want two on line 8", problems)
	}
}

// TestO2_ByteOrderMark: a manifest with a byte order mark and CRLF loads and
// says so; lines are those that an editor shows; UTF-16 is refused by name.
func TestO2_ByteOrderMark(t *testing.T) {
	text := "\ufeff" + strings.ReplaceAll(strings.Replace(good, `"version": "1.0.0"`, `"version": "1.0.0", "x": 1`, 1), "\n", "\r\n")
	m, problems, err := Parse("p", []byte(text))
	if err != nil || len(m.Contributes.Harnesses) != 1 {
		t.Fatalf("Parse: %v", err)
	}
	if len(problems) != 2 || problems[0].Code != "bom" || !strings.Contains(problems[0].Message, "BOM") || problems[0].Line != 1 || problems[0].Column != 1 {
		t.Errorf("problems = %v, want the BOM first", problems)
	}
	if problems[1].Line != 5 || problems[1].Column != 23 {
		t.Errorf("x at %d:%d, want 5:23", problems[1].Line, problems[1].Column)
	}
	_, problems, err = Parse("p", []byte("\xff\xfe{\x00}\x00"))
	if err == nil || len(problems) != 1 || !strings.Contains(problems[0].Message, "BOM") {
		t.Errorf("UTF-16: error %v, problems %v", err, problems)
	}
}

func TestLimits(t *testing.T) {
	for name, text := range map[string]string{
		"bytes":  strings.Repeat(" ", MaxSize+1),
		"values": `{"x":[` + strings.Repeat("1,", maxValues) + `1]}`,
		"empty":  " \n",
		"text":   `"x"`,
	} {
		m, problems, err := Parse("p", []byte(text))
		if m != nil || err == nil || len(problems) != 1 || problems[0].Consequence != Refused || problems[0].Line < 1 {
			t.Errorf("%s: error %v, problems %v", name, err, problems)
		}
	}
	text := strings.Replace(good, `["probe"]`, `["probe"`+strings.Repeat(`,1`, 150)+`]`, 1)
	if _, problems, _ := Parse("p", []byte(text)); len(problems) != maxProblems+1 || problems[maxProblems].Code != "too-many-problems" {
		t.Errorf("%d problems, want %d", len(problems), maxProblems+1)
	}
}

// TestProblemText: a problem reads as file, place, what, and what to do, and
// cannot draw on the terminal.
func TestProblemText(t *testing.T) {
	text := strings.Replace(good, `"version": "1.0.0"`, `"version": "1.0.0", "\u001b[31m": 1`, 1)
	_, problems, _ := Parse("p.json", []byte(text))
	got := problems[0].String()
	want := `p.json:5:23: /\u001b[31m: warning: the format has no field "\u001b[31m" here (ignored)` + "\nhint: remove it"
	if got != want {
		t.Errorf("String() = %q\nwant       %q", got, want)
	}
}
