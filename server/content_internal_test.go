package server

import (
	"runtime"
	"strings"
	"testing"

	"sallyport/bridge/rpc"
)

func TestContent(t *testing.T) {
	tests := []struct{ raw, want string }{
		{`"plain"`, "plain"},
		{`""`, ""},
		{`"a\n\"\u00e9\ud83d\ude00"`, "a\n\"é😀"},
		{`"half \ud83d of a pair"`, "half \uFFFD of a pair"},
		{`7`, "error"},
		{`{}`, "error"},
	}
	for _, tt := range tests {
		var p struct {
			Text *content `json:"text"`
		}
		err := rpc.Unmarshal([]byte(`{"text":`+tt.raw+`}`), &p)
		switch {
		case tt.want == "error":
			if err == nil {
				t.Errorf("%s was read as %q; want an error", tt.raw, *p.Text)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.raw, err)
		case string(*p.Text) != tt.want:
			t.Errorf("%s: got %q, want %q", tt.raw, *p.Text, tt.want)
		}
	}
	var p struct {
		Text *content `json:"text"`
	}
	if err := rpc.Unmarshal([]byte(`{"text":null}`), &p); err != nil || p.Text != nil {
		t.Errorf("null: got %v, %v; want none", p.Text, err)
	}
}

// A text is not copied more than once.
func TestContentAllocations(t *testing.T) {
	const size = 1 << 20
	raw := []byte(`{"text":"` + strings.Repeat(`tab\t`, size/5) + `"}`)
	var p struct {
		Text content `json:"text"`
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := rpc.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	if most := uint64(size + size/4); allocated > most {
		t.Errorf("reading %d bytes allocated %d; want at most %d", size, allocated, most)
	}
}
