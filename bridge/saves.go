package bridge

import (
	"sallyport/workspace"
	"sallyport/workspace/fence"
)

// DocumentSaved says that the editor has saved a document: path is its file, and
// hash that of its text, as workspace.Document has them. The editor's side calls
// it for every save that it hears of (LSP textDocument/didSave), in the order of
// the wire; those that an agent's write asked for too: they are told apart by what
// the write left. It does not wait.
func (b *Bridge) DocumentSaved(path, hash string) {
	for _, s := range b.all() {
		if t := s.recording(); t != nil {
			if on := t.record.on.Load(); on != nil && s.owns(path) {
				on.Saved(path, hash)
			}
		}
	}
}

// record passes a mediated access on to the turn's record and to whoever else
// keeps one. A file from outside the project marks the session.
func (s *session) record(a workspace.Access) {
	if t := s.recording(); t != nil {
		t.record.access(a)
	}
	if a.Kind == fence.Read && a.Err == nil {
		s.ground.taint.Read(a.Outcome.Path)
	}
	if s.b.Record != nil {
		s.b.Record(s.id, s.turnID(), a)
	}
}
