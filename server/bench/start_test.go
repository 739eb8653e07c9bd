package bench_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hello builds a program that does nothing but links the packages that the
// binary links, except our own.
func hello(tb testing.TB) string {
	tb.Helper()
	cmd := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}", "sallyport/cmd/sallyport")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	list, err := cmd.Output()
	if err != nil {
		tb.Fatal(err)
	}
	source := "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n"
	for path := range strings.FieldsSeq(string(list)) {
		parts := "/" + path + "/"
		switch {
		case strings.Contains(parts, "/internal/"), strings.Contains(parts, "/vendor/"), strings.HasPrefix(path, "sallyport/"),
			path == "unsafe", path == "main":
			continue
		}
		source += fmt.Sprintf("\t_ %q\n", path)
	}
	source += ")\n\nfunc main() {\n\tfmt.Println(\"hello\")\n\t_, _ = os.Stdin.Read(make([]byte, 1))\n}\n"
	file := filepath.Join(tb.TempDir(), "hello.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		tb.Fatal(err)
	}
	path, err := build("hello", file)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// BenchmarkStart: from the start of the process to the answer to initialize,
// against a program with the same packages that prints a line. Wanted:
// wall/hello at most 1.3. cpu/hello has what is done after the answer, too.
func BenchmarkStart(b *testing.B) {
	greeter := hello(b)
	_ = binary(b)
	var bare, ours, bareCPU, oursCPU []time.Duration
	for b.Loop() {
		for range 41 {
			wall, cpu := greet(b, greeter)
			bare, bareCPU = append(bare, wall), append(bareCPU, cpu)
			l := attach(b)
			l.must(l.initialize(l.folder))
			ours = append(ours, time.Since(l.began))
			oursCPU = append(oursCPU, mustCPU(b, l.pid()))
			l.hang()
			l.stop()
		}
	}
	b.ReportMetric(median(bare)/1e6, "ms-hello")
	b.ReportMetric(median(ours)/1e6, "ms-serve")
	atMost(b, ratio(ours, bare), "wall/hello", 1.3)
	noted(b, ratio(oursCPU, bareCPU), "cpu/hello")
	b.ReportMetric(0, "ns/op")
}

// greet starts the program and waits for its line.
func greet(b *testing.B, program string) (wall, cpu time.Duration) {
	cmd := exec.Command(program)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		b.Fatal(err)
	}
	wall, cpu = time.Since(start), mustCPU(b, cmd.Process.Pid)
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return wall, cpu
}

// BenchmarkIdle: the resident memory of serve after initialize, with a session,
// and with a thousand open documents of 2 KB. Wanted: below 20 MB when idle.
func BenchmarkIdle(b *testing.B) {
	var initialized, session, documents, threads []int64
	resident := func(l *local) int64 {
		settle(b, l.pid())
		now, _ := l.memory()
		return int64(now)
	}
	for b.Loop() {
		l := attach(b)
		l.must(l.initialize(l.folder))
		initialized = append(initialized, resident(l))
		l.must(l.begin())
		session = append(session, resident(l))
		before := threadsOf(l.pid())
		makeFiles(b, l.folder, 1000)
		l.must(l.openDocuments(l.folder, 1000))
		documents = append(documents, resident(l))
		threads = append(threads, int64(threadsOf(l.pid())-before))
		l.hang()
		l.stop()
	}
	atMost(b, median(initialized)/megabyte, "MB-initialized", 20)
	atMost(b, median(session)/megabyte, "MB-session", 20)
	noted(b, median(documents)/megabyte, "MB-1000-documents")
	atMost(b, median(threads), "threads-more", 2)
	b.ReportMetric(0, "ns/op")
}

// No goroutine is kept for an open document.
func TestDocumentsHaveNoGoroutines(t *testing.T) {
	in := openInside(t)
	makeFiles(t, in.folder, 1000)
	if err := in.sync(); err != nil {
		t.Fatal(err)
	}
	if err := in.openDocuments(in.folder, 1); err != nil { // their folders are watched from the first on
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	if err := in.openDocuments(in.folder, 1000); err != nil {
		t.Fatal(err)
	}
	const late = 10 // the server's own, that the first documents start
	if after := runtime.NumGoroutine(); after > before+late {
		t.Errorf("%d goroutines with 1000 documents, %d with one", after, before)
	}
}
