package workspace

import (
	"strings"
	"testing"
)

func TestMemory(t *testing.T) {
	var m memory
	text := strings.Repeat("x", 10)
	for _, key := range []string{"a", "b", "c"} {
		m.put(key, text, 30)
	}
	m.get("a")
	m.put("d", text, 30) // b is the least recently used
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		if _, ok := m.get(key); ok != want {
			t.Errorf("%s is known: %t; want %t", key, ok, want)
		}
	}
	m.put("d", strings.Repeat("y", 31), 30)
	if _, ok := m.get("d"); ok || m.bytes != 20 || m.order.Len() != len(m.by) {
		t.Errorf("a text that is too long: known %t, %d bytes", ok, m.bytes)
	}
	m.put("a", "short", 30)
	if got, _ := m.get("a"); got != "short" || m.bytes != 15 {
		t.Errorf("replaced: %q, %d bytes; want short, 15", got, m.bytes)
	}
	m.clear()
	if _, ok := m.get("a"); ok || m.bytes != 0 {
		t.Errorf("cleared: known %t, %d bytes", ok, m.bytes)
	}
	m.put("a", text, 30)
	if _, ok := m.get("a"); !ok {
		t.Error("nothing is remembered after it was cleared")
	}
}
