package servertest

import (
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
	"sallyport/server/wire"
	"sallyport/workspace/text"
)

// handle takes one message of the server. Notifications are noted in order;
// requests are answered from goroutines of their own.
func (e *Editor) handle(m *rpc.Message) {
	method := string(m.Method)
	if m.Kind == rpc.Notification {
		e.notified(method, m.Params)
		return
	}
	id, params := m.ID, jsontext.Value(m.Params).Clone()
	if method == wire.MethodPermission {
		p := read[wire.PermissionParams](params)
		e.see(func(s *Seen) { s.Asked, s.Cards = append(s.Asked, p), append(s.Cards, "asked "+p.ID) })
	}
	e.wg.Go(func() {
		result, err, deaf := e.request(method, params)
		switch {
		case deaf:
		case err != nil:
			_ = e.conn.ReplyError(id, err)
		default:
			_ = e.conn.Reply(id, result)
		}
		e.catchUp()
	})
}

func (e *Editor) notified(method string, params []byte) {
	switch method {
	case wire.MethodUpdate:
		u := read[wire.UpdateParams](params)
		e.see(func(s *Seen) { s.Updates = append(s.Updates, u) })
	case wire.MethodNotice:
		n := read[wire.Notice](params)
		e.see(func(s *Seen) { s.Notices = append(s.Notices, n) })
	case wire.MethodCall:
		p := read[wire.CallParams](params)
		e.see(func(s *Seen) { s.Called, s.Cards = append(s.Called, p), append(s.Cards, "called "+p.ID) })
	case wire.MethodSettled:
		p := read[wire.SettledParams](params)
		e.see(func(s *Seen) { s.Settled, s.Cards = append(s.Settled, p), append(s.Cards, "settled "+p.ID) })
	case "window/showMessage":
		p := read[struct {
			Message string `json:"message"`
		}](params)
		e.see(func(s *Seen) { s.Messages = append(s.Messages, p.Message) })
	case "$/cancelRequest":
		e.see(func(s *Seen) { s.Cancels++ })
	case "$/progress":
		p := read[struct {
			Token string `json:"token"`
			Value struct {
				Kind    string `json:"kind"`
				Message string `json:"message"`
			} `json:"value"`
		}](params)
		e.see(func(s *Seen) {
			s.Progress = append(s.Progress, Progress{p.Token, p.Value.Kind, p.Value.Message})
		})
	}
}

// read decodes what the server sent; a fake editor that cannot is a bug of the
// server, which the zero value shows.
func read[T any](raw []byte) (v T) {
	_ = rpc.Unmarshal(raw, &v)
	return v
}

// request answers a request of the server. deaf: not at all.
func (e *Editor) request(method string, params jsontext.Value) (result any, err error, deaf bool) {
	h := e.habitsNow()
	switch method {
	case "window/showMessageRequest":
		return e.choose(h, params)
	case "window/workDoneProgress/create":
		return nil, nil, false
	case "window/showDocument":
		p := read[struct {
			URI string `json:"uri"`
		}](params)
		e.see(func(s *Seen) { s.Shown = append(s.Shown, p.URI) })
		return map[string]bool{"success": true}, nil, false
	case "workspace/applyEdit":
		return e.applyEdit(h, params)
	case wire.MethodApply:
		return e.apply(h, params)
	case wire.MethodPermission:
		p := read[wire.PermissionParams](params)
		r := wire.PermissionResult{}
		if h.Permission != nil {
			r.Option, err = h.Permission(p)
		}
		return r, err, false
	case wire.MethodContext:
		return h.Context, nil, false
	case wire.MethodUnsaved:
		r := wire.UnsavedResult{Choice: bridge.UnsavedSend}
		if h.Unsaved != nil {
			r.Choice = h.Unsaved(read[wire.UnsavedParams](params))
		}
		return r, nil, false
	case wire.MethodElicitation:
		if h.Elicit != nil {
			return wire.ElicitationResult{Result: h.Elicit(read[wire.ElicitationParams](params).Params)}, nil, false
		}
	}
	return nil, rpc.Errorf(rpc.MethodNotFound, "no request %s", method), false
}

func (e *Editor) choose(h Habits, params jsontext.Value) (any, error, bool) {
	p := read[struct {
		Message string `json:"message"`
		Actions []struct {
			Title string `json:"title"`
		} `json:"actions"`
	}](params)
	titles := make([]string, len(p.Actions))
	for i, a := range p.Actions {
		titles[i] = a.Title
	}
	e.see(func(s *Seen) { s.Messages = append(s.Messages, p.Message) })
	if h.Choose == nil {
		return nil, nil, false
	}
	i, err := h.Choose(p.Message, titles)
	if err != nil || i < 0 {
		return nil, err, false
	}
	return p.Actions[i], nil, false
}

// applyEdit is workspace/applyEdit of one document.
func (e *Editor) applyEdit(h Habits, params jsontext.Value) (any, error, bool) {
	uri, version, edits := readEdit(params)
	e.see(func(s *Seen) { s.Edits = append(s.Edits, edits) })
	if h.BeforeEdit != nil {
		h.BeforeEdit()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	type answer struct {
		Applied bool   `json:"applied"`
		Reason  string `json:"failureReason,omitzero"`
	}
	switch h.Edits {
	case Deaf:
		return nil, nil, true
	case Rude:
		return nil, rpc.Errorf(rpc.InternalError, "no"), false
	case Drops:
		return answer{Applied: true}, nil, false
	case Refuses:
		return answer{Reason: "not now"}, nil, false
	case Mutters:
		_ = e.applyLocked(uri, edits)
		return answer{Reason: "oh well"}, nil, false
	}
	if b := e.docs[uri]; b == nil || h.Edits != Careless && version != nil && *version != b.version {
		return answer{Reason: "version mismatch"}, nil, false
	}
	if err := e.applyLocked(uri, edits); err != nil {
		return answer{Reason: err.Error()}, nil, false
	}
	return answer{Applied: true}, nil, false
}

// readEdit reads a WorkspaceEdit of one document, in either form.
func readEdit(params jsontext.Value) (uri string, version *int32, edits []wire.Edit) {
	p := read[struct {
		Edit struct {
			Changes   map[string][]wire.Edit `json:"changes"`
			Documents []struct {
				Document struct {
					URI     string `json:"uri"`
					Version *int32 `json:"version"`
				} `json:"textDocument"`
				Edits []wire.Edit `json:"edits"`
			} `json:"documentChanges"`
		} `json:"edit"`
	}](params)
	for u, list := range p.Edit.Changes {
		return u, nil, list
	}
	for _, d := range p.Edit.Documents {
		return d.Document.URI, d.Document.Version, d.Edits
	}
	return "", nil, nil
}

// apply is sallyport/document/apply, as a plugin does it.
func (e *Editor) apply(h Habits, params jsontext.Value) (any, error, bool) {
	p := read[wire.ApplyParams](params)
	e.see(func(s *Seen) { s.Edits, s.Disks = append(s.Edits, p.Edits), append(s.Disks, p.Disk) })
	if h.BeforeEdit != nil {
		h.BeforeEdit()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.docs[p.URI]
	if b == nil {
		return wire.ApplyResult{Status: wire.ApplyClosed}, nil, false
	}
	now := func(s wire.ApplyStatus) wire.ApplyResult {
		return wire.ApplyResult{Status: s, Version: b.version, Hash: text.Hash(b.text)}
	}
	switch h.Edits {
	case Deaf:
		return nil, nil, true
	case Busy:
		e.habits.Edits = Honest
		return nil, nil, true
	case Rude:
		return nil, rpc.Errorf(rpc.InternalError, "no"), false
	case ReadOnly:
		return now(wire.ApplyReadOnly), nil, false
	case Drops:
		return now(wire.ApplyApplied), nil, false
	case Refuses:
		return now(wire.ApplyStale), nil, false
	}
	if p.Version != b.version || p.Hash != text.Hash(b.text) {
		return now(wire.ApplyStale), nil, false
	}
	if len(p.Edits) > 0 {
		if err := e.applyLocked(p.URI, p.Edits); err != nil {
			return nil, err, false
		}
	}
	if p.Disk == wire.ApplyHolds { // as it is after loading the file
		b.saved = b.text
	}
	if p.Save {
		if err := e.saveLocked(p.URI); err != nil {
			return nil, err, false
		}
	}
	r := now(wire.ApplyApplied)
	r.Saved = p.Save
	return r, nil, false
}
