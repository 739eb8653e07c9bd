package terminal

import "sallyport/bridge"

// Calls counts the tool calls that are remembered.
func Calls(t *Terminal) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.calls)
}

// Changed is what is said at a turn's end of what it changed.
func Changed(t *Terminal, r bridge.TurnResult) { t.changed(r) }
