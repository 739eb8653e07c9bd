package sallyport_test

import (
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// edges are the allowed imports between our packages, outside tests. Calls go
// cmd, then server or bridge/facade, then bridge, then workspace or plugins.
// A package without a line imports nothing of ours.
var edges = map[string]map[string]string{
	"cmd/sallyport": {
		"bridge":                 "a turn from the terminal",
		"bridge/facade":          "the subcommand acp",
		"bridge/fakeagent":       "the subcommand fake-agent, and the demo's texts",
		"bridge/home":            "the user's configuration and harnesses",
		"bridge/permit":          "modes and policies are flags",
		"bridge/rpc":             "standard input and output as a connection wants them",
		"plugins/decider":        "the bench for their authors, and their journals",
		"plugins/harness":        "agents are named and listed",
		"plugins/rules":          "rules are explained",
		"plugins/harness/doctor": "the subcommand doctor",
		"server":                 "the subcommand serve",
		"server/signin":          "a sign-in that a client starts at a terminal",
		"server/terminal":        "the subcommands run and demo",
		"server/wire":            "what agents prints with --json is what editors get",
		"workspace":              "the place of the user's files",
		"workspace/answers":      "lasting answers are listed and taken back",
		"workspace/config":       "flags change settings",
		"workspace/receipt":      "the subcommand receipt",
		"workspace/turns":        "turns are listed and taken back also where no agent runs",
	},
	"server": {
		"bridge":                 "sessions and turns",
		"bridge/permit":          "the answer to a permission",
		"bridge/rpc":             "the connection to the editor",
		"plugins/harness":        "agents are shown",
		"plugins/harness/doctor": "why an agent is not available",
		"server/conversation":    "the conversation as a document",
		"server/wire":            "the messages of sallyport/*",
		"workspace":              "the editor's documents",
		"workspace/watch":        "what other programs write comes into open documents",
		"workspace/receipt":      "what a turn changed, in words",
		"workspace/text":         "positions and edits",
		"workspace/turns":        "turns are listed and taken back",
	},
	"server/conversation": {"workspace/text": "control characters are made visible"},
	"server/signin": {
		"bridge":         "the agent's program is started by it",
		"bridge/permit":  "it asks nobody",
		"workspace/text": "control characters are made visible",
	},
	"server/terminal": {
		"bridge":            "a turn shown on a terminal",
		"bridge/permit":     "permissions asked on it",
		"bridge/rpc":        "its raw values",
		"workspace":         "documents in memory stand for an editor",
		"workspace/receipt": "what a turn changed",
		"workspace/text":    "edits of these",
		"workspace/turns":   "turns and what an undo did, as pages",
	},
	"server/wire": {
		"bridge":            "what is told of sessions and turns",
		"bridge/permit":     "what is asked and answered",
		"workspace/receipt": "the record of a turn",
		"workspace/turns":   "turns that can be taken back",
	},
	"server/servertest": {
		"bridge":            "the editor's answers to what the bridge asks",
		"bridge/permit":     "answers to permissions",
		"bridge/rpc":        "the editor's end of the connection",
		"server/wire":       "the messages",
		"workspace":         "URIs",
		"workspace/receipt": "the record of a turn",
		"workspace/text":    "the editor's buffers",
		"workspace/turns":   "turns that are listed and taken back",
	},
	"bridge": {
		"bridge/verify":        "the user's checks after a turn",
		"bridge/permit":        "decides permissions",
		"bridge/process":       "runs agents",
		"bridge/quirk":         "what an agent does otherwise",
		"bridge/rpc":           "the connection to the agent",
		"bridge/sandbox":       "the kernel holds agents",
		"plugins/decider":      "a judge of permissions",
		"plugins/harness":      "how to start an agent",
		"plugins/rules":        "a judge of permissions",
		"workspace":            "reads and writes of the agent",
		"workspace/answers":    "what a person answered for good",
		"workspace/checkpoint": "what is held of a project before a turn",
		"workspace/config":     "settings of a session",
		"workspace/disk":       "errors of files, told to the agent",
		"workspace/fence":      "refusals, told to agent and user",
		"workspace/receipt":    "what a turn did",
		"workspace/text":       "control characters are made visible",
		"workspace/turns":      "turns are recorded and taken back",
		"workspace/watch":      "what is written past us comes into open documents while a turn runs",
	},
	"bridge/decide": {
		"bridge/process":   "deciders are process trees",
		"bridge/sandbox":   "inside the kernel's fences",
		"plugins/decider":  "what is started",
		"workspace/config": "which the user has switched on",
		"workspace/disk":   "whether a program was changed since",
		"workspace/fence":  "what the fence is to hold",
	},
	"bridge/facade": {
		"bridge":            "sessions and turns",
		"bridge/permit":     "cards and the client's answers",
		"bridge/rpc":        "the connection to the client",
		"workspace":         "the client's documents",
		"workspace/receipt": "a receipt as a page",
		"workspace/text":    "edits of the client's texts",
		"workspace/turns":   "turns are listed and taken back",
	},
	"bridge/sandbox": {
		"bridge/process":  "what runs in a fence is a process tree",
		"workspace/fence": "what the fence is to hold",
	},
	"bridge/permit": {
		"bridge/rpc":      "raw members of a request",
		"workspace":       "paths of URIs",
		"workspace/fence": "the first judge",
		"workspace/text":  "control characters are made visible",
	},
	"bridge/quirk": {"bridge/rpc": "raw members of a message"},
	"bridge/home": {
		"bridge":                 "fills in where its configuration comes from",
		"bridge/decide":          "deciders are started",
		"bridge/permit":          "policies are settings",
		"bridge/process":         "programs are found",
		"bridge/sandbox":         "agents are held by the kernel",
		"plugins/harness":        "manifests are loaded",
		"plugins/harness/doctor": "and examined",
		"workspace/answers":      "where lasting answers are kept",
		"workspace/checkpoint":   "how long turns are kept",
		"workspace/config":       "settings",
		"workspace/fence":        "rules of the settings",
		"workspace/turns":        "the record of turns is opened",
	},
	"bridge/verify": {
		"bridge/process":    "checks are run and ended as trees",
		"plugins/harness":   "command lines are split in one way",
		"workspace/config":  "the user's checks",
		"workspace/receipt": "their verdicts",
	},
	"bridge/bridgetest": {
		"bridge/fakeagent": "the test binary is the scripted agent",
		"bridge/process":   "and the guard of a process tree",
	},
	"plugins/harness/doctor": {"plugins/harness": "what is examined"},
	"examples/team-rules":    {"plugins/rules": "command lines are read in one place"},
	"workspace": {
		"workspace/disk":  "closed files",
		"workspace/fence": "every access",
		"workspace/text":  "open documents",
	},
	"workspace/answers": {
		"workspace/checkpoint/pack": "a lock that survives crashes, and small files written whole",
		"workspace/disk":            "whether a file was changed since",
	},
	"workspace/checkpoint": {
		"workspace/checkpoint/ignore": "what a .gitignore names",
		"workspace/checkpoint/pack":   "contents and trees",
		"workspace/disk":              "a restored file keeps owner and attributes as a written one does",
		"workspace/fence":             "folders that stand only while an agent is fenced off",
	},
	"workspace/receipt": {
		"workspace/checkpoint/pack": "a lock that survives crashes, and small files written whole",
		"workspace/text":            "control characters are made visible",
	},
	"workspace/disk": {
		"workspace/fence": "files are opened through it",
		"workspace/text":  "line endings and windows",
	},
	"workspace/fence": {"workspace/text": "control characters are made visible"},
	"workspace/turns": {
		"workspace":                 "open documents go back through the editor",
		"workspace/checkpoint":      "trees before and after",
		"workspace/checkpoint/pack": "locks, and files that are whole or absent",
		"workspace/receipt":         "the record",
		"workspace/text":            "differences and hashes",
	},
	"workspace/workspacetest": {
		"workspace":      "an editor for tests",
		"workspace/text": "its buffers",
	},
}

// forTests are the packages that only tests import.
var forTests = []string{"server/servertest", "bridge/bridgetest", "plugins/decider/decidertest", "workspace/workspacetest", "workspace/checkpoint/checkpointtest"}

// borders are modules that stop at a folder: packages elsewhere do not import
// them, tests do not either.
var borders = map[string][]string{
	"go.lsp.dev/protocol":                    {"server"},                                                         // LSP types stop at server
	"go.lsp.dev/jsonrpc2":                    {"bridge/rpc", "server"},                                           // one loop for both sides
	"github.com/coder/acp-go-sdk":            {"bridge"},                                                         // ACP types stop at bridge
	"github.com/modelcontextprotocol/go-sdk": {"plugins", "bridge"},                                              // MCP servers come from packages
	"github.com/fsnotify/fsnotify":           {"workspace", "plugins"},                                           // watching
	"github.com/landlock-lsm/go-landlock":    {"bridge/sandbox"},                                                 // the kernel's fences are set up in one place
	"mvdan.cc/sh/v3":                         {"plugins/rules"},                                                  // command lines are read in one place
	"golang.org/x/term":                      {"cmd/sallyport", "server/signin", "server/terminal"},              // the terminal is an editor's side
	"encoding/json":                          {"bridge/fakeagent", "bridge/quirk", "server", "workspace/config"}, // only where a library demands it
}

// imports parses the imports of a package's files, all systems' files alike.
func imports(t *testing.T, files []string, tests bool) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") != tests {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range tree.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			out[name] = f
		}
	}
	return out
}

func TestImportDirection(t *testing.T) {
	used := map[string]bool{}
	all := packages(t)
	for _, pkg := range slices.Sorted(maps.Keys(all)) {
		for name, file := range imports(t, all[pkg], false) {
			to, ours := strings.CutPrefix(name, "sallyport/")
			if !ours {
				continue
			}
			used[pkg+" "+to] = true
			if _, ok := edges[pkg][to]; !ok {
				t.Errorf("%s: %s may not import %s; a new edge is a design change: see STYLE on shape, and edges here", file, pkg, to)
			}
			if slices.Contains(forTests, to) {
				t.Errorf("%s: %s is for tests only", file, to)
			}
		}
	}
	for from, list := range edges {
		for to, reason := range list {
			if !used[from+" "+to] {
				t.Errorf("edges: %s no longer imports %s (%s): take the line out", from, to, reason)
			}
		}
	}
}

func TestBorders(t *testing.T) {
	for pkg, files := range packages(t) {
		for _, tests := range []bool{false, true} {
			for name, file := range imports(t, files, tests) {
				for module, folders := range borders {
					if name != module && !strings.HasPrefix(name, module+"/") {
						continue
					}
					if tests && module == "encoding/json" { // tests may look at our JSON with other eyes
						continue
					}
					if tests && pkg == "server/bench" { // rivals are measured there
						continue
					}
					if !slices.ContainsFunc(folders, func(f string) bool { return pkg == f || strings.HasPrefix(pkg, f+"/") }) {
						t.Errorf("%s: %s stays within %v", file, module, folders)
					}
				}
			}
		}
	}
}

func TestNamesOfPackages(t *testing.T) {
	for pkg := range packages(t) {
		switch name := path.Base(pkg); name {
		case "util", "utils", "common", "helpers", "helper", "manager", "base", "misc", "shared":
			t.Errorf("%s: a package is named for what it has, not %s", pkg, name)
		}
	}
}
