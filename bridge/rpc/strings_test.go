package rpc_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

// Strings are checked a word at a time: what is no plain character is found at
// every place in a word, and across its end, as jsontext finds it.
func TestScan_Strings(t *testing.T) {
	for _, odd := range []string{
		"", `\"`, `\\`, `\n`, `\\\\\\\"`, `\u00e9`, `\"\u0041\"`, "é", "世界", "\\", `\x`, `\u00g0`, `\`, "\x01", "\x1f", "\x7f", "\x80", "\xff", "\xc3", "\"\"", "\t",
	} {
		for before := range 20 {
			for _, after := range []int{0, 1, 7, 8, 30} {
				frame := `{"jsonrpc":"2.0","method":"m","params":["` + strings.Repeat("a", before) + odd + strings.Repeat("b", after) + `"]}`
				_, err := rpc.Scan([]byte(frame))
				if want := jsontext.Value(frame).IsValid(); (err == nil) != want {
					t.Errorf("%q: error %v, jsontext says valid %v", frame, err, want)
				}
				if _, err := rpc.Scan([]byte(frame[:len(frame)-3])); err == nil { // within the string
					t.Errorf("took %q", frame[:len(frame)-3])
				}
			}
		}
	}
}
