package quirk

import "sallyport/bridge/rpc"

// TerminalOutput is what a command printed, from a tool_call_update of an agent
// with TerminalContent (_meta.terminal_output_delta.data). update is borrowed.
func TerminalOutput(update []byte) (text string, ok bool) {
	meta, _ := rpc.Member(update, "_meta")
	delta, _ := rpc.Member(meta, "terminal_output_delta")
	data, ok := rpc.Member(delta, "data")
	if !ok {
		return "", false
	}
	text, err := rpc.Unquote(data)
	return text, err == nil
}
