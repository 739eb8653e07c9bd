package fakeagent

import (
	"strconv"
	"sync"

	stdjson "encoding/json" // the SDK encodes results with it

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// rawResult passes a result through the SDK's encoder as it is.
func rawResult(v jsontext.Value) any {
	if v == nil {
		return nil
	}
	return stdjson.RawMessage(v)
}

// requests are the ones that we sent. They do not go through the SDK: a
// script chooses their ids, and a reply may be longer than the SDK takes.
type requests struct {
	mu      sync.Mutex
	next    int                     // guarded by mu
	waiting map[string]chan message // guarded by mu; each channel holds one
}

// open makes an id, if none is given, and says where its reply will come.
func (q *requests) open(id jsontext.Value) (jsontext.Value, <-chan message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(id) == 0 {
		id = jsontext.Value(strconv.Itoa(q.next))
		q.next++
	}
	if q.waiting == nil {
		q.waiting = map[string]chan message{}
	}
	ch := make(chan message, 1)
	q.waiting[idKey(id)] = ch
	return id, ch
}

// reply hands a response to who waits for it; false if nobody does.
func (q *requests) reply(m message) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	ch, ok := q.waiting[idKey(m.ID)]
	if !ok {
		return false
	}
	delete(q.waiting, idKey(m.ID))
	ch <- m
	return true
}

// request sends one and waits for its reply. Errors are of the connection; an
// error of the client is in the reply.
func (r *run) request(method string, params, id jsontext.Value) (message, error) {
	id, reply := r.serving.requests.open(id)
	err := r.serving.out.message(message{ID: id, Method: method, Params: params})
	r.moved()
	if err != nil {
		return message{}, errGone
	}
	select {
	case m := <-reply:
		return m, r.checkReply(method, m)
	case <-r.serving.gone:
		return message{}, errGone
	}
}

// remember keeps what came of a request: the text, and the error's message
// and code, empty without an error.
func (r *run) remember(as, text string, m message) {
	if as == "" {
		return
	}
	var e struct {
		Code    jsontext.Value `json:"code"`
		Message string         `json:"message"`
	}
	if len(m.Error) > 0 {
		if err := json.Unmarshal(m.Error, &e); err != nil {
			e.Message = string(m.Error)
		}
	}
	v := &r.serving.memory.vars
	v.set(as, text)
	v.set(as+".error", e.Message)
	v.set(as+".code", string(e.Code))
}
