package rpc_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"sallyport/bridge/rpc"
)

// A process between two pipes: every update comes through, in order, among them
// one of 64 MiB.
func TestStdio_Hop(t *testing.T) {
	const updates, large = 20_000, 10_000
	hop := role("hop-ours")
	hop.Stderr = os.Stderr
	in, err := hop.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := hop.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := hop.Start(); err != nil {
		t.Fatal(err)
	}
	update := func(i int) string {
		pad := strings.Repeat("y", i%1000)
		if i == large {
			pad = strings.Repeat("z", rpc.DefaultMax-200)
		}
		return fmt.Sprintf(`{"sessionId":"s","n":%d,"pad":"%s"}`, i, pad)
	}
	go func() {
		defer in.Close()
		for i := range updates {
			if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","method":"session/update","params":%s}`+"\n", update(i)); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	next := 0
	editor := rpc.New(out, io.Discard, rpc.Headers{})
	editor.Handle = func(m *rpc.Message) {
		if want := update(next); !bytes.Equal(m.Params, []byte(want)) {
			t.Fatalf("update %d: got %.60s, want %.60s", next, m.Params, want)
		}
		next++
	}
	if err := editor.Run(context.Background()); err != nil {
		t.Error(err)
	}
	if err := hop.Wait(); err != nil {
		t.Error(err)
	}
	if next != updates {
		t.Errorf("got %d updates, want %d", next, updates)
	}
}
