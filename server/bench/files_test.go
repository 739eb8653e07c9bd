package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sallyport/bridge/rpc"
	"sallyport/workspace"
)

const megabyte = 1 << 20

// escaping has what JSON escapes, as code has it: tabs, quotes and line ends.
var escaping = strings.Repeat("if x < 1 {\treturn \"é\" }\n", megabyte/26)

// openDocument opens one document as go, text unescaped.
func (e *editor) openDocument(path, text string) error {
	p := fmt.Appendf(nil, `{"textDocument":{"uri":%q,"languageId":"go","version":1,"text":`, workspace.URIOf(path))
	return e.send("", "textDocument/didOpen", string(append(rpc.AppendQuote(p, text), "}}"...)))
}

// BenchmarkRead1MB: the processor time of serve for one fs/read_text_file of an
// open buffer of 1 MB that was not saved, against copying and escaping the text.
// cpu/escape is all that serve does, with the write to the pipe, of 16 system
// calls and as many waits; less-pipe/escape is without that write, which is taken
// to be half of what a bare copy of as many bytes costs. Wanted: at most 3.
func BenchmarkRead1MB(b *testing.B) {
	const times = 50
	l := attach(b)
	l.must(l.open(l.folder))
	path := filepath.Join(l.folder, "a.go")
	l.must(os.WriteFile(path, []byte("package a\n"), 0o600))
	l.must(l.openDocument(path, escaping))
	read := fmt.Sprintf("read %s %d", path, times)
	l.must(l.prompt(read))
	var ours, floor, pipe []time.Duration
	for b.Loop() {
		for range 5 {
			before := mustCPU(b, l.pid())
			l.must(l.prompt(read))
			ours = append(ours, (mustCPU(b, l.pid())-before)/times)
			floor = append(floor, escape(times))
			copied := throughHop(b, "copy", flow{payload: large, count: times}).cpu / times
			pipe = append(pipe, copied/2)
		}
	}
	b.ReportMetric(median(floor)/1e3, "µs-escape")
	b.ReportMetric(median(ours)/1e3, "µs-serve")
	atMost(b, ratio(ours, floor), "cpu/escape", 3)
	noted(b, (median(ours)-median(pipe))/median(floor), "less-pipe/escape")
	b.ReportMetric(0, "ns/op")
}

// escape is the time for one copy and one escaping of the text.
func escape(times int) time.Duration {
	var buf []byte
	start := time.Now()
	for range times {
		buf = rpc.AppendQuote(buf[:0], strings.Clone(escaping))
	}
	return time.Since(start) / time.Duration(times)
}

// BenchmarkEdits: changes of one character all over a document of 10 MB. The
// processor time of serve for each must not depend on how many there are:
// 100k/10k is wanted to be about 1. grown/doc is by how much the resident memory
// of serve was larger at its peak than before the document was opened, for each
// byte of it; wanted: at most 4. peak/doc has the program itself in it.
func BenchmarkEdits(b *testing.B) {
	const size = 10 * megabyte
	text := strings.NewReplacer(`\t`, "\t", `\n`, "\n").Replace(manyLines(size))
	var few, many []time.Duration
	var peaks, idles []int64 // resident memory
	for b.Loop() {
		for range 3 {
			l := attach(b)
			l.must(l.initialize(l.folder))
			l.must(l.sync())
			idle, _ := l.memory()
			path := filepath.Join(l.folder, "a.go")
			l.must(os.WriteFile(path, []byte(text), 0o600))
			l.must(l.openDocument(path, text))
			l.must(l.sync())
			few = append(few, l.typing(path, 10_000, 0)/10_000)
			many = append(many, l.typing(path, 100_000, 10_000)/100_000)
			_, peak := l.memory()
			peaks, idles = append(peaks, int64(peak)), append(idles, int64(idle))
			l.hang()
			l.stop()
		}
	}
	b.ReportMetric(median(few)/1e3, "µs-of-10k")
	b.ReportMetric(median(many)/1e3, "µs-of-100k")
	b.ReportMetric(median(idles)/megabyte, "MB-idle")
	atMost(b, ratio(many, few), "100k/10k", 1.2)
	atMost(b, (median(peaks)-median(idles))/size, "grown/doc", 4)
	noted(b, median(peaks)/size, "peak/doc")
	b.ReportMetric(0, "ns/op")
}

// typing sends n changes and returns the processor time that they took. Lines
// have 64 characters.
func (l *local) typing(path string, n, version int) time.Duration {
	l.tb.Helper()
	uri := workspace.URIOf(path)
	var out []byte
	before := mustCPU(l.tb, l.pid())
	for i := range n {
		line, column := i*7919%(10*megabyte/65), i*31%60
		body := fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":%q,"version":%d},"contentChanges":[`+
			`{"range":{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}},"text":"x"}]}}`, uri, version+i+2, line, column, line, column)
		out = fmt.Appendf(out, "Content-Length: %d\r\n\r\n%s", len(body), body)
		if len(out) > 32<<10 || i == n-1 {
			_, err := l.out.Write(out)
			l.must(err)
			out = out[:0]
		}
	}
	l.must(l.sync())
	return mustCPU(l.tb, l.pid()) - before
}
