package fence

// The built-in lists. Each entry has the form of Rules.Reserved. The lists are functions, so that nobody can change them.

// builtinReserved are names that act later: on the next git command, when an editor or shell enters the folder, when an
// agent starts. They are guarded whether present or not.
func builtinReserved() []string {
	return []string{
		".git", ".gitmodules", ".hg", ".svn", ".jj", ".bzr",
		".sallyport*",
		// editors: tasks, settings and project-local start-up files
		".vscode", "*.code-workspace", ".devcontainer", ".devcontainer.json", ".idea", ".vs", ".fleet", ".zed",
		".nvim", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc", ".lvimrc", ".vim", ".lazy.lua", ".neoconf.json",
		".helix", ".kakrc", ".dir-locals.el", ".dir-locals-2.el", "*.sublime-project",
		// the shell, on entering the folder
		".envrc", ".direnv",
		// agents: settings, hooks, tool servers
		".claude", ".claude.json", ".gemini", ".codex", ".qwen", ".opencode", "opencode.json", "opencode.jsonc",
		".cursor", ".mcp.json", ".goose", ".agents", ".aider.conf.yml", ".continue", ".cline", ".roo", ".windsurf",
		".kiro", ".crush", ".crush.json", "crush.json", ".amp", ".copilot",
	}
}

// ciReserved is what Rules.CI adds.
func ciReserved() []string {
	return []string{
		".github/workflows", ".github/actions", ".gitlab-ci.yml", ".gitlab/ci", ".circleci", ".travis.yml", "jenkinsfile",
		"azure-pipelines.yml", ".azure-pipelines", ".buildkite", ".drone.yml", ".woodpecker", ".woodpecker.yml",
		".woodpecker.yaml", "bitbucket-pipelines.yml", ".forgejo/workflows", ".gitea/workflows", ".cirrus.yml",
		"appveyor.yml", ".appveyor.yml", ".husky", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml",
	}
}

// DefaultUnreadable is what Rules.Unreadable means when it is nil: environment files, keys, stored credentials.
func DefaultUnreadable() []string {
	return []string{
		".env", ".env.*", ".envrc",
		"!.env.example", "!.env.sample", "!.env.template", "!.env.dist", "!.env.defaults",
		"*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk",
		".netrc", "_netrc", "~/.npmrc", ".pypirc", ".pgpass", ".my.cnf", ".git-credentials", ".htpasswd", ".vault-token",
		".aws/credentials", ".aws/sso", ".azure/*token*", ".azure/*secret*",
		"gcloud/credentials.db", "gcloud/access_tokens.db", "gcloud/legacy_credentials",
		"application_default_credentials.json",
		".kube/config", ".docker/config.json", "gh/hosts.yml", "glab-cli/config.yml",
		".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".terraform.d/credentials.tfrc.json",
		// agents' own sign-in
		".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".qwen/oauth_creds.json",
		"opencode/auth.json",
	}
}

// alwaysUnreadable are the private keys of the user. No setting opens them.
func alwaysUnreadable() []string {
	return []string{
		".gnupg",
		".ssh/*", "!.ssh/*.pub", "!.ssh/known_hosts", "!.ssh/known_hosts.old", "!.ssh/config", "!.ssh/authorized_keys",
	}
}
