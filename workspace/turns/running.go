package turns

import (
	"context"

	"sallyport/workspace/checkpoint"
	"sallyport/workspace/receipt"
)

// Running is a turn that runs. Its methods may be called from any goroutine, those that note something also after End, when they
// do nothing.
type Running struct{}

// Uncovered says in one clause why the turn cannot be taken back; "" when it can.
func (r *Running) Uncovered() string { return "" }

// LeftOut lists what the checkpoint before the turn does not hold.
func (r *Running) LeftOut() []checkpoint.Skipped { return nil }

// Permission notes a question and its answer.
func (r *Running) Permission(p receipt.Permission) {}

// Access notes a read or write through us.
func (r *Running) Access(a receipt.Access) {}

// Refusal notes a refusal of a fence.
func (r *Running) Refusal(f receipt.Refusal) {}

// Taint notes untrusted content.
func (r *Running) Taint(t receipt.Taint) {}

// Alarm notes what a person should look at.
func (r *Running) Alarm(text string) {}

// Posture notes that another posture holds from now on.
func (r *Running) Posture(p receipt.Posture) {}

// Saved notes that the user saved this text (hash as of text.Hash) from the editor. Saves that an agent's write asked for may be
// noted too: they have the hash that the write left.
func (r *Running) Saved(path, hash string) {}

// BeforeWrite takes up a path that the checkpoint's limits left out, before it is written through us. Whatever its error, the
// write may go on.
func (r *Running) BeforeWrite(ctx context.Context, path string) error { return nil }

// Declared is what the agent said that it changed.
type Declared struct {
	Paths []string // absolute, of its diffs
}

// Compare takes the checkpoint after the turn and attributes what changed, by root and path. Call it when the agent is done, with
// the documents that are dirty then. Called again, it does all anew.
func (r *Running) Compare(ctx context.Context, d Declared, docs []Buffer) ([]receipt.Change, error) {
	return nil, errNotYet
}

// End writes the receipt, and the turn runs no more, also after an error. Without a Compare that went well it cannot be taken
// back.
func (r *Running) End(ctx context.Context, end receipt.End, tokens *receipt.Tokens, verdicts []receipt.Verdict) (*receipt.Receipt, error) {
	return nil, errNotYet
}
