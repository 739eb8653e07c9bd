package rpc

import (
	"testing"
	"time"
)

// A pause is due where one small read follows another at once, and nobody waits.
func TestBurst(t *testing.T) {
	const short, long = time.Microsecond, time.Millisecond
	reads := func(b *burst, n, bytes int, waited time.Duration) {
		for range n {
			b.came(bytes, waited)
		}
	}
	for name, tt := range map[string]struct {
		do   func(b *burst)
		want bool
	}{
		"nothing came":             {func(*burst) {}, false},
		"a few":                    {func(b *burst) { reads(b, many-1, 265, short) }, false},
		"many":                     {func(b *burst) { reads(b, many, 265, short) }, true},
		"one by one":               {func(b *burst) { reads(b, 2*many, 265, long) }, false},
		"many, then one":           {func(b *burst) { reads(b, many, 265, short); reads(b, 1, 265, long) }, false},
		"much at once":             {func(b *burst) { reads(b, many, little, short) }, false},
		"after a pause, much more": {func(b *burst) { reads(b, many, 265, short); b.due(); reads(b, 3, 2650, short) }, true},
		"after a pause, no more":   {func(b *burst) { reads(b, many, 265, short); b.due(); reads(b, many, 265, short) }, false},
		"a request":                {func(b *burst) { reads(b, many, 265, short); b.end(); reads(b, 1, 265, short) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var b burst
			tt.do(&b)
			if got := b.due(); got != tt.want {
				t.Errorf("a pause is due: %v", got)
			}
		})
	}
}
