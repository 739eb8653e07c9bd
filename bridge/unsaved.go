package bridge

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/quirk"
	"sallyport/workspace"
)

// maxSent is how much of one document goes along with a prompt.
const maxSent = 64 << 10

// sentHead stands between a prompt and the documents that are sent along.
const sentHead = "\n\nOpen in the user's editor with unsaved text, which is newer than the file on disk:\n"

// withUnsaved deals with unsaved documents in the region before a prompt: most
// agents read the disk with their own tools, and what they would not see there
// is saved, or sent along, or named. Never is something silently stale.
//
// sent are the documents that the prompt carries.
func (s *session) withUnsaved(ctx context.Context, a *agent, blocks []jsontext.Value) (_ []jsontext.Value, sent []workspace.Document) {
	docs := s.ground.files.DirtyInRegion()
	if len(docs) == 0 {
		return blocks, nil
	}
	done := unsavedReport{}
	choice := s.unsavedChoice(ctx, docs)
	if ctx.Err() != nil {
		return blocks, nil // nothing is sent any more
	}
	switch choice {
	case UnsavedSave:
		s.saveAll(ctx, docs, &done)
	case UnsavedLeave:
		done.leave(docs, "left as the setting says")
	default:
		var more []jsontext.Value
		if more, sent = s.sendAll(a, docs, &done); len(more) > 0 {
			// The line between is needed, too: some agents join text and resource
			// without a space ("fix main.go@file:///…").
			blocks = append(append(slices.Clip(blocks), textBlock(sentHead)), more...)
		}
	}
	s.tellUnsaved(&done)
	return blocks, sent
}

// unsavedChoice is the setting, or the user's answer: asked once a session
// where the display can ask.
func (s *session) unsavedChoice(ctx context.Context, docs []workspace.Document) UnsavedChoice {
	choice := UnsavedChoice(s.config.Unsaved)
	if choice != UnsavedAsk && choice != "" {
		return choice
	}
	s.state.mu.Lock()
	kept := s.state.memory.unsaved
	s.state.mu.Unlock()
	if kept != "" {
		return kept
	}
	asker, ok := s.b.Display.(UnsavedAsker)
	if !ok {
		return UnsavedSend
	}
	answer, err := asker.AskUnsaved(ctx, s.id, docs)
	if err != nil || answer == UnsavedAsk || answer == "" {
		return UnsavedSend // nobody answered: asked again next time
	}
	s.state.mu.Lock()
	s.state.memory.unsaved = answer
	s.state.mu.Unlock()
	return answer
}

// unsavedReport is what became of each document.
type unsavedReport struct {
	saved, sent, kept []string
	why               string // of the first that was kept back
}

func (r *unsavedReport) leave(docs []workspace.Document, why string) {
	for _, d := range docs {
		r.keep(d.Path, why)
	}
}

func (r *unsavedReport) keep(path, why string) {
	r.kept = append(r.kept, path)
	if r.why == "" {
		r.why = why
	}
}

func (s *session) saveAll(ctx context.Context, docs []workspace.Document, done *unsavedReport) {
	for _, d := range docs {
		applied, err := s.ground.files.Editor.Apply(ctx, workspace.Apply{Document: d, Save: true})
		switch {
		case err != nil:
			done.keep(d.Path, err.Error())
		case !applied.Saved:
			done.keep(d.Path, "the editor did not save it")
		default:
			done.saved = append(done.saved, d.Path)
		}
	}
}

// sendAll makes embedded resources of documents, for an agent that takes them.
// sent are those that a write of the agent will be based on.
func (s *session) sendAll(a *agent, docs []workspace.Document, done *unsavedReport) (blocks []jsontext.Value, sent []workspace.Document) {
	for _, d := range docs {
		switch {
		case !a.hello.Capabilities.Prompt.EmbeddedContext:
			done.keep(d.Path, a.harness.Name+" takes no embedded resources")
		case len(d.Text) > maxSent:
			done.keep(d.Path, "larger than 64 KiB")
		default:
			blocks = append(blocks, resourceBlock(d))
			if !a.quirks.Has(quirk.EchoWrites) { // their text is the disk's, whatever was sent
				sent = append(sent, d)
			}
			done.sent = append(done.sent, d.Path)
		}
	}
	return blocks, sent
}

// resourceBlock is an ACP content block of type resource with a document's text.
func resourceBlock(d workspace.Document) jsontext.Value {
	type resource struct {
		URI      string `json:"uri"`
		MimeType string `json:"mimeType"`
		Text     string `json:"text"`
	}
	raw, _ := json.Marshal(struct { // strings always encode
		Type     string   `json:"type"`
		Resource resource `json:"resource"`
	}{"resource", resource{workspace.URIOf(d.Path), "text/plain", d.Text}}, jsontext.AllowInvalidUTF8(true))
	return raw
}

func (s *session) tellUnsaved(r *unsavedReport) {
	var parts, paths []string
	for _, part := range []struct {
		what  string
		paths []string
		how   string
	}{
		{"saved", r.saved, ""}, {"sent along unsaved", r.sent, ""}, {"not passed on", r.kept, " (" + r.why + ")"},
	} {
		if len(part.paths) > 0 {
			parts = append(parts, part.what+": "+s.list(part.paths)+part.how)
			paths = append(paths, part.paths...)
		}
	}
	n := Notice{Kind: NoticeUnsaved, Level: Plain, Text: strings.Join(parts, "; "), Paths: paths}
	if len(r.kept) > 0 {
		n.Level = Warning
		n.Hint = "an agent that reads the disk works on the saved text of these files; save them if it should see yours"
	}
	s.notice(n)
}
