package receipt

import (
	"bytes"
	_ "embed"
)

//go:embed schema.json
var schema []byte

// Schema gives the JSON Schema of a receipt, as it is shipped: draft 2020-12, of version Version.
func Schema() []byte { return bytes.Clone(schema) }
