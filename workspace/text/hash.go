package text

import (
	"crypto/sha256"
	"encoding/hex"
)

// Hash returns "sha256:" and the digest of the bytes of s in lower-case hex.
func Hash(s string) string {
	h := sha256.New()
	buf := make([]byte, min(len(s), 16<<10)) // a document is not copied whole to be hashed
	for len(s) > 0 {
		n := copy(buf, s)
		h.Write(buf[:n])
		s = s[n:]
	}
	var sum [sha256.Size]byte
	return "sha256:" + hex.EncodeToString(h.Sum(sum[:0]))
}
