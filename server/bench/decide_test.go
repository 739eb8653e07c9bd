package bench_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"sallyport/bridge/rpc"
)

// BenchmarkDecided: from an agent's request for a permission to its answer, as the
// agent sees it, with three deciders that are programs and answer at once, and an
// editor that is shown each card while it is being decided. ms-beyond is the median
// less that of the slowest of three such programs that are asked through pipes
// alone; wanted: at most 2. ms-rule is the same for a request that a rule allows,
// and the deciders are asked about, too.
func BenchmarkDecided(b *testing.B) {
	const times = 200
	l := attachWith(b, []string{deciderFolder(b, "one"), deciderFolder(b, "two"), deciderFolder(b, "three")})
	l.must(l.open(l.folder))
	l.delays(20, "make") // the deciders have started, once that is through
	var ours, floor, rule []time.Duration
	for b.Loop() {
		for range 5 {
			ours = append(ours, l.delays(times, "make")...)
			rule = append(rule, l.delays(times, "allowed by a rule")...)
			floor = append(floor, asked(b, times)...)
		}
	}
	b.ReportMetric(median(ours)/1e6, "ms-decided")
	b.ReportMetric(median(floor)/1e6, "ms-slowest")
	noted(b, median(rule)/1e6, "ms-rule")
	atMost(b, (median(ours)-median(floor))/1e6, "ms-beyond", 2)
	b.ReportMetric(0, "ns/op")
}

// delays has the agent ask for as many permissions, one after the other.
func (l *local) delays(times int, command string) (all []time.Duration) {
	l.tb.Helper()
	path := filepath.Join(l.folder, "delays")
	l.must(l.prompt(fmt.Sprintf("ask %s %d %s", path, times, command)))
	raw, err := os.ReadFile(path)
	l.must(err)
	for word := range strings.FieldsSeq(string(raw)) {
		n, err := strconv.ParseInt(word, 10, 64)
		l.must(err)
		all = append(all, time.Duration(n))
	}
	return all
}

// askAll asks for permissions to run a command, wants each to be allowed, and
// writes how long each took, in nanoseconds, into a file.
func askAll(in *bufio.Reader, path, times, command string) error {
	count, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	var delays []byte
	for i := range count {
		began := time.Now()
		_, err := fmt.Printf(`{"jsonrpc":"2.0","id":"p%d","method":"session/request_permission","params":{"sessionId":"%s",`+
			`"toolCall":{"toolCallId":"t%d","kind":"execute","title":"x","rawInput":{"command":%s}},`+
			`"options":[{"optionId":"a","name":"Allow","kind":"allow_once"},{"optionId":"r","name":"Reject","kind":"reject_once"}]}}`+"\n",
			i, agentSession, i, rpc.AppendQuote(nil, command))
		if err != nil {
			return err
		}
		line, err := readLine(in)
		if err != nil {
			return err
		}
		if !bytes.Contains(line, []byte(`"optionId":"a"`)) {
			return fmt.Errorf("asking for %q: %s", command, line)
		}
		delays = fmt.Appendln(delays, time.Since(began).Nanoseconds())
	}
	return os.WriteFile(path, delays, 0o600)
}

// deciderFolder makes the folder of a decider that is this binary.
func deciderFolder(tb testing.TB, name string) string {
	tb.Helper()
	folder := tb.TempDir()
	manifest, err := json.Marshal(map[string]any{
		"id": "dev.bench." + name, "command": []string{"./decider", roleWord, "decider"}, "permissions": map[string]bool{"decide": true},
	})
	if err != nil {
		tb.Fatal(err)
	}
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		tb.Fatal(err)
	}
	for file, content := range map[string][]byte{"decider.json": manifest, "decider": program} {
		if err := os.WriteFile(filepath.Join(folder, file), content, 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	return folder
}

// deciderRole allows all.
func deciderRole([]string) error {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		line, err := readLine(in)
		if err != nil {
			return nil
		}
		m, err := rpc.Scan(line)
		if err != nil {
			return err
		}
		result := `{"decision":"allow"}`
		if string(m.Method) == "initialize" {
			result = `{"protocolVersion":1,"capabilities":{}}`
		}
		if _, err := fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result); err != nil {
			return err
		}
	}
}

// asked is the floor: three deciders are asked the same through pipes, all at once,
// and the last answer is waited for.
func asked(tb testing.TB, times int) (all []time.Duration) {
	tb.Helper()
	question := []byte(`{"jsonrpc":"2.0","id":1,"method":"permissions/decide","params":{"request":{"id":"p1","kind":"command","tool":"Bash","input":{"command":"make"}}}}` + "\n")
	type end struct {
		in  *os.File
		out *bufio.Reader
	}
	var ends []end
	for range 3 {
		cmd := role("decider")
		in, toDecider := mustPipe(tb)
		fromDecider, out := mustPipe(tb)
		cmd.Stdin, cmd.Stdout = in, out
		if err := cmd.Start(); err != nil {
			tb.Fatal(err)
		}
		closeAll(in, out)
		defer func() {
			closeAll(toDecider, fromDecider)
			_ = cmd.Wait() // its input has ended
		}()
		ends = append(ends, end{toDecider, bufio.NewReader(fromDecider)})
	}
	for i := range times + 20 {
		began := time.Now()
		for _, e := range ends {
			if _, err := e.in.Write(question); err != nil {
				tb.Fatal(err)
			}
		}
		for _, e := range ends {
			if _, err := readLine(e.out); err != nil {
				tb.Fatal(err)
			}
		}
		if i >= 20 { // before, they were starting
			all = append(all, time.Since(began))
		}
	}
	return all
}
