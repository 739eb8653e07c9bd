package realtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// rules is ACP's own schema of version 1, as the official SDK ships it.
type rules struct{ compiled map[string]*jsonschema.Schema }

func official(t *testing.T) *rules {
	t.Helper()
	path := filepath.Join(clients(t, "@agentclientprotocol/sdk"), "schema", "v1", "schema.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("acp.json", doc); err != nil {
		t.Fatal(err)
	}
	r := &rules{map[string]*jsonschema.Schema{}}
	for _, def := range []string{
		"SessionNotification", "RequestPermissionRequest", "ReadTextFileRequest", "WriteTextFileRequest", "InitializeRequest", "InitializeResponse",
		"ReadTextFileResponse", "WriteTextFileResponse", "RequestPermissionResponse", "SetSessionModeRequest", "SetSessionConfigOptionRequest", "PromptResponse",
		"NewSessionResponse", "LoadSessionResponse", "SetSessionConfigOptionResponse", "SessionConfigOption", "AvailableCommand",
	} {
		if r.compiled[def], err = c.Compile("acp.json#/$defs/" + def); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// check validates a JSON text against one definition.
func (r *rules) check(def, text string) error {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return r.compiled[def].Validate(value)
}
