package bridge

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
	"sallyport/workspace/config"
)

// greeting are the params of initialize: our own, or those of a client that speaks
// ACP with what we answer for ourselves. Files are served here whatever the client
// can do; terminals are passed on only where the user says so, and the version is the one that we speak.
func (b *Bridge) greeting(c *config.Config) (jsontext.Value, error) {
	if b.Client == nil {
		return b.ownGreeting()
	}
	able, _ := rpc.Member(b.Client, "clientCapabilities")
	if len(able) == 0 || able[0] != '{' {
		able = []byte("{}")
	}
	files, _ := rpc.Member(able, "fs")
	if len(files) == 0 || files[0] != '{' {
		files = []byte("{}")
	}
	var err error
	set := func(object []byte, name, value string) []byte {
		if err != nil {
			return nil
		}
		object, err = rpc.SetMember(object, name, []byte(value))
		return object
	}
	files = set(set(files, "readTextFile", "true"), "writeTextFile", "true")
	able = set(able, "fs", string(files))
	if !b.passesTerminals(c) {
		able = set(able, "terminal", "false")
	}
	if _, there := rpc.Member(able, "subagents"); there { // what they do would pass by the rules
		able = set(able, "subagents", "null")
	}
	params := set(set(b.Client, "clientCapabilities", string(able)), "protocolVersion", strconv.Itoa(protocolVersion))
	if err != nil {
		return nil, fmt.Errorf("reading the client's initialize: %w", err)
	}
	return params, nil
}

func (b *Bridge) ownGreeting() (jsontext.Value, error) {
	able := map[string]any{
		"fs":       map[string]bool{"readTextFile": true, "writeTextFile": true},
		"terminal": false,
	}
	if _, ok := b.Display.(Elicitor); ok {
		able["elicitation"] = map[string]any{"form": struct{}{}, "url": struct{}{}}
	}
	return json.Marshal(map[string]any{
		"protocolVersion":    protocolVersion,
		"clientInfo":         map[string]string{"name": "sallyport", "title": "Sallyport", "version": b.Home.Version},
		"clientCapabilities": able,
	})
}
