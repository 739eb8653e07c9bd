package bench_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"sallyport/bridge/rpc"
)

// flooderRole is an agent for hops that speak no protocol: once a byte came on
// stdin it does what flow.words says.
func flooderRole(args []string) error {
	f, err := readFlow(args)
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(os.Stdin, make([]byte, 1)); err != nil {
		return err
	}
	return f.write(os.Stdout)
}

// agentRole speaks as much ACP as a session needs. The prompt's text says what
// to do: "flood" and a flow, or "read PATH COUNT": so many requests
// fs/read_text_file, one after the other; "pass" with a method that nobody knows;
// "ask FILE COUNT COMMAND": see askAll.
func agentRole([]string) error {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := readLine(in)
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		m, err := rpc.Scan(line)
		if err != nil {
			return err
		}
		if m.Kind != rpc.Request {
			continue
		}
		id, result := m.ID, "{}"
		switch string(m.Method) {
		case "initialize":
			result = `{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}`
		case "session/new":
			result = `{"sessionId":"` + agentSession + `"}`
		case "session/prompt":
			if err := obey(in, promptText(m.Params)); err != nil {
				return err
			}
			result = `{"stopReason":"end_turn"}`
		}
		if _, err := fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result); err != nil {
			return err
		}
	}
}

// readLine returns a line of any length.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	whole := bytes.Clone(line)
	for err == bufio.ErrBufferFull {
		line, err = in.ReadSlice('\n')
		whole = append(whole, line...)
	}
	return whole, err
}

// promptText is the text of the first content block.
func promptText(params []byte) string {
	var p struct {
		Prompt []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	}
	if err := rpc.Unmarshal(params, &p); err != nil || len(p.Prompt) == 0 {
		return ""
	}
	return p.Prompt[0].Text
}

func obey(in *bufio.Reader, text string) error {
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil
	}
	switch args := words[1:]; words[0] {
	case "flood":
		f, err := readFlow(args)
		if err != nil {
			return err
		}
		if _, err := os.Stdout.Write(f.announce()); err != nil {
			return err
		}
		return f.write(os.Stdout)
	case "read":
		return read(in, "fs/read_text_file", args[0], args[1])
	case "pass":
		return read(in, "_bench/read", args[0], args[1])
	case "ask":
		return askAll(in, args[0], args[1], strings.Join(args[2:], " "))
	default:
		return fmt.Errorf("an order that is none: %q", text)
	}
}

func read(in *bufio.Reader, method, path, times string) error {
	count, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	quoted := rpc.AppendQuote(nil, path)
	for i := range count {
		_, err := fmt.Printf(`{"jsonrpc":"2.0","id":"r%d","method":%q,"params":{"sessionId":"%s","path":%s}}`+"\n", i, method, agentSession, quoted)
		if err != nil {
			return err
		}
		line, err := readLine(in)
		if err != nil {
			return err
		}
		if !bytes.Contains(line[:min(len(line), 200)], []byte(`"result"`)) {
			return fmt.Errorf("reading %s: %s", path, line[:min(len(line), 500)])
		}
	}
	return nil
}
