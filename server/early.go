package server

import (
	"context"

	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/server/wire"
)

// Show puts a card on the screen that is still being decided, where the plugin
// says that it shows one without calling anybody. It is sent before Show returns,
// so that the call and the end follow it.
func (d display) Show(ctx context.Context, card *permit.Card) permit.Shown {
	if !d.able.has(wire.FeaturePermission) || !d.able.has(wire.FeatureDeciding) {
		return nil
	}
	raw, err := encode(permissionParams(card))
	if err != nil {
		d.log.Error("bug: encoding a permission", "error", err)
		return nil
	}
	d.settleJoined(ctx)
	s := &shown{client: d.client, card: card, said: make(chan said, 1)}
	s.cancel = d.conn.Go(wire.MethodPermission, raw, func(result []byte, err error) {
		var r wire.PermissionResult
		if err == nil {
			err = rpc.Unmarshal(result, &r)
		}
		s.said <- said{r, err}
	})
	return s
}

// shown is a card that a plugin shows while it is being decided.
type shown struct {
	*client
	card   *permit.Card
	said   chan said // one slot
	cancel func()
}

// said is a plugin's answer.
type said struct {
	result wire.PermissionResult
	err    error
}

// Answer waits for the user's answer. When ctx ends the plugin is told by
// $/cancelRequest.
func (s *shown) Answer(ctx context.Context) (permit.Answer, error) {
	select {
	case a := <-s.said:
		if a.err != nil {
			return permit.Answer{}, a.err
		}
		return s.answer(s.card, a.result), nil
	case <-ctx.Done():
		s.cancel()
		return permit.Answer{}, ctx.Err()
	}
}

// Call has the plugin call the user.
func (s *shown) Call(ctx context.Context, c *permit.Card) {
	s.settleJoined(ctx)
	s.notify(wire.MethodCall, wire.CallParams{ID: c.ID, Session: c.Session, Reason: c.Reason})
}
