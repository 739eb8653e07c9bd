package checkpoint

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sallyport/workspace/checkpoint/pack"
)

func sum(data []byte) string { return pack.Sum(data).String()[:12] }

func FuzzTree(f *testing.F) {
	f.Add(encodeTree([]item{{"b", State{Kind: File, Mode: 0o644}}, {"a\xff", State{Kind: LeftOut, Reason: Denied}}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		items, err := decodeTree(data)
		if err != nil {
			return
		}
		again, err := decodeTree(encodeTree(items))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(items, again, cmp.AllowUnexported(item{})); d != "" {
			t.Error(d)
		}
	})
}
