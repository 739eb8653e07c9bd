package bridge

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/workspace"
	"sallyport/workspace/receipt"
	"sallyport/workspace/text"
)

// learnCall takes in one tool call or its update, before its permission is asked
// for.
func (s *session) learnCall(u *agentUpdate) {
	c, told := s.cards.Calls.Learn(u.kind, func(fn func(key, value []byte) bool) error { return u.in.EachParam(fn, "update") })
	if told {
		s.ground.taint.Call(&c)
	}
}

// recall takes from the history of a conversation what it took in: it is in the
// agent's context again.
func (s *session) recall(u *agentUpdate) {
	if u.kind != "tool_call" && u.kind != "tool_call_update" {
		return
	}
	c, told := s.old.Learn(u.kind, func(fn func(key, value []byte) bool) error { return u.in.EachParam(fn, "update") })
	if told {
		s.ground.taint.Call(&c)
	}
}

// leftOpen takes in the calls that the turn's end finds open, but for those that
// were refused and never mentioned again.
func (s *session) leftOpen(t *turn) {
	for _, c := range s.cards.Calls.Open() {
		if !t.touched.wasRefused(c.ID) {
			s.ground.taint.Left(&c)
		}
	}
}

// tainted tells of a new mark: on the receipt, and for the first one to the user.
func (s *session) tainted(m permit.Mark, first bool) {
	if t := s.recording(); t != nil {
		t.record.taint(taintOf(m))
	}
	if first {
		s.notice(Notice{
			Kind: NoticeTaint, Level: Warning,
			Text: "the session has taken in untrusted content (" + m.String() + "): commands, fetches, MCP tools and files outside the project are asked about from now on, whatever the mode",
			Hint: "clear the mark when you have looked at it, or begin a new session",
		})
	}
}

func taintOf(m permit.Mark) receipt.Taint {
	return receipt.Taint{Kind: string(m.Kind), Source: m.Source, Time: m.Time.UTC()}
}

// ClearTaint takes the marks of untrusted content off a session: the user's word.
func (b *Bridge) ClearTaint(_ context.Context, id string) (Info, error) {
	s, err := b.session(id)
	if err != nil {
		return Info{}, err
	}
	if had := len(s.ground.taint.Marks()); had > 0 {
		s.ground.taint.Clear()
		s.recordAlarm("the user cleared the marks of untrusted content")
		s.notice(Notice{Kind: NoticeTaint, Level: Plain, Text: "the marks of untrusted content are cleared: modes and rules decide again"})
	}
	return s.info(), nil
}

// passedOn takes in what goes along with a prompt.
func (s *session) passedOn(blocks []jsontext.Value) {
	if len(s.config.Untrusted) == 0 {
		return
	}
	for _, b := range blocks {
		resource, _ := rpc.Member(b, "resource")
		for _, object := range [][]byte{b, resource} {
			value, _ := rpc.Member(object, "uri")
			if uri, err := rpc.Unquote(value); err == nil && uri != "" {
				s.ground.taint.Passed(uri)
			}
		}
	}
}

// inside reports whether a path is the project's: in the session's folders, or
// where agents may write.
func (s *session) inside(path string) bool { return s.owns(path) || s.ground.policy.InRegion(path) }

// owns reports whether a path lies in the session's folders.
func (s *session) owns(path string) bool {
	path = really(path)
	return slices.ContainsFunc(s.places, func(folder string) bool { return beneath(path, folded(folder)) })
}

// beneath reports whether a path is a folder or lies in it; both as they really
// are.
func beneath(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// folders are the session's folder and its additional ones, as they really are.
func (s *session) folders() []string { return s.places }

func places(folder string, roots []string) []string {
	all := []string{folder}
	for _, root := range roots {
		if !filepath.IsAbs(root) {
			root = filepath.Join(folder, root)
		}
		all = append(all, settled(root))
	}
	return all
}

// untrusted makes of the user's patterns what reports whether a path or an
// address is meant by one. A pattern with "://" is for addresses, without their
// query; one without a slash is for names at any depth; other relative ones are
// taken from folder.
func untrusted(patterns []string, folder string) func(name string) bool {
	if len(patterns) == 0 {
		return nil
	}
	return func(name string) bool {
		u, err := url.Parse(name)
		web := err == nil && u.Host != "" && u.Scheme != "file"
		for _, p := range patterns {
			switch {
			case strings.Contains(p, "://") != web:
			case web:
				if matches(p, u.Scheme+"://"+strings.ToLower(u.Host)+u.Path) {
					return true
				}
			default:
				if matchesPath(p, name, folder) {
					return true
				}
			}
		}
		return false
	}
}

func matchesPath(pattern, name, folder string) bool {
	if path, err := workspace.PathOf(name); err == nil {
		name = path
	}
	pattern = filepath.ToSlash(pattern)
	switch {
	case !strings.Contains(pattern, "/"):
		pattern = "/**/" + pattern
		if matches(pattern, "/"+strings.TrimPrefix(filepath.ToSlash(name), "/")) {
			return true
		}
		return matches(pattern, "/"+strings.TrimPrefix(filepath.ToSlash(followed(name)), "/"))
	case !filepath.IsAbs(filepath.FromSlash(pattern)):
		pattern = filepath.ToSlash(folder) + "/" + strings.TrimPrefix(pattern, "./")
	}
	return matches(pattern, filepath.ToSlash(name)) || matches(pattern, filepath.ToSlash(followed(name)))
}

// matches reports whether a name, or a folder that it lies in, fits a pattern.
// One that is no pattern fits nothing.
func matches(pattern, name string) bool {
	for at := name; ; {
		if ok, err := doublestar.Match(pattern, at); ok && err == nil {
			return true
		}
		i := strings.LastIndexByte(at, '/')
		if i <= 0 {
			return false
		}
		at = at[:i]
	}
}

// mustAsk reports whether a read is asked about: the session is marked, and the
// file is reserved or outside the project.
func (s *session) mustAsk(path string) bool {
	return s.ground.taint.Why("") != "" && s.ground.engine.Place.Guarded(path)
}

// mayRead asks about a read that a marked session does not do unasked. A fence
// that refuses it does so without a card.
func (s *session) mayRead(ctx context.Context, t *turn, path string) error {
	if err := s.ground.policy.CheckRead(path); err != nil {
		s.refused(err)
		return err
	}
	c := s.cards.ReadFile(t.id, path)
	c.Title = text.Visible("Read " + s.relative(path))
	return s.granted(ctx, t, c)
}
