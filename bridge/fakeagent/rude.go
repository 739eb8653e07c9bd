package fakeagent

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// rude is noise, flood, hugeLine and raw.
func (r *run) rude(s Step) error {
	args, err := r.expand(s.Args)
	if err != nil {
		return err
	}
	switch s.Name {
	case "noise":
		return r.noise(args)
	case "flood":
		return r.flood(args)
	case "hugeLine":
		return r.hugeLine(args)
	default:
		return r.raw(args)
	}
}

// noise writes lines that are no messages.
func (r *run) noise(args jsontext.Value) error {
	p := struct {
		Text  string `json:"text"`
		Bytes int    `json:"bytes"`
		Times int    `json:"times"`
		To    string `json:"to"`
	}{Times: 1}
	if err := stringOr(args, &p.Text, &p); err != nil {
		return err
	}
	line := p.Text
	if more := p.Bytes - len(line) - 1; more > 0 {
		line += strings.Repeat("x", more)
	}
	line += "\n"
	for range p.Times {
		if p.To == "stderr" {
			r.serving.stderr(line)
		} else if r.serving.out.bytes([]byte(line), 0) != nil {
			return errGone
		}
	}
	return nil
}

// stringOr decodes the short form, a string, into text, and any other into p.
func stringOr(args jsontext.Value, text *string, p any) error {
	if args.Kind() == '"' {
		return json.Unmarshal(args, text)
	}
	return json.Unmarshal(args, p)
}

// raw writes bytes as they are, with no newline of its own.
func (r *run) raw(args jsontext.Value) error {
	var p struct {
		Text   string `json:"text"`
		Base64 string `json:"base64"`
		Chunk  int    `json:"chunk"`
		To     string `json:"to"`
	}
	if err := stringOr(args, &p.Text, &p); err != nil {
		return err
	}
	data := []byte(p.Text)
	if p.Base64 != "" {
		var err error
		if data, err = base64.StdEncoding.DecodeString(p.Base64); err != nil {
			return err
		}
	}
	if p.To != "stderr" {
		return r.gone(r.serving.out.bytes(data, p.Chunk))
	}
	chunk := p.Chunk
	if chunk <= 0 {
		chunk = max(1, len(data))
	}
	for len(data) > 0 {
		n := min(chunk, len(data))
		r.serving.stderr(string(data[:n]))
		data = data[n:]
	}
	return nil
}

// updateLine is a text chunk's line around the text, its newline included.
func (r *run) updateLine() (head, tail string) {
	const mark = "\x00"
	head, tail, _ = strings.Cut(string(`{"jsonrpc":"2.0","method":"session/update","params":`+
		string(object("sessionId", quoted(r.scope.session), "update", chunkUpdate("agent_message_chunk", jsontext.Value(`"`+mark+`"`))))), mark)
	return head, tail + "}\n"
}

// hugeLine writes one line of exactly so many bytes, its newline included.
func (r *run) hugeLine(args jsontext.Value) error {
	var p struct {
		Bytes   int    `json:"bytes"`
		Chunk   int    `json:"chunk"`
		Garbage bool   `json:"garbage"`
		Head    string `json:"head"`
		Tail    string `json:"tail"`
	}
	if err := json.Unmarshal(args, &p); err != nil {
		return err
	}
	head, tail := p.Head, p.Tail+"\n"
	if !p.Garbage && head == "" {
		head, tail = r.updateLine()
	}
	fill := p.Bytes - len(head) - len(tail)
	if fill < 0 {
		return fmt.Errorf("a line has at least %d bytes here", len(head)+len(tail))
	}
	return r.gone(r.serving.out.stream(head, fill, tail, p.Chunk))
}

// burst is how many bytes a flood in bursts writes at once.
const burst = 64 << 10

// flood writes n text chunks as fast as the client takes them. Each text
// starts with its number, from 0, in eight digits and a space.
func (r *run) flood(args jsontext.Value) error {
	p := struct {
		N     int  `json:"n"`
		Size  int  `json:"size"`
		Burst bool `json:"burst"`
	}{Size: 265}
	if err := json.Unmarshal(args, &p); err != nil {
		return err
	}
	head, tail := r.updateLine()
	fill := strings.Repeat("x", max(0, p.Size-len(head)-len(tail)-9))
	var pending bytes.Buffer
	for i := range p.N {
		if r.heeds && r.cancelled() {
			return errCancelled
		}
		fmt.Fprintf(&pending, "%s%08d %s%s", head, i, fill, tail)
		if p.Burst && pending.Len() < burst && i < p.N-1 {
			continue
		}
		if r.serving.out.bytes(pending.Bytes(), 0) != nil {
			return errGone
		}
		pending.Reset()
	}
	return nil
}
