package receipt

import (
	"bytes"
	"errors"
	"iter"
	"os"
)

// Newest is Read from the end: only what is asked for is read. For "" it gives the receipts of all projects in one order, that of
// their ends.
func (l *Log) Newest(folder string) iter.Seq2[*Receipt, error] {
	if folder == "" {
		return l.newestOfAll()
	}
	return l.each(folder, func(s *shelf, month string, yield func(*Receipt, error) bool) bool {
		return newestOf(s, month, nil, yield)
	}, true)
}

// newestOf goes through the lines of a file that have a mark (nil: all), from its end, and says whether to go on.
func newestOf(s *shelf, month string, mark []byte, yield func(*Receipt, error) bool) bool {
	f, size, err := s.open(month, os.O_RDONLY)
	if err != nil {
		yield(nil, err)
		return false
	}
	defer f.Close()
	end, err := lineBefore(f, size) // past a torn tail
	for err == nil && end > 0 {
		var start int64
		if start, err = lineBefore(f, end-1); err != nil {
			break
		}
		data, rerr := lineAt(f, start, end-1)
		if rerr == nil && !bytes.Contains(data, mark) {
			end = start
			continue
		}
		var r *Receipt
		if rerr == nil {
			r, rerr = open(data)
		}
		switch {
		case errors.Is(rerr, errNoReceipt), errors.Is(rerr, errAltered):
			if !yield(nil, s.damaged(month, 0, r, rerr)) {
				return false
			}
		case rerr != nil:
			yield(nil, rerr)
			return false
		case !yield(r, nil):
			return false
		}
		end = start
	}
	if err != nil {
		yield(nil, err)
		return false
	}
	return true
}

// newestOfAll merges the projects.
func (l *Log) newestOfAll() iter.Seq2[*Receipt, error] {
	return func(yield func(*Receipt, error) bool) {
		keys, err := l.keys("")
		if err != nil {
			yield(nil, err)
			return
		}
		type source struct {
			next func() (*Receipt, error, bool)
			r    *Receipt
			err  error
		}
		var sources []*source
		for _, key := range keys {
			next, stop := iter.Pull2(func(yield func(*Receipt, error) bool) {
				_, err := l.eachMonth(key, true, func(s *shelf, month string) bool { return newestOf(s, month, nil, yield) })
				if err != nil {
					yield(nil, err)
				}
			})
			defer stop()
			if r, err, ok := next(); ok {
				sources = append(sources, &source{next, r, err})
			}
		}
		for len(sources) > 0 {
			at := 0
			for i, s := range sources {
				if s.err != nil { // as soon as may be
					at = i
					break
				}
				if s.r.Ended.After(sources[at].r.Ended) {
					at = i
				}
			}
			s := sources[at]
			if !yield(s.r, s.err) {
				return
			}
			var ok bool
			if s.r, s.err, ok = s.next(); !ok {
				sources = append(sources[:at], sources[at+1:]...)
			}
		}
	}
}
