package bridge

import (
	"context"
	"errors"

	"sallyport/bridge/rpc"
)

// Stored lists the conversations that an agent kept.
func (b *Bridge) Stored(ctx context.Context, id, folder, cursor string) (rows []StoredSession, next string, err error) {
	err = b.with(ctx, id, folder, func(ctx context.Context, a *agent) error {
		if !a.hello.offers("list") {
			return &UnsupportedError{Agent: a.harness.Name, What: "session/list"}
		}
		params := struct {
			Cwd    string `json:"cwd,omitzero"`
			Cursor string `json:"cursor,omitzero"`
		}{a.folder, cursor}
		raw, err := a.call(ctx, "session/list", params)
		if err != nil {
			return err
		}
		rows, next, err = a.readStored(raw)
		return err
	})
	return rows, next, err
}

// readStored reads the answer to session/list (ACP v1, ListSessionsResponse).
func (a *agent) readStored(raw []byte) (rows []StoredSession, next string, err error) {
	var answer struct {
		Sessions []struct {
			ID      string `json:"sessionId"`
			Cwd     string `json:"cwd"`
			Title   string `json:"title"`
			Updated string `json:"updatedAt"`
		} `json:"sessions"`
		Next string `json:"nextCursor"`
	}
	if err := rpc.Unmarshal(raw, &answer); err != nil {
		return nil, "", a.malformed("its answer to session/list is malformed", raw)
	}
	for _, r := range answer.Sessions {
		rows = append(rows, StoredSession{ID: r.ID, Folder: r.Cwd, Title: r.Title, Updated: r.Updated})
	}
	return rows, answer.Next, nil
}

// namedParams name a session, and nothing else.
type namedParams struct {
	SessionID string `json:"sessionId"`
}

// DeleteStored deletes a conversation that an agent kept.
func (b *Bridge) DeleteStored(ctx context.Context, id, folder, stored string) error {
	return b.with(ctx, id, folder, func(ctx context.Context, a *agent) error {
		if !a.hello.offers("delete") {
			return &UnsupportedError{Agent: a.harness.Name, What: "session/delete"}
		}
		_, err := a.call(ctx, "session/delete", namedParams{SessionID: stored})
		return err
	})
}

// Authenticate signs in by a method that the user chose. The agent that asked
// for it is used, so that a session/new after it finds it signed in. A way that
// needs a terminal is not taken here: AuthError has the line to run.
func (b *Bridge) Authenticate(ctx context.Context, id, folder, method string) error {
	return b.with(ctx, id, folder, func(ctx context.Context, a *agent) error {
		for _, m := range a.signIn() {
			if m.ID == method && m.Command != "" {
				return &AuthError{Agent: a.harness.Name, Message: "this way needs a terminal: run " + m.Command, Methods: []AuthMethod{m}}
			}
		}
		_, err := a.call(ctx, "authenticate", struct {
			MethodID string `json:"methodId"`
		}{method})
		return err
	})
}

// with runs f with an agent that serves no session, and keeps it for the next.
// One that did not answer is not kept: the next one would wait for it, too.
func (b *Bridge) with(ctx context.Context, id, folder string, f func(context.Context, *agent) error) error {
	ctx, leave, err := b.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	h, err := b.Home.Harness(id)
	if err != nil {
		return err
	}
	a, err := b.acquire(ctx, h, settled(folder))
	if err != nil {
		return err
	}
	err = f(ctx, a)
	var (
		said    *AgentError
		auth    *AuthError
		lacking *UnsupportedError
	)
	if err == nil || errors.As(err, &said) || errors.As(err, &auth) || errors.As(err, &lacking) {
		b.keepWarm(a)
	} else {
		a.stop()
	}
	return err
}
