package bench_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"sallyport/bridge/rpc"
	"sallyport/workspace"
)

// editor is the least that a plugin must do: it frames, counts and answers. It
// allocates nothing for an update, so that it can share a process with what is
// measured.
type editor struct {
	in  *bufio.Reader
	out io.Writer

	ids     int
	session string
	counts
	slow
	acker
}

// counts is what came.
type counts struct {
	updates int
	bytes   int // of updates
}

// slow is how an editor takes updates.
type slow struct {
	pause    time.Duration        // after each update
	numbered bool                 // each text begins with its number, from 0, in eight digits
	look     func(c counts) error // called after each update; may be nil
}

func newEditor(in io.Reader, out io.Writer) *editor {
	return &editor{in: bufio.NewReaderSize(in, 64<<10), out: out}
}

// open says hello and begins a session in folder.
func (e *editor) open(folder string) error {
	if err := e.initialize(folder); err != nil {
		return err
	}
	return e.begin()
}

func (e *editor) initialize(folder string) error {
	hello := fmt.Sprintf(`{"processId":null,"clientInfo":{"name":"bench"},"rootUri":null,"capabilities":{"general":{"positionEncodings":["utf-16"]}},`+
		`"workspaceFolders":[{"uri":%q,"name":"bench"}],"initializationOptions":{"sallyport":{"client":"bench","version":"1",`+
		`"features":["update","notice","permission","apply","context","elicitation","unsaved","deciding"]}}}`, workspace.URIOf(folder))
	if _, err := e.request("initialize", hello); err != nil {
		return err
	}
	return e.send("", "initialized", "{}")
}

func (e *editor) begin() error {
	result, err := e.request("sallyport/session/new", "{}")
	if err != nil {
		return err
	}
	id, _ := rpc.Member(result, "sessionId")
	e.session, err = rpc.Unquote(id)
	return err
}

// prompt runs one turn.
func (e *editor) prompt(text string) error {
	params := fmt.Appendf(nil, `{"sessionId":%q,"prompt":[{"type":"text","text":`, e.session)
	params = append(rpc.AppendQuote(params, text), "}]}"...)
	_, err := e.request("sallyport/session/prompt", string(params))
	return err
}

// send writes one message; id is empty for a notification.
func (e *editor) send(id, method, params string) error {
	return e.write(fmt.Appendf(nil, `{"jsonrpc":"2.0",%s"method":%q,"params":%s}`, id, method, params))
}

func (e *editor) write(body []byte) error {
	framed := fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body))
	_, err := e.out.Write(append(framed, body...))
	return err
}

// request sends a request and reads until its answer, counting updates.
func (e *editor) request(method, params string) (result []byte, err error) {
	e.ids++
	id := strconv.Itoa(e.ids)
	if err := e.send(`"id":`+id+`,`, method, params); err != nil {
		return nil, err
	}
	for {
		body, err := e.next()
		if err != nil {
			return nil, fmt.Errorf("waiting for the answer to %s: %w", method, err)
		}
		if body == nil {
			continue
		}
		m, err := rpc.Scan(body)
		switch {
		case err != nil:
			return nil, err
		case m.Kind == rpc.Response && string(m.ID) == id:
			if m.Error != nil {
				return nil, fmt.Errorf("%s: %s", method, m.Error)
			}
			return m.Result, nil
		case m.Kind == rpc.Request:
			no := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"not here"}}`, m.ID)
			if err := e.write(no); err != nil {
				return nil, err
			}
		}
	}
}

var updateHead = []byte(`{"jsonrpc":"2.0","method":"sallyport/session/update",`)

// next reads one frame. It returns nil for an update, which it counts, and else
// the message.
func (e *editor) next() (body []byte, err error) {
	length, err := e.header()
	if err != nil {
		return nil, err
	}
	head, err := e.in.Peek(min(length, 512))
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(head, updateHead) {
		body = make([]byte, length)
		_, err := io.ReadFull(e.in, body)
		return body, err
	}
	if e.numbered {
		if err := e.inOrder(head); err != nil {
			return nil, err
		}
	}
	if _, err := e.in.Discard(length); err != nil {
		return nil, err
	}
	return nil, e.took(length)
}

// took counts an update.
func (e *editor) took(length int) error {
	e.updates++
	e.bytes += length
	e.came(1)
	if e.pause > 0 {
		wait(e.pause)
	}
	if e.look != nil {
		return e.look(e.counts)
	}
	return nil
}

var lengthHead = []byte("Content-Length: ")

// header reads the header of a frame.
func (e *editor) header() (length int, err error) {
	length = -1
	for {
		line, err := e.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case len(line) == 0 && length >= 0:
			return length, nil
		case !bytes.HasPrefix(line, lengthHead):
			return 0, fmt.Errorf("a header that is none: %q", line)
		}
		length = 0
		for _, digit := range line[len(lengthHead):] {
			length = 10*length + int(digit-'0')
		}
	}
}

// inOrder checks the number that an update's text begins with.
func (e *editor) inOrder(head []byte) error {
	_, text, _ := bytes.Cut(head, []byte(`"text":"`))
	if len(text) < 8 {
		return fmt.Errorf("update %d has no text: %q", e.updates, head)
	}
	if number, err := strconv.Atoi(string(text[:8])); err != nil || number != e.updates {
		return fmt.Errorf("update %d begins with %q", e.updates, text[:8])
	}
	return nil
}

// editorRole is an editor that takes orders, one a line, from file 3, and tells
// on file 4 when each is done. args = "lsp FOLDER": the first order is given, to
// open a session; then "EVERY ACKS PROMPT" runs a turn. args = "lines COUNT EVERY
// ACKS": for hops that speak no protocol, it reads to the end. args = "acp FOLDER":
// as lsp, but it is an ACP client.
func editorRole(args []string) error {
	orders, events := os.NewFile(3, "orders"), os.NewFile(4, "events")
	if args[0] == "lines" {
		return countLines(args[1], args[2], args[3], events)
	}
	if args[0] == "acp" {
		return acpRole(args[1], orders, events)
	}
	e := newEditor(os.Stdin, os.Stdout)
	if err := e.open(args[1]); err != nil {
		return err
	}
	fmt.Fprintln(events, "open")
	for in := bufio.NewScanner(orders); in.Scan(); {
		words := strings.SplitN(in.Text(), " ", 3)
		var err error
		if e.acker, err = newAcker(words[0], words[1]); err != nil {
			return err
		}
		e.counts = counts{}
		if err := e.prompt(words[2]); err != nil {
			return err
		}
		fmt.Fprintln(events, e.updates)
	}
	return nil
}

// countLines tells when so many lines have come.
func countLines(count, every, acks string, events io.Writer) error {
	left, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	ack, err := newAcker(every, acks)
	if err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := os.Stdin.Read(buf)
		lines := bytes.Count(buf[:n], []byte("\n"))
		ack.came(lines)
		if left > 0 {
			if left -= lines; left <= 0 {
				fmt.Fprintln(events, count)
			}
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}
