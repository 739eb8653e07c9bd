package bridgetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Agent is a real agent. Its fields are not to be changed.
type Agent struct {
	ID      string   // of the harness
	Program string   // its name on PATH
	Package string   // npm package
	Version string   // the one that is pinned
	Args    []string // have it speak ACP

	entry string                             // the program, below its package
	env   func(url string) map[string]string // points it at the model
	files func(url string) map[string]string // the same, below HOME
}

// Agents are the real agents, as testdata/realagents/agents.mjs has them.
func Agents() []Agent {
	return []Agent{
		{ID: "opencode", Program: "opencode", Package: "opencode-linux-x64", Version: "1.18.33", Args: []string{"acp"}, entry: "bin/opencode",
			env: fixed("OPENCODE_DISABLE_AUTOUPDATE", "1", "OPENCODE_DISABLE_MODELS_FETCH", "1", "OPENCODE_DISABLE_LSP_DOWNLOAD", "1"), files: opencodeFiles},
		{ID: "gemini", Program: "gemini", Package: "@google/gemini-cli", Version: "0.61.0", Args: []string{"--acp"}, entry: "bundle/gemini.js",
			env: func(url string) map[string]string {
				return map[string]string{"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_MODEL": "gemini-2.5-pro"}
			}, files: geminiFiles},
		{ID: "codex", Program: "codex-acp", Package: "@agentclientprotocol/codex-acp", Version: "2.6.0", entry: "dist/index.js",
			env: fixed("FAKE_KEY", "none", "NO_BROWSER", "1", "MODEL_PROVIDER", "fake"), files: codexFiles},
		{ID: "codex-zed", Program: "codex-acp", Package: "@zed-industries/codex-acp", Version: "0.16.0", entry: "bin/codex-acp.js",
			env: fixed("FAKE_KEY", "none", "NO_BROWSER", "1"), files: codexFiles},
		{ID: "qwen", Program: "qwen", Package: "@qwen-code/qwen-code", Version: "0.15.10", Args: []string{"--acp"}, entry: "cli.js",
			env: func(url string) map[string]string {
				return map[string]string{"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url + "/v1", "OPENAI_MODEL": "fake-model"}
			}, files: qwenFiles},
		{ID: "claude", Program: "claude-agent-acp", Package: "@agentclientprotocol/claude-agent-acp", Version: "0.49.0", entry: "dist/index.js",
			env: func(url string) map[string]string {
				return map[string]string{"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1"}
			}, files: func(string) map[string]string { return nil }},
	}
}

// RealAgent is the agent of a harness. A missing one skips the test, see
// Missing.
func RealAgent(t testing.TB, id string) Agent {
	t.Helper()
	agents := Agents()
	i := slices.IndexFunc(agents, func(a Agent) bool { return a.ID == id })
	if i < 0 {
		t.Fatalf("no real agent is called %s", id)
	}
	if _, err := exec.LookPath("node"); err != nil {
		Missing(t, "node", "install Node.js 20 or newer")
	}
	if _, err := os.Stat(agents[i].path(t)); err != nil {
		Missing(t, id, "testdata/peers/agents.sh")
	}
	return agents[i]
}

// path is the agent's program below the folder of peers.
func (a Agent) path(t testing.TB) string {
	return filepath.Join(Peers(t), "agents", "node_modules", filepath.FromSlash(a.Package), filepath.FromSlash(a.entry))
}

// Install puts the agent on the place's PATH, its files below HOME, and what
// it needs of its environment into the user's configuration of sallyport. It
// returns the place's environment. Several agents can share a place, except
// the two adapters of Codex, whose programs have one name.
func (a Agent) Install(t testing.TB, p Place, modelURL string) []string {
	t.Helper()
	if err := os.Symlink(a.path(t), filepath.Join(p.Bin, a.Program)); err != nil {
		t.Fatal(err)
	}
	for name, text := range a.files(modelURL) {
		p.Write(t, "home/"+name, text)
	}
	configure(t, p, a.ID, a.env(modelURL))
	return p.Environ()
}

// Environ is what points the agent itself at the model, for tests that start
// it without sallyport.
func (a Agent) Environ(modelURL string) []string {
	var all []string
	for name, value := range a.env(modelURL) {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return all
}

// configure adds an agent's environment to the place's configuration.
func configure(t testing.TB, p Place, id string, env map[string]string) {
	t.Helper()
	const name = "home/.config/sallyport/config.json"
	config := map[string]any{}
	if data, err := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(name))); err == nil {
		if err := json.Unmarshal(data, &config); err != nil {
			t.Fatal(err)
		}
	}
	agents, _ := config["agents"].(map[string]any)
	if agents == nil {
		agents = map[string]any{}
	}
	agents[id] = map[string]any{"env": env}
	config["agents"] = agents
	p.Write(t, name, text(config))
}

// fixed is an environment that does not depend on the model.
func fixed(pairs ...string) func(string) map[string]string {
	return func(string) map[string]string {
		env := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			env[pairs[i]] = pairs[i+1]
		}
		return env
	}
}

// tree is a JSON object.
type tree = map[string]any

// text is a tree as JSON.
func text(v tree) string {
	data, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err.Error() // maps and strings only: cannot be
	}
	return string(data)
}

func opencodeFiles(url string) map[string]string {
	model := func(name string) tree {
		return tree{"name": name, "tool_call": true, "limit": tree{"context": 100000, "output": 8000}}
	}
	return map[string]string{".config/opencode/opencode.json": text(tree{
		"autoupdate": false, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model",
		"provider": tree{"fake": tree{
			"npm": "@ai-sdk/openai-compatible", "name": "Fake",
			"options": tree{"baseURL": url + "/v1", "apiKey": "none"},
			"models":  tree{"fake-model": model("Fake"), "fake-two": model("Fake two")},
		}},
	})}
}

func geminiFiles(string) map[string]string {
	return map[string]string{".gemini/settings.json": text(tree{
		"security": tree{"auth": tree{"selectedType": "gemini-api-key"}, "folderTrust": tree{"enabled": false}},
		"privacy":  tree{"usageStatisticsEnabled": false}, "telemetry": tree{"enabled": false},
		"general": tree{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
	})}
}

func qwenFiles(string) map[string]string {
	return map[string]string{".qwen/settings.json": text(tree{
		"security": tree{"auth": tree{"selectedType": "openai"}},
		"privacy":  tree{"usageStatisticsEnabled": false}, "telemetry": tree{"enabled": false},
		"general": tree{"enableAutoUpdate": false},
	})}
}

// codexFiles names a model that Codex knows: for others it offers no tool to
// edit with. The requests go to url all the same.
func codexFiles(url string) map[string]string {
	return map[string]string{".codex/config.toml": `model = "gpt-5.5"
model_provider = "fake"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "Fake"
base_url = "` + url + `/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
`}
}
