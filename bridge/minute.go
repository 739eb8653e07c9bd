package bridge

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"sallyport/bridge/quirk"
	"sallyport/plugins/harness"
)

// spare waits, for a minute at most, where a conversation would be lost by the
// load that is to follow (quirk.LoadSameMinute).
func (s *session) spare(ctx context.Context, a *agent, id string) error {
	if !a.quirks.Has(quirk.LoadSameMinute) {
		return nil
	}
	wait := quirk.LoadWait(s.b.homeOf(a.harness), id, time.Now())
	if wait == 0 {
		return nil
	}
	s.notice(Notice{
		Kind: NoticeStarting, Level: Plain,
		Text: fmt.Sprintf("waiting %d seconds for %s, which loses a conversation that is loaded in the minute in which it began",
			int(wait/time.Second)+1, a.harness.Name),
	})
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-a.proc.Done():
		return a.goneError()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// homeOf is the folder below which an agent keeps its own: its account's, or
// the user's.
func (b *Bridge) homeOf(h *harness.Harness) string {
	env, _ := b.environ(h)
	found := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		found[name] = value
	}
	return cmp.Or(found[h.Program.AccountVar], found["HOME"], found["USERPROFILE"])
}
