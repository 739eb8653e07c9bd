package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Hash is a SHA-256. The zero Hash names nothing.
type Hash [sha256.Size]byte

// ID is the beginning of a Hash, by which an object is found. It is long enough that nobody can make two contents with the same;
// and what is read is compared with the whole Hash.
type ID [20]byte

// ID is the beginning of h.
func (h Hash) ID() ID { return ID(h[:]) }

// Sum is the hash of a content.
func Sum(data []byte) Hash { return sha256.Sum256(data) }

// String is the hash in lower case hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// IsZero says whether h names nothing.
func (h Hash) IsZero() bool { return h == Hash{} }

// MarshalText is String, "" for the zero Hash.
func (h Hash) MarshalText() ([]byte, error) {
	if h.IsZero() {
		return nil, nil
	}
	return []byte(h.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (h *Hash) UnmarshalText(text []byte) error {
	*h = Hash{}
	if len(text) == 0 {
		return nil
	}
	if len(text) != 2*len(h) {
		return fmt.Errorf("hash has %d digits", len(text))
	}
	_, err := hex.Decode(h[:], text)
	return err
}
