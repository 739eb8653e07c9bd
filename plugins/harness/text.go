package harness

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Text is text for people: by language tag, or under "" when the manifest
// gave one text for all languages. The zero value is no text.
type Text map[string]string

// In is the text in the first of the languages that there is one for. A tag
// such as fr-CA is also met by fr. Otherwise it is the one text, the English
// one, or the first by tag.
func (t Text) In(languages ...string) string {
	if s, ok := t[""]; ok {
		return s
	}
	for _, want := range append(slices.Clone(languages), "en") {
		for want = strings.ReplaceAll(want, "_", "-"); want != ""; want = parentTag(want) {
			for tag, s := range t {
				if strings.EqualFold(tag, want) {
					return s
				}
			}
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(t)) {
		return t[tag]
	}
	return ""
}

func parentTag(tag string) string {
	return tag[:max(strings.LastIndexByte(tag, '-'), 0)]
}

// UnmarshalJSONFrom reads "text" or {"en": "text"}.
func (t *Text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		var s string
		if err := json.UnmarshalDecode(dec, &s); err != nil {
			return fmt.Errorf("reading a text: %w", err)
		}
		*t = Text{"": s}
		return nil
	}
	var m map[string]string
	if err := json.UnmarshalDecode(dec, &m); err != nil {
		return fmt.Errorf("reading a text by language: %w", err)
	}
	*t = m
	return nil
}

// MarshalJSONTo writes what UnmarshalJSONFrom reads.
func (t Text) MarshalJSONTo(enc *jsontext.Encoder) error {
	if s, ok := t[""]; ok {
		return enc.WriteToken(jsontext.String(s))
	}
	return json.MarshalEncode(enc, map[string]string(t), json.Deterministic(true))
}
