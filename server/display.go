package server

import (
	"context"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/permit"
	"sallyport/bridge/rpc"
	"sallyport/server/wire"
	"sallyport/workspace"
)

// display shows what agents do, feature by feature: by our own messages where
// the plugin takes them, else by plain LSP.
type display struct{ *client }

// A bridge asks by type what a display can do, so there is one type for each
// of the two optional abilities and one for both.
type (
	elicitor struct{ display }
	asker    struct{ display }
	both     struct{ display }
)

func (e elicitor) Elicit(ctx context.Context, session string, params jsontext.Value) (jsontext.Value, error) {
	return e.elicit(ctx, session, params)
}

func (b both) Elicit(ctx context.Context, session string, params jsontext.Value) (jsontext.Value, error) {
	return b.elicit(ctx, session, params)
}

func (a asker) AskUnsaved(ctx context.Context, session string, docs []workspace.Document) (bridge.UnsavedChoice, error) {
	return a.askUnsaved(ctx, session, docs)
}

func (b both) AskUnsaved(ctx context.Context, session string, docs []workspace.Document) (bridge.UnsavedChoice, error) {
	return b.askUnsaved(ctx, session, docs)
}

// display picks the type for what was negotiated. A plain editor is asked
// about unsaved documents by window/showMessageRequest; a plugin only where it
// says so, because it may have taken that message over.
func (c *client) display() bridge.Display {
	d := display{c}
	forms := c.able.has(wire.FeatureElicitation)
	unsaved := c.able.has(wire.FeatureUnsaved) || len(c.able.features) == 0
	switch {
	case forms && unsaved:
		return both{d}
	case forms:
		return elicitor{d}
	case unsaved:
		return asker{d}
	default:
		return d
	}
}

// Update forwards an update and those that are alike, byte for byte, or joined
// with others where the plugin wants that. It blocks while the editor has
// more than rpc.DefaultHighWater bytes to read.
func (d display) Update(ctx context.Context, u bridge.Update) {
	d.update(ctx, &u)
	u.EachAlike(func(raw jsontext.Value) {
		u.Raw = raw
		d.update(ctx, &u)
	})
}

func (d display) update(ctx context.Context, u *bridge.Update) {
	if !d.able.has(wire.FeatureUpdate) {
		d.plainUpdate(*u)
		return
	}
	if d.able.has(wire.FeatureJoin) {
		if d.joined.takes(u) {
			return
		}
		d.settleJoined(ctx)
		if d.joined.takes(u) {
			return
		}
	}
	err := d.conn.Gather(ctx, func(dst []byte) []byte { return appendUpdate(dst, u) })
	if err != nil {
		d.log.Debug("an update did not reach the editor", "session", u.Session, "error", err)
	}
}

// Flush has the updates that were gathered written.
func (d display) Flush() {
	d.conn.Flush()
	d.joined.soon(func() {
		d.settleJoined(d.tasks.ctx)
		d.conn.Flush()
	})
}

// settleJoined passes on the chunks that wait to be joined with others.
func (c *client) settleJoined(ctx context.Context) {
	if err := c.joined.send(ctx, c.conn); err != nil {
		c.log.Debug("chunks did not reach the editor", "error", err)
	}
}

// appendUpdate appends the message of one update. Nothing is decoded and
// nothing copied but the bytes themselves.
func appendUpdate(dst []byte, u *bridge.Update) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"`+wire.MethodUpdate+`","params":{"sessionId":`...)
	dst = rpc.AppendQuote(dst, u.Session)
	dst = append(dst, `,"turnId":`...)
	dst = rpc.AppendQuote(dst, u.Turn)
	dst = append(dst, `,"replay":`...)
	dst = strconv.AppendBool(dst, u.Replay)
	dst = append(dst, `,"update":`...)
	dst = append(dst, u.Raw...)
	return append(dst, "}}"...)
}

// Notice shows one sentence.
func (d display) Notice(n bridge.Notice) {
	if d.able.has(wire.FeatureNotice) {
		d.notify(wire.MethodNotice, n)
		return
	}
	d.plainNotice(n)
}

// Ask puts a card in front of the user. What the editor answers is given back
// as it is: the bridge takes an id that was not offered for a refusal.
func (d display) Ask(ctx context.Context, card *permit.Card) (permit.Answer, error) {
	if !d.able.has(wire.FeaturePermission) {
		return d.plainAsk(ctx, card)
	}
	var r wire.PermissionResult
	if err := d.call(ctx, wire.MethodPermission, permissionParams(card), &r); err != nil {
		return permit.Answer{}, err
	}
	return d.answer(card, r), nil
}

func (c *client) answer(card *permit.Card, r wire.PermissionResult) permit.Answer {
	if !offered(card, r.Option) {
		c.log.Warn("the editor picked an option that was not offered", "permission", card.ID)
	}
	return permit.Answer{Option: r.Option}
}

func offered(card *permit.Card, option string) bool {
	for _, o := range card.Options {
		if o.ID == option {
			return true
		}
	}
	return false
}

func permissionParams(card *permit.Card) wire.PermissionParams {
	return wire.PermissionParams{
		Card: wireCard(card), Options: card.Options, Diffs: card.Diffs, Paths: card.Paths,
		ToolCall: orNull(card.Raw), Reason: card.Reason, Deciding: card.Deciding,
	}
}

func wireCard(card *permit.Card) wire.Card {
	return wire.Card{ID: card.ID, Session: card.Session, Turn: card.Turn, Title: card.Title, Request: card.Request}
}

func orNull(raw jsontext.Value) jsontext.Value {
	if len(raw) == 0 {
		return jsontext.Value("null")
	}
	return raw
}

// Settled closes a card.
func (d display) Settled(card *permit.Card, o permit.Outcome) {
	if !d.able.has(wire.FeaturePermission) {
		d.plainSettled(card, o)
		return
	}
	d.notify(wire.MethodSettled, wire.SettledParams{
		Card: wireCard(card), Outcome: wire.Outcome{
			Allowed: o.Allowed, Option: o.Option, By: o.By, Name: o.Name, Why: o.Why,
			DelayMS: int64(o.Delay / time.Millisecond),
		},
	})
}

func (d display) elicit(ctx context.Context, session string, params jsontext.Value) (jsontext.Value, error) {
	var r wire.ElicitationResult
	err := d.call(ctx, wire.MethodElicitation, wire.ElicitationParams{Session: session, Params: orNull(params)}, &r)
	return r.Result, err
}

// askUnsaved asks what happens to unsaved documents. Whoever does not decide
// has them sent along: nothing is lost by that, and nothing is stale.
func (d display) askUnsaved(ctx context.Context, session string, docs []workspace.Document) (bridge.UnsavedChoice, error) {
	if !d.able.has(wire.FeatureUnsaved) {
		return d.plainUnsaved(ctx, docs)
	}
	p := wire.UnsavedParams{Session: session, Choices: unsavedChoices(d.able.has(wire.FeatureApply))}
	for _, doc := range docs {
		p.Documents = append(p.Documents, wire.UnsavedDocument{URI: doc.URI, Path: doc.Path})
	}
	var r wire.UnsavedResult
	if err := d.call(ctx, wire.MethodUnsaved, p, &r); err != nil {
		return bridge.UnsavedSend, err
	}
	for _, choice := range p.Choices {
		if choice.ID == r.Choice {
			return r.Choice, nil
		}
	}
	return bridge.UnsavedSend, nil
}

// unsavedChoices are the ways to deal with unsaved documents. LSP has no
// message that saves one.
func unsavedChoices(save bool) []wire.Choice {
	list := []wire.Choice{
		{ID: bridge.UnsavedSave, Name: "Save them first"},
		{ID: bridge.UnsavedSend, Name: "Send their text along"},
		{ID: bridge.UnsavedLeave, Name: "Leave them out"},
	}
	if !save {
		list = list[1:]
	}
	return list
}
