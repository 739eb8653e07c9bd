// Package workspacetest is an editor in memory for tests: it keeps its own texts beside the
// mirror, so it can be stale, slow, deaf, refusing, lying or read-only, as editors are.
//
// Invariants: what Type and Undo did is in the editor at once, and in the mirror when it was
// announced; an agent's edit is one undo step.
//
// Absent on purpose: a wire, and any fault that no editor was seen to have.
package workspacetest
