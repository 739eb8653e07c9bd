package process

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// ring keeps the end of what is written to it.
type ring struct {
	max int
	mu  sync.Mutex
	buf []byte // guarded by mu; at most 2*max, its last max bytes count
	cut bool   // guarded by mu; something was left out before buf
}

// Write never fails.
func (r *ring) Write(b []byte) (int, error) {
	n := len(b)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = r.cut || len(r.buf)+n > r.max
	b = b[max(0, n-r.max):]
	if len(r.buf)+len(b) > 2*r.max {
		kept := r.buf[max(0, len(r.buf)-(r.max-len(b))):]
		r.buf = r.buf[:copy(r.buf, kept)]
	}
	r.buf = append(r.buf, b...)
	return n, nil
}

// String returns the end as a person can read it. A rune or line cut at the
// beginning is left out if something else was kept.
func (r *ring) String() string {
	r.mu.Lock()
	s := string(r.buf[max(0, len(r.buf)-r.max):])
	cut := r.cut
	r.mu.Unlock()
	if cut {
		if _, rest, ok := strings.Cut(s, "\n"); ok && rest != "" {
			s = rest
		}
	}
	return visible(s)
}

// visible replaces what a terminal or a log would act on: control characters,
// escapes, and marks that turn the direction of writing.
func visible(s string) string {
	var out strings.Builder
	for _, r := range strings.ReplaceAll(strings.ToValidUTF8(s, string(utf8.RuneError)), "\r\n", "\n") {
		switch {
		case r == '\n' || r == '\t' || !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			out.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&out, `\x%02x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}
