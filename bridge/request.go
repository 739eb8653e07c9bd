package bridge

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"sallyport/bridge/quirk"
	"sallyport/bridge/rpc"
	"sallyport/workspace"
	"sallyport/workspace/disk"
	"sallyport/workspace/fence"
)

// Error codes of our own answers to an agent, besides those of JSON-RPC.
const (
	codeNotFound  = -32002 // ACP: resource not found
	codeRefused   = -32010 // a fence, a rule or the user refused
	codeConflict  = -32011 // the user changed the same lines: read it again
	codeCancelled = rpc.RequestCancelled
)

// request takes one request of the agent, on its read loop. What has to be in
// wire order happens here; the rest runs on a goroutine of its own.
func (s *session) request(a *agent, m *rpc.Message) {
	if !s.actsOn(string(m.Method)) && a.passRequest(m) {
		return
	}
	size := len(m.ID) + len(m.Params)
	if !a.load.take(size) {
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.InternalError, "too many requests are open: wait for answers"))
		return
	}
	var work func(context.Context)
	switch string(m.Method) {
	case "fs/read_text_file":
		work = s.readRequest(a, m)
	case "fs/write_text_file":
		work = s.writeRequest(a, m)
	case "session/request_permission":
		work = s.permissionRequest(a, m)
	case "terminal/create":
		work = s.terminalRequest(a, m)
	case "elicitation/create":
		work = s.elicitationRequest(a, m)
	default:
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.MethodNotFound, "Sallyport does not offer %s", clip(string(m.Method), maxMethod)))
	}
	if work == nil {
		a.load.give(size)
		return
	}
	ctx, cancel := context.WithCancelCause(a.span.ctx)
	id := m.ID
	own := a.asked.put(id, cancel)
	a.wg.Go(func() {
		defer a.load.give(size)
		defer a.asked.drop(id, own)
		work(ctx)
	})
}

// maxMethod is how much of a method's name is said back.
const maxMethod = 128

// withdraw ends a request that the agent takes back ($/cancel_request).
func (a *agent) withdraw(m *rpc.Message) {
	value, ok := rpc.Member(m.Params, "requestId")
	if !ok {
		value, _ = rpc.Member(m.Params, "id")
	}
	a.asked.cancel(rpc.RawID(value), m)
}

// fileParams reads path (and with it the rest) of an fs request; a bad one is
// answered at once.
func (s *session) fileParams(a *agent, m *rpc.Message) (path string, ok bool) {
	value, _ := rpc.Member(m.Params, "path")
	path, err := rpc.Unquote(value)
	switch {
	case err != nil || path == "":
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.InvalidParams, "path is missing: give an absolute path"))
	case !filepath.IsAbs(path):
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.InvalidParams, "path %q is relative: give an absolute path", path))
	case !s.names(m.Params):
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.InvalidParams, "sessionId names no session of this agent"))
	default:
		return path, true
	}
	return "", false
}

// names reports whether params name this session.
func (s *session) names(params []byte) bool {
	value, _ := rpc.Member(params, "sessionId")
	id, err := rpc.Unquote(value)
	return err == nil && id == s.agentID()
}

// readRequest serves fs/read_text_file (ACP v1, File System).
func (s *session) readRequest(a *agent, m *rpc.Message) func(context.Context) {
	path, ok := s.fileParams(a, m)
	if !ok {
		return nil
	}
	line, okLine := number(m.Params, "line")
	limit, okLimit := number(m.Params, "limit")
	if !okLine || !okLimit {
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.InvalidParams, "line and limit are whole numbers from 0"))
		return nil
	}
	id, t := m.ID, s.running()
	asks := s.mustAsk(path)
	if asks {
		if t = s.beginWork(); t == nil {
			_ = a.conn.ReplyError(m.ID, rpc.Errorf(codeRefused, "no turn is running: outside the project nothing is read unasked after untrusted content came in"))
			return nil
		}
	}
	return func(ctx context.Context) {
		if asks {
			defer t.work.Done()
			if err := s.mayRead(ctx, t, path); err != nil {
				_ = a.conn.ReplyError(id, fileError(path, err))
				return
			}
		}
		err := inSlot(ctx, s.ground.slots.reading, func() error {
			c, err := s.ground.files.Read(ctx, path, line, limit)
			if errors.Is(err, fs.ErrNotExist) && a.quirks.Has(quirk.MissingReadsEmpty) {
				c, err = workspace.Content{}, nil
			}
			if err != nil {
				return err
			}
			if t != nil {
				t.touched.mediated(path, false)
			}
			_ = a.conn.ReplyNow(id, func(dst []byte) []byte {
				dst = append(dst, `{"content":`...)
				return append(rpc.AppendQuote(dst, c.Text), '}')
			})
			return nil
		})
		if err != nil {
			s.refused(err)
			_ = a.conn.ReplyError(id, fileError(path, err))
		}
	}
}

// number reads a whole number that may be absent or null.
func number(params []byte, name string) (n int, ok bool) {
	value, present := rpc.Member(params, name)
	if !present || string(value) == "null" {
		return 0, true
	}
	err := rpc.Unmarshal(value, &n)
	return n, err == nil && n >= 0
}

// writeRequest serves fs/write_text_file (ACP v1, File System).
func (s *session) writeRequest(a *agent, m *rpc.Message) func(context.Context) {
	path, ok := s.fileParams(a, m)
	if !ok {
		return nil
	}
	value, _ := rpc.Member(m.Params, "content")
	content, err := rpc.Unquote(value)
	if err != nil {
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(rpc.InvalidParams, "content is missing or no string"))
		return nil
	}
	t := s.beginWork()
	if t == nil {
		_ = a.conn.ReplyError(m.ID, rpc.Errorf(codeCancelled, "no turn is running: nothing is written after a cancel, between turns, or while the history is told"))
		return nil
	}
	id := m.ID
	place := s.ground.files.Queue(path) // writes to one path happen in the order of the wire
	return func(ctx context.Context) {
		defer t.work.Done()
		defer place.Leave()
		ctx, cancel := t.within(ctx)
		defer cancel()
		if err := s.write(ctx, t, place, path, content); err != nil {
			t.record.notApplied(path, err)
			s.refused(err)
			_ = a.conn.ReplyError(id, fileError(path, err))
			return
		}
		if !a.quirks.Has(quirk.EchoWrites) { // an echo is a word about a write, not the write
			t.touched.mediated(path, true)
		}
		_ = a.conn.ReplyRaw(id, []byte("{}"))
	}
}

// write asks for a permission where the turn has none, and writes.
func (s *session) write(ctx context.Context, t *turn, place *workspace.Place, path, content string) error {
	if err := s.ground.policy.CheckWrite(path); err != nil {
		return err
	}
	if err := t.record.await(ctx); err != nil { // so that it can be taken back
		return errCancelled
	}
	if err := place.Wait(ctx); err != nil { // so that what is asked about is what will be there
		return err
	}
	return inSlot(ctx, s.ground.slots.writing, func() error {
		if err := s.mayWrite(ctx, t, path, content); err != nil {
			return err
		}
		if t.cancelled() {
			return errCancelled
		}
		if err := t.record.beforeWrite(ctx, path); err != nil {
			s.b.Log.Warn("taking up a file before a write", "session", s.id, "err", err)
		}
		out, err := place.Write(ctx, content)
		if out.Merged {
			s.b.Log.Debug("merged a write with the user's typing", "session", s.id)
		}
		return err
	})
}

// fileError is what the agent is told; the user is told by refused.
func fileError(path string, err error) *rpc.Error {
	var (
		refusal  *fence.Refusal
		settled  *settledError
		conflict *workspace.ConflictError
		odd      *disk.NotTextError
		large    *disk.TooLargeError
	)
	switch {
	case errors.As(err, &refusal):
		return rpc.Errorf(codeRefused, "%s", refusal.Error())
	case errors.As(err, &settled):
		return rpc.Errorf(codeRefused, "%s", settled.Error())
	case errors.As(err, &conflict):
		return rpc.Errorf(codeConflict, "%s", conflict.Error())
	case errors.Is(err, errCancelled), errors.Is(err, context.Canceled):
		return rpc.Errorf(codeCancelled, "cancelled: nothing was read or written")
	case errors.Is(err, fs.ErrNotExist):
		return rpc.Errorf(codeNotFound, "no such file: %s", path)
	case errors.As(err, &odd), errors.As(err, &large):
		return rpc.Errorf(rpc.InvalidParams, "%s", err.Error())
	default:
		return rpc.Errorf(rpc.InternalError, "%s", err.Error())
	}
}

// refused tells the user what a fence or a conflict kept an agent from doing.
func (s *session) refused(err error) {
	var (
		refusal  *fence.Refusal
		conflict *workspace.ConflictError
	)
	switch {
	case errors.As(err, &refusal):
		s.recordRefusal(refusal)
		s.caused(Notice{Kind: NoticeRefused, Level: Warning, Text: refusal.Error(), Paths: []string{refusal.Path}})
	case errors.As(err, &conflict):
		s.caused(Notice{Kind: NoticeConflict, Level: Warning, Text: conflict.Error(), Paths: []string{conflict.Path}})
	}
}

// elicitationRequest serves elicitation/create (ACP, unstable): an agent's form
// or link, shown where the display can and declined otherwise.
func (s *session) elicitationRequest(a *agent, m *rpc.Message) func(context.Context) {
	id, params := m.ID, append([]byte(nil), m.Params...)
	if _, given := rpc.Member(m.Params, "sessionId"); given && !s.names(m.Params) {
		_ = a.conn.ReplyError(id, rpc.Errorf(rpc.InvalidParams, "sessionId names no session of this agent"))
		return nil
	}
	elicitor, ok := s.b.Display.(Elicitor)
	if !ok {
		_ = a.conn.ReplyRaw(id, []byte(`{"action":"decline"}`))
		return nil
	}
	t := s.running()
	return func(ctx context.Context) {
		if t != nil {
			var cancel context.CancelFunc
			ctx, cancel = t.within(ctx)
			defer cancel()
		}
		var answer []byte
		err := inSlot(ctx, s.ground.slots.asking, func() (err error) {
			answer, err = elicitor.Elicit(ctx, s.id, params)
			return err
		})
		if err != nil || len(answer) == 0 {
			answer = []byte(`{"action":"cancel"}`)
		}
		_ = a.conn.ReplyRaw(id, answer)
	}
}
