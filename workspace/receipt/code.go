package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// JSON strings are UTF-8, but paths are bytes. A byte that is not part of a character stands in the JSON as U+0000 and two hex
// digits, and so does a NUL itself, which no path has. All strings of a receipt are written this way, so that none is
// changed or refused.
var (
	exactOut = json.WithMarshalers(json.MarshalToFunc(func(enc *jsontext.Encoder, s string) error {
		if isPlain(s) {
			return errors.ErrUnsupported
		}
		return enc.WriteToken(jsontext.String(escape(s)))
	}))
	exactIn = json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, s *string) error {
		if dec.PeekKind() != '"' {
			return errors.ErrUnsupported
		}
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		*s, err = unescape(token.String())
		return err
	}))
)

func isPlain(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

func escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "\x00%02x", s[i])
		} else {
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

func unescape(s string) (string, error) {
	first, rest, found := strings.Cut(s, "\x00")
	if !found {
		return s, nil
	}
	out := []byte(first)
	for found {
		if len(rest) < 2 {
			return "", errors.New("U+0000 without two hex digits")
		}
		b, err := strconv.ParseUint(rest[:2], 16, 8)
		if err != nil {
			return "", errors.New("U+0000 without two hex digits")
		}
		out = append(out, byte(b))
		var plain string
		plain, rest, found = strings.Cut(rest[2:], "\x00")
		out = append(out, plain...)
	}
	return string(out), nil
}

// plain types have the fields of ours and none of the methods, which call each other's encoding.
type (
	plainReceipt Receipt
	plainChange  Change
)

// MarshalJSONTo writes the shape that Schema describes.
func (r Receipt) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, plainReceipt(r), exactOut)
}

// UnmarshalJSONFrom reads what MarshalJSONTo wrote. Members that it does not know are dropped.
func (r *Receipt) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return json.UnmarshalDecode(dec, (*plainReceipt)(r), exactIn)
}

// MarshalJSONTo writes a change as it stands in a receipt.
func (c Change) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, plainChange(c), exactOut)
}

// UnmarshalJSONFrom reads what MarshalJSONTo wrote.
func (c *Change) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return json.UnmarshalDecode(dec, (*plainChange)(c), exactIn)
}

const (
	hashOpen  = `,"hash":"`
	hashClose = `"}`
	hashSize  = 2 * sha256.Size
)

// seal gives the line of a receipt, which is the last member of its own line, and sets its hash.
func seal(r *Receipt) ([]byte, error) {
	r.Hash = ""
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding receipt of turn %s: %w", r.Turn, err)
	}
	r.Hash = sum(body)
	line := append(body[:len(body)-1], hashOpen...)
	line = append(line, r.Hash...)
	line = append(line, hashClose...)
	return append(line, '\n'), nil
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

var (
	errNoReceipt = errors.New("is no receipt")
	errAltered   = errors.New("does not have the hash that it names: it was altered")
)

// open reads a line without its end. With errAltered the receipt is what the line claims, which is not to be trusted.
func open(line []byte) (*Receipt, error) {
	r := &Receipt{}
	if err := json.Unmarshal(line, r); err != nil {
		return nil, errNoReceipt // the cause may quote the line
	}
	at := len(line) - len(hashOpen) - hashSize - len(hashClose)
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(hashOpen)) || !bytes.HasSuffix(line, []byte(hashClose)) || r.Seq < 1 {
		return nil, errNoReceipt
	}
	body := append(bytes.Clone(line[:at]), '}')
	if claimed := string(line[at+len(hashOpen) : at+len(hashOpen)+hashSize]); claimed != sum(body) || claimed != r.Hash {
		return r, errAltered
	}
	return r, nil
}
