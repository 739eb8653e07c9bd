package facade

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge"
	"sallyport/bridge/rpc"
)

// pick is a config option for what an agent lets its user pick by an older way: a
// client that is given config options heeds no modes and no models.
type pick struct {
	configOption
	method, member string // the request that sets it, and the member with the value
}

// modeOption is the id of the one for modes.
const modeOption = "sallyport.mode"

// picksOf reads the modes and the models of an agent's answer that opens a session.
func picksOf(answer []byte) (all []pick) {
	var said struct {
		Modes struct {
			Current string `json:"currentModeId"`
			All     []struct {
				ID          string `json:"id"`
				Name        string `json:"name"`
				Description string `json:"description"`
			} `json:"availableModes"`
		} `json:"modes"`
		Models struct {
			Current string `json:"currentModelId"`
			All     []struct {
				ID          string `json:"modelId"`
				Name        string `json:"name"`
				Description string `json:"description"`
			} `json:"availableModels"`
		} `json:"models"`
	}
	_ = rpc.Unmarshal(answer, &said) // what is odd there is not picked
	modes := pick{configOption{ID: modeOption, Name: "Mode", Category: "mode", Type: "select", Current: said.Modes.Current, Meta: marked{struct{}{}}}, "session/set_mode", "modeId"}
	for _, m := range said.Modes.All {
		modes.Options = append(modes.Options, configValue{m.ID, m.Name, m.Description})
	}
	models := pick{configOption{ID: "sallyport.model", Name: "Model", Category: "model", Type: "select", Current: said.Models.Current, Meta: marked{struct{}{}}}, "session/set_model", "modelId"}
	for _, m := range said.Models.All {
		models.Options = append(models.Options, configValue{m.ID, m.Name, m.Description})
	}
	for _, p := range []pick{modes, models} {
		if len(p.Options) > 0 {
			all = append(all, p)
		}
	}
	return all
}

// isNone reports whether an agent has no config options.
func isNone(list []byte) bool { return len(list) < 2 || list[0] != '[' || isEmpty(list) }

// listOf are picks as elements of configOptions.
func listOf(picks []pick) []byte {
	list := []byte("[]")
	for _, p := range picks {
		list = withOption(list, &p.configOption)
	}
	return list
}

func (e *entry) pick(option string) (pick, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.offer.picks, func(p pick) bool { return p.ID == option })
	if i < 0 {
		return pick{}, false
	}
	return e.offer.picks[i], true
}

// picked notes a value, and gives all options of now; false: there is no such pick,
// or it has that value.
func (e *entry) picked(option, value string) (list []byte, changed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.offer.picks {
		if p := &e.offer.picks[i]; p.ID == option && p.Current != value {
			p.Current, changed = value, true
		}
	}
	if changed {
		e.offer.options = listOf(e.offer.picks)
	}
	return e.offer.options, changed
}

// setPick has the agent set what one of these config options stands for.
func (q *call) setPick(e *entry, p pick) {
	given, _ := rpc.Member(q.params, "value")
	value, err := rpc.Unquote(given)
	if err != nil {
		q.fail(ours(rpc.InvalidParams, "value is no text"))
		return
	}
	params := jsontext.Value(`{"sessionId":` + string(e.quoted) + `,"` + p.member + `":` + string(given) + `}`)
	t := bridge.Through{Session: e.known(), ID: q.id, Method: p.method, Params: params}
	q.side().Forward(q.ctx, t, func(_ jsontext.Value, err error) {
		if err != nil {
			q.fail(err)
			return
		}
		list, _ := e.picked(p.ID, value)
		q.answer(optionsOf(list, q.choices(e.harness())), nil)
	})
}

// updateMode tells a mode that the agent changed as the config option that stands
// for it, too.
func (d display) updateMode(e *entry, update []byte) {
	list, changed := e.picked(modeOption, memberText(update, "currentModeId"))
	if !changed {
		return
	}
	d.update(e, struct {
		Kind    string         `json:"sessionUpdate"`
		Options jsontext.Value `json:"configOptions"`
		Meta    marked         `json:"_meta"`
	}{"config_option_update", withOption(list, d.choices(e.harness())), marked{struct{}{}}})
}

func memberText(object []byte, name string) string {
	value, _ := rpc.Member(object, name)
	text, _ := rpc.Unquote(value)
	return text
}
