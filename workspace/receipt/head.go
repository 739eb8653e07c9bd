package receipt

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"sallyport/workspace/checkpoint/pack"
)

// head says how far a log goes, so that it shows when its last receipts are gone. It is written after the receipt: at most one
// receipt is beyond it.
type head struct {
	Count int64  `json:"count"`
	Hash  string `json:"hash"` // of the receipt whose number is Count
}

// mostSeq is the largest number that every reader of JSON can tell from its neighbours.
const mostSeq = 1<<53 - 1

// head reads the head; the zero head and no error when there is none.
func (s *shelf) head() (head, error) {
	data, err := s.read(headFile, 4096)
	if errors.Is(err, fs.ErrNotExist) {
		return head{}, nil
	}
	if err != nil {
		return head{}, err
	}
	var h head
	if err := json.Unmarshal(data, &h); err != nil || h.Count < 1 || h.Count >= mostSeq || !isHash(h.Hash) {
		return head{}, errors.New("does not say how many receipts there are")
	}
	return h, nil
}

func (s *shelf) setHead(h head, step func(string)) error {
	data, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("encoding head: %w", err)
	}
	return pack.Replace(filepath.Join(s.dir, headFile), append(data, '\n'), step)
}

func isHash(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && 2*len(raw) == hashSize
}
