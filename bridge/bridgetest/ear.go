package bridgetest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
)

// Ear stands between an agent and its model and keeps what the agent said.
type Ear struct {
	URL string // in the place of the model's

	mu    sync.Mutex
	heard []string // bodies of requests
}

// Listen passes on to the model at target until the test ends.
func Listen(t testing.TB, target string) *Ear {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	e := &Ear{}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		FlushInterval: -1,                                                 // a model's answer is a stream
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) {}, // an agent that hangs up
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		e.mu.Lock()
		e.heard = append(e.heard, string(body))
		e.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	e.URL = server.URL
	return e
}

// Words is what the model was told, by whom.
type Words struct {
	Tools string // results of tools
	Rest  string // all else: prompts, earlier answers
}

// Since is what came after the first n requests.
func (e *Ear) Since(n int) (w Words) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, body := range e.heard[n:] {
		var v any
		if json.Unmarshal([]byte(body), &v) != nil {
			continue // a HEAD
		}
		w.take(v, false)
	}
	return w
}

// Count is how many requests came so far.
func (e *Ear) Count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.heard)
}

// take collects strings; those below a tool's result apart. The four ways of
// saying so: role "tool" (OpenAI chat), a type that ends with "_output" (OpenAI
// responses), type "tool_result" (Anthropic), member functionResponse (Gemini).
func (w *Words) take(v any, tool bool) {
	switch v := v.(type) {
	case string:
		if tool {
			w.Tools += v + "\n"
		} else {
			w.Rest += v + "\n"
		}
	case []any:
		for _, x := range v {
			w.take(x, tool)
		}
	case map[string]any:
		kind, _ := v["type"].(string)
		role, _ := v["role"].(string)
		tool = tool || role == "tool" || kind == "tool_result" || strings.HasSuffix(kind, "_output")
		for name, x := range v {
			w.take(x, tool || name == "functionResponse")
		}
	}
}
