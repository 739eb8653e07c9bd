package server

import (
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
)

// content is a text of any size. It takes one allocation to read: the general
// decoder needs two more copies for a moment, which are megabytes at times.
type content string

// UnmarshalJSONFrom reads it.
func (c *content) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	if s, err := rpc.Unquote(raw); err == nil {
		*c = content(s)
		return nil
	}
	return rpc.Unmarshal(raw, (*string)(c)) // is no string, or has half a surrogate pair
}
