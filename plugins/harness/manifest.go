package harness

// FileName is the name of a manifest, at the root of its plugin.
const FileName = "escouade-plugin.json"

// FormatURL is the $schema of the one format that is read.
const FormatURL = "https://escouade.dev/schemas/plugin-1.json"

// Manifest is one escouade-plugin.json: who made it, and the harnesses that
// it describes. What was wrong with it has been taken out.
type Manifest struct {
	Plugin      `json:",embed"`
	Contributes Contributes `json:"contributes"`
}

// Plugin is what a manifest says about itself.
type Plugin struct {
	Format      string `json:"$schema"`
	ID          string `json:"id"` // reverse domain, no colon
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description Text   `json:"description,omitempty"`
	Author      Author `json:"author,omitzero"`
	Source      Source `json:",embed"`
	Escouade    Host   `json:"escouade"`
}

// Author is who made a plugin.
type Author struct {
	Name string `json:"name,omitzero"`
	URL  string `json:"url,omitzero"`
}

// Source is where a plugin comes from and on which terms.
type Source struct {
	License    string `json:"license,omitzero"` // SPDX expression
	Repository string `json:"repository,omitzero"`
}

// Host is what a plugin was made for. API is "1". Min is about Escouade, not
// about Sallyport, and refuses nothing here.
type Host struct {
	API string `json:"api"`
	Min string `json:"min,omitzero"`
}

// Contributes is what a plugin adds.
type Contributes struct {
	Harnesses []*Harness `json:"harnesses,omitempty"`
}

// Origin says who gave a harness, and so what is believed of it.
type Origin string

// The origins. Only a user's harness has a path or a command line; only a
// built-in one is believed about fenceOnPermissions and self.
const (
	Builtin   Origin = "built-in"
	Installed Origin = "installed"
	User      Origin = "user"
)
