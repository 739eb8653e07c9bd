package facade

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
)

// agentOption is the id of the config option by which the client's user picks an
// agent.
const agentOption = "sallyport.agent"

// offer is what a session offers besides the agent's own.
type offer struct {
	commands map[string]bool // the agent's slash commands, by name
	told     bool            // the client has a list of commands
	spoken   bool            // a prompt was sent: another agent would know nothing of it
	options  jsontext.Value  // the agent's config options as it told them last
	picks    []pick          // what an agent without any has instead
}

// configOption is a config option of type select (ACP v1, SessionConfigOption).
type configOption struct {
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	Description string        `json:"description,omitzero"`
	Category    string        `json:"category,omitzero"`
	Type        string        `json:"type"`
	Current     string        `json:"currentValue"`
	Options     []configValue `json:"options"`
	Meta        marked        `json:"_meta"`
}

type configValue struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
}

// choices is our config option for a session of an agent; nil where there is
// nothing to pick from.
func (c *client) choices(agent string) *configOption {
	if c.Choices == nil {
		return nil
	}
	o := &configOption{ID: agentOption, Name: "Agent", Description: "Which agent Sallyport starts", Type: "select", Current: agent, Meta: marked{struct{}{}}}
	for _, choice := range c.Choices() {
		o.Options = append(o.Options, configValue{Value: choice.ID, Name: choice.Name})
	}
	if !slices.ContainsFunc(o.Options, func(v configValue) bool { return v.Value == agent }) {
		o.Options = append(o.Options, configValue{Value: agent, Name: agent})
	}
	return o
}

// learnOffer adds our config option to an agent's answer that opens a session.
func (e *entry) learnOffer(answer jsontext.Value, o *configOption) jsontext.Value {
	if o == nil {
		return answer
	}
	with, err := rpc.SetMember(answer, "configOptions", withOption(e.offered(answer), o))
	if err != nil {
		return answer
	}
	return with
}

// offered are the config options that an agent tells, which are noted: those for what
// it has instead while it has none.
func (e *entry) offered(told jsontext.Value) []byte {
	list, _ := rpc.Member(told, "configOptions")
	picks := picksOf(told)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case !isNone(list):
		e.offer.picks = nil
	case picks != nil:
		e.offer.picks = picks
	}
	if e.offer.picks != nil {
		list = listOf(e.offer.picks)
	}
	if len(list) > 0 && list[0] == '[' {
		e.offer.options = bytes.Clone(list)
	}
	return list
}

// updateOptions adds our config option to an update, which tells all of them.
func (d display) updateOptions(e *entry, u *bridge.Update) {
	o := d.choices(e.harness())
	if o == nil {
		return
	}
	if err := setMember(u, "configOptions", withOption(e.offered(u.Raw), o)); err != nil {
		d.log.Debug("our option was not added", "error", err)
	}
}

// withOption is a list of config options with ours behind them.
func withOption(list []byte, o *configOption) []byte {
	ours, err := json.Marshal(o)
	if err != nil { // strings only
		return list
	}
	return appended(list, ours)
}

// appended is a JSON array with more elements, which is an array of its own when
// it was none.
func appended(list []byte, more ...[]byte) []byte {
	empty := true
	out := []byte{'['}
	if len(list) > 1 && list[0] == '[' {
		out = append(out[:0], list[:len(list)-1]...)
		empty = isEmpty(list)
	}
	for _, element := range more {
		if !empty {
			out = append(out, ',')
		}
		out, empty = append(out, element...), false
	}
	return append(out, ']')
}

// isEmpty reports whether a JSON array has no element.
func isEmpty(list []byte) bool {
	for _, b := range list[1 : len(list)-1] {
		switch b {
		case ' ', '\t', '\r', '\n':
		default:
			return false
		}
	}
	return true
}

// setOption passes session/set_config_option on, unless it picks an agent. In the
// session's lane.
func (q *call) setOption(e *entry) {
	value, _ := rpc.Member(q.params, "configId")
	option, err := rpc.Unquote(value)
	if p, ok := e.pick(option); ok {
		q.setPick(e, p)
		return
	}
	if err != nil || option != agentOption || q.Choices == nil {
		t := bridge.Through{Session: e.known(), ID: q.id, Method: q.method, Params: q.params}
		q.side().Forward(q.ctx, t, func(result jsontext.Value, err error) {
			if err == nil {
				result = e.learnOffer(result, q.choices(e.harness()))
			}
			q.answer(result, err)
		})
		return
	}
	value, _ = rpc.Member(q.params, "value")
	agent, err := rpc.Unquote(value)
	switch {
	case err != nil:
		q.fail(ours(rpc.InvalidParams, "value is no agent"))
	case agent == e.harness():
		q.current(e)
	default:
		q.switchTo(e, agent)
	}
}

func (e *entry) harness() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.agent
}

// current answers set_config_option with the options of now.
func (q *call) current(e *entry) {
	e.mu.Lock()
	agent, list := e.agent, e.offer.options
	e.mu.Unlock()
	q.answer(optionsOf(list, q.choices(agent)), nil)
}

// optionsOf is SetSessionConfigOptionResponse of an agent's options and ours.
func optionsOf(list []byte, o *configOption) jsontext.Value {
	return append(append(jsontext.Value(`{"configOptions":`), withOption(list, o)...), '}')
}

// switchTo has another agent go on in a session, which begins anew with it.
func (q *call) switchTo(e *entry, agent string) {
	e.mu.Lock()
	running := slices.Contains(slices.Collect(maps.Values(e.prompts)), true) // what was said behind this waits for it
	e.mu.Unlock()
	if running {
		q.fail(ours(rpc.InvalidRequest, "a turn is running: pick another agent when it has ended"))
		return
	}
	select {
	case e.turn <- struct{}{}: // at once, or when the turn that was answered is put away
		defer func() { <-e.turn }()
	case <-q.ctx.Done():
		q.fail(context.Cause(q.ctx))
		return
	}
	before := e.known()
	e.mu.Lock()
	folder, spoken, opening := e.folder, e.offer.spoken, e.opening.params
	e.mu.Unlock()
	wire := &bridge.Wire{Params: opening, Answered: func(i bridge.Info, answer jsontext.Value) {
		early := q.table.rebind(e, i, opening)
		q.answer(optionsOf(e.offered(answer), q.choices(i.Agent)), nil)
		for _, n := range early {
			q.notice(e, n)
		}
	}}
	p, err := readPlace(opening)
	if err != nil {
		p = place{Cwd: folder}
	}
	if _, err := q.side().New(q.ctx, bridge.NewSession{Agent: agent, Folder: p.Cwd, Roots: p.Roots, MCP: p.MCP, Wire: wire}); err != nil {
		if e.known() == before {
			q.fail(err)
			return
		}
		q.log.Warn("an agent ended while it was opened", "error", err)
		return
	}
	if err := q.side().Release(q.life, before); err != nil {
		q.log.Debug("releasing a session", "error", err)
	}
	if spoken {
		q.notice(e, bridge.Notice{Kind: bridge.NoticeNew, Level: bridge.Warning, Text: "another agent goes on here, and knows nothing of the conversation", Hint: "tell it what it needs to know"})
	}
	q.sayCommands(e)
}
