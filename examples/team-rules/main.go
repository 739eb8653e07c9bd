package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func main() {
	team, err := readTeam("rules.json")
	if err == nil {
		err = serve(os.Stdin, os.Stdout, team)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "team-rules: %v\n", err)
		os.Exit(1)
	}
}

// request is one message of Sallyport. Members that we do not know are ignored.
type request struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
}

// reply is one message to Sallyport.
type reply struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Result  any            `json:"result,omitzero"`
	Error   *failure       `json:"error,omitzero"`
}

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// serve answers lines until it is asked to shut down or they end.
func serve(in io.Reader, out io.Writer, team *team) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var m request
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			if err := say(out, reply{ID: jsontext.Value("null"), Error: &failure{-32700, "parse error"}}); err != nil {
				return err
			}
			continue
		}
		if len(m.ID) == 0 {
			continue // a notification
		}
		answer := reply{ID: m.ID}
		switch m.Method {
		case "initialize":
			answer.Result = map[string]any{"protocolVersion": 1, "capabilities": struct{}{}}
		case "permissions/decide":
			answer.Result = team.decide(m.Params)
		case "shutdown":
			answer.Result = jsontext.Value("null")
		default:
			answer.Error = &failure{-32601, "method not found"}
		}
		if err := say(out, answer); err != nil || m.Method == "shutdown" {
			return err
		}
	}
	return lines.Err()
}

func say(out io.Writer, r reply) error {
	r.Version = "2.0"
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = out.Write(append(line, '\n'))
	return err
}
