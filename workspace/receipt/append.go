package receipt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"sallyport/workspace/checkpoint/pack"
)

// Append writes a receipt at the end of the log of its folder. It hides in r what may be a secret, cuts what is too long, and fills in
// r.Chain. When it returns an error the receipt is not in the log; only if a disk fails in the last step it may be.
func (l *Log) Append(ctx context.Context, r *Receipt) error {
	if !filepath.IsAbs(r.Folder) {
		return fmt.Errorf("appending receipt of turn %s: folder %q is not absolute", r.Turn, r.Folder)
	}
	if err := l.append(ctx, r); err != nil {
		r.Chain = Chain{}
		return fmt.Errorf("appending receipt of turn %s: %w", r.Turn, err)
	}
	return nil
}

func (l *Log) append(ctx context.Context, r *Receipt) error {
	step := l.Step
	if step == nil {
		step = func(string) {}
	}
	r.settle()
	s, err := l.shelf(Key(r.Folder), true)
	if err != nil {
		return err
	}
	defer s.close()
	step("folder made")
	unlock, err := pack.Lock(ctx, filepath.Join(s.dir, lockFile), true)
	if err != nil {
		return err
	}
	defer unlock()
	step("locked")
	month, last, err := s.end(step)
	if err != nil {
		return err
	}
	if last.Count >= mostSeq {
		return errors.New("the log is full")
	}
	r.Seq, r.Previous = last.Count+1, last.Hash
	line, err := seal(r)
	if err != nil {
		return err
	}
	now := time.Now
	if l.Now != nil {
		now = l.Now
	}
	// A clock that went back must not put a receipt before others.
	return s.write(max(month, now().UTC().Format("2006-01")+".jsonl"), line, head{r.Seq, r.Hash}, step)
}

// end finds the last month of the log and its last receipt, and sets torn tails aside on the way. Where the head is further than the
// files are, receipts are gone: the new one follows those, so that this keeps showing.
func (s *shelf) end(step func(string)) (month string, last head, err error) {
	months, err := s.months()
	if err != nil {
		return "", head{}, err
	}
	if len(months) > 0 {
		month = months[len(months)-1]
	}
	for i := len(months) - 1; i >= 0 && last.Count == 0; i-- {
		size, err := s.cutTail(months[i], step)
		if err != nil {
			return "", head{}, err
		}
		if last, err = s.lastOf(months[i], size); err != nil {
			return "", head{}, err
		}
	}
	if h, err := s.head(); err == nil && h.Count >= last.Count {
		last = h
	}
	return month, last, nil
}

// mostDamaged is how many damaged lines at the end of a file are gone over.
const mostDamaged = 1000

// lastOf is the last receipt of a file, the last that can be read if others are damaged.
func (s *shelf) lastOf(month string, size int64) (head, error) {
	f, _, err := s.open(month, os.O_RDONLY)
	if err != nil {
		return head{}, err
	}
	defer f.Close()
	for end, tries := size, 0; end > 0 && tries < mostDamaged; tries++ {
		end-- // the end of the line
		start, err := lineBefore(f, end)
		if err != nil {
			return head{}, err
		}
		line, err := lineAt(f, start, end)
		if err == nil {
			if r, err := open(line); err == nil && r.Seq < mostSeq {
				return head{r.Seq, r.Hash}, nil
			}
		} else if !errors.Is(err, errNoReceipt) {
			return head{}, err
		}
		end = start
	}
	return head{}, nil
}

// write puts a line at the end of a month's file, and then the head. After an error the file is as it was.
func (s *shelf) write(month string, line []byte, h head, step func(string)) (err error) {
	created := false
	f, size, err := s.open(month, os.O_WRONLY)
	if errors.Is(err, fs.ErrNotExist) {
		created = true
		f, size, err = s.open(month, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	step("file open")
	defer func() {
		if now, herr := s.head(); err == nil || herr == nil && now == h {
			return // it is in; at worst its name in the folder is not on the disk yet
		}
		err = errors.Join(err, f.Truncate(size), f.Close())
		if created {
			err = errors.Join(err, s.root.Remove(month))
		}
	}()
	if _, err := f.WriteAt(line, size); err != nil {
		return err
	}
	step("line written")
	if err := f.Sync(); err != nil {
		return err
	}
	step("line synced")
	return s.setHead(h, step)
}
