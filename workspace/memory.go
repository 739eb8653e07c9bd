package workspace

import (
	"container/list"
	"sync"
)

// defaultRemember bytes of texts are kept as bases.
const defaultRemember = 64 << 20

// memory keeps the texts that a session knows, the least recently used go first. The zero
// value is empty. It is safe for concurrent use.
type memory struct {
	mu    sync.Mutex
	order list.List // of *known, most recent first
	by    map[string]*list.Element
	bytes int64
}

// known is a text that the session has read, or has asked to be written.
type known struct{ key, text string }

func (m *memory) put(key, text string, limit int64) {
	if limit <= 0 {
		limit = defaultRemember
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropLocked(m.by[key])
	if int64(len(text)) > limit {
		return
	}
	if m.by == nil {
		m.by = map[string]*list.Element{}
	}
	m.by[key] = m.order.PushFront(&known{key, text})
	m.bytes += int64(len(text))
	for m.bytes > limit {
		m.dropLocked(m.order.Back())
	}
}

func (m *memory) get(key string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.by[key]
	if e == nil {
		return "", false
	}
	m.order.MoveToFront(e)
	k, _ := e.Value.(*known)
	return k.text, true
}

// clear forgets everything.
func (m *memory) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.by, m.bytes = nil, 0
	m.order.Init()
}

func (m *memory) dropLocked(e *list.Element) {
	if e == nil {
		return
	}
	k, _ := m.order.Remove(e).(*known)
	delete(m.by, k.key)
	m.bytes -= int64(len(k.text))
}
