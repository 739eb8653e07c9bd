package receipt

import (
	"context"
	"errors"
	"iter"
)

// Log is the receipts of all projects, each in a folder of its own (see Key). Its zero value is of no use: Dir must be set. Its
// methods may be called from several goroutines and processes at once.
type Log struct {
	Dir  string       // "receipts" in the state folder; made when the first receipt is written
	Step func(string) // for tests of crashes: hears of each step of Append; nil for none
}

// ErrNotFound says that no receipt of that turn is in the log.
var ErrNotFound = errors.New("no receipt of that turn")

// Append writes a receipt at the end of its folder's log.
func (l *Log) Append(ctx context.Context, r *Receipt) error { return errors.ErrUnsupported }

// Read gives the receipts of a folder, oldest first, those of all folders for "".
func (l *Log) Read(folder string) iter.Seq2[*Receipt, error] {
	return func(func(*Receipt, error) bool) {}
}

// Newest is Read, newest first.
func (l *Log) Newest(folder string) iter.Seq2[*Receipt, error] {
	return func(func(*Receipt, error) bool) {}
}

// Find gives the receipt of a turn, the newest if there are several. The error is ErrNotFound when there is none.
func (l *Log) Find(folder, turn string) (*Receipt, error) { return nil, errors.ErrUnsupported }
