package terminal

// Calls counts the tool calls that are remembered.
func Calls(t *Terminal) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.calls)
}
