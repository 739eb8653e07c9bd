package bench_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"sync"

	acp "github.com/coder/acp-go-sdk"
)

// copyHop is the floor of a hop.
func copyHop() error {
	_, err := io.Copy(os.Stdout, os.Stdin)
	return err
}

// sdkHop is the typed way through acp-go-sdk: decode, encode.
func sdkHop() error {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	silent, hold := io.Pipe()
	w := &window{r: os.Stdin}
	w.moved = sync.NewCond(&w.mu)
	agentSide := acp.NewAgentSideConnection(nobody{}, os.Stdout, silent)
	clientSide := acp.NewClientSideConnection(&typedClient{to: agentSide, window: w}, io.Discard, w)
	<-clientSide.Done()
	return hold.Close()
}

// window gives the SDK the back-pressure that it lacks: it closes a connection
// on which 1024 updates wait.
type window struct {
	r     io.Reader
	mu    sync.Mutex
	moved *sync.Cond
	open  int // updates read and not handled; guarded by mu
}

func (w *window) Read(b []byte) (int, error) {
	const most = 400
	w.mu.Lock()
	for w.open > most {
		w.moved.Wait()
	}
	w.mu.Unlock()
	n, err := w.r.Read(b)
	w.mu.Lock()
	w.open += bytes.Count(b[:n], []byte("\n"))
	for err != nil && w.open > 0 { // the SDK drops what waits at the end
		w.moved.Wait()
	}
	w.mu.Unlock()
	return n, err
}

func (w *window) handled() {
	w.mu.Lock()
	w.open--
	w.mu.Unlock()
	w.moved.Signal()
}

// typedClient forwards updates; it is asked for nothing else.
type typedClient struct {
	acp.Client
	to     *acp.AgentSideConnection
	window *window
}

func (c *typedClient) SessionUpdate(ctx context.Context, n acp.SessionNotification) error {
	defer c.window.handled()
	return c.to.SessionUpdate(ctx, n)
}

type nobody struct{ acp.Agent }
