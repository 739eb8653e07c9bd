package receipt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sallyport/workspace/checkpoint/pack"
)

// Report is what Verify found.
type Report struct {
	Projects []Checked `json:"projects"`
}

// Sound says whether nothing was altered.
func (r Report) Sound() bool {
	for _, p := range r.Projects {
		if p.Total > 0 {
			return false
		}
	}
	return true
}

// Checked is one project's log.
type Checked struct {
	Key      string    `json:"key"`             // its folder in the log; see Key
	Folder   string    `json:"folder,omitzero"` // of the project, as the receipts say; "" when none could be read
	Receipts int       `json:"receipts"`        // lines that are receipts as they were written
	Total    int       `json:"total"`           // of all findings
	Findings []Finding `json:"findings"`        // the first 1,000
	Torn     []Torn    `json:"torn,omitzero"`   // what dead writers left; no finding
	Behind   int       `json:"behind,omitzero"` // receipts that the head does not know yet; at most one is no finding
	lastHead head      // as it was before the files were read
}

// Torn is the unfinished line of a writer that died: at the end of the last file, or set aside already.
type Torn struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

// What may have been done to a log.
const (
	Edited    = "edited"    // the receipt is not as it was written, or is no receipt
	Dropped   = "dropped"   // receipts are gone
	Reordered = "reordered" // the receipt is not in its place
	Inserted  = "inserted"  // it was not written there by us
	BadHead   = "head"      // the head is missing or damaged: whether the last receipts are there cannot be told
)

// listTorn finds what was set aside.
func (s *shelf) listTorn(c *Checked) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && tornFile.MatchString(e.Name()) {
			c.Torn = append(c.Torn, Torn{filepath.Join(s.dir, e.Name()), info.Size()})
		}
	}
	return nil
}

// Finding names what was altered.
type Finding struct {
	What string `json:"what"`
	File string `json:"file,omitzero"` // absolute; "" when it is not known where the receipts were
	Line int    `json:"line,omitzero"` // from 1; of dropped ones, where they should be
	Seq  int64  `json:"seq,omitzero"`  // of the receipt, or the first of them; 0 when not known
	Last int64  `json:"last,omitzero"` // the last of several
	Turn string `json:"turnId,omitzero"`
	Why  string `json:"why"`
}

// String is one line, for people; text from the file is not made visible.
func (f Finding) String() string {
	s := f.What + ":"
	if f.File != "" {
		s += fmt.Sprintf(" %s:%d:", f.File, f.Line)
	}
	switch {
	case f.Last > f.Seq:
		s += fmt.Sprintf(" receipts %d to %d", f.Seq, f.Last)
	case f.Seq > 0:
		s += fmt.Sprintf(" receipt %d", f.Seq)
	}
	if f.Turn != "" {
		s += fmt.Sprintf(" (turn %s)", f.Turn)
	}
	return s + ": " + f.Why
}

const (
	mostFindings = 1000
	mostLines    = 1 << 20 // of one project
)

// Verify checks the chain of a project's log, of all logs for folder "". The error is nil when the log could be read: what is wrong in it is
// in the report. It needs no right to write, and waits a little for a writer.
func (l *Log) Verify(ctx context.Context, folder string) (Report, error) {
	keys, err := l.keys(folder)
	if err != nil {
		return Report{}, err
	}
	report := Report{Projects: []Checked{}}
	for _, key := range keys {
		c, err := l.verify(ctx, key)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return report, fmt.Errorf("verifying receipts: %w", err)
		}
		report.Projects = append(report.Projects, *c)
	}
	return report, nil
}

func (l *Log) verify(ctx context.Context, key string) (*Checked, error) {
	s, err := l.shelf(key, false)
	if err != nil {
		return nil, err
	}
	defer s.close()
	limited, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if unlock, err := pack.Lock(limited, filepath.Join(s.dir, lockFile), false); err == nil {
		defer unlock() // else: a folder that is read-only, or a writer that hangs; the chain is checked all the same
	}
	c := &Checked{Key: key}
	h, err := s.head()
	if err != nil {
		c.add(Finding{What: BadHead, File: filepath.Join(s.dir, headFile), Line: 1, Why: err.Error()})
	}
	known := err == nil
	c.lastHead = h
	links, err := s.links(ctx, c)
	if err != nil {
		return nil, err
	}
	check(c, links, known)
	return c, nil
}

func (c *Checked) add(f Finding) {
	c.Total++
	if len(c.Findings) < mostFindings {
		c.Findings = append(c.Findings, f)
	}
}

// link is what the chain needs of one line.
type link struct {
	file     string // absolute
	line     int
	seq      int64 // 0 for a line that is no receipt
	turn     string
	previous string
	hash     string
	fault    string // why it is no receipt as it was written; "" when it is
}

// links reads all lines.
func (s *shelf) links(ctx context.Context, c *Checked) ([]link, error) {
	months, err := s.months()
	if err != nil {
		return nil, err
	}
	if err := s.listTorn(c); err != nil {
		return nil, err
	}
	var all []link
	for i, month := range months {
		f, size, err := s.open(month, os.O_RDONLY)
		if err != nil {
			return nil, err
		}
		name := filepath.Join(s.dir, month)
		err = eachLine(f, func(l line) bool {
			if l.torn && i == len(months)-1 {
				c.Torn = append(c.Torn, Torn{name, int64(len(l.data))})
				return true
			}
			k := link{file: name, line: l.n}
			r, err := l.open()
			if r != nil {
				k.seq, k.turn, k.previous, k.hash = r.Seq, strings.Clone(r.Turn), r.Previous, r.Hash
			}
			switch {
			case l.torn:
				k.fault = "ends within a line, but later receipts follow"
			case err != nil:
				k.fault = err.Error()
			case Key(r.Folder) != s.key:
				k.fault = "is of another project"
			case c.Folder == "":
				c.Folder = strings.Clone(r.Folder)
			}
			all = append(all, k)
			return len(all) < mostLines && ctx.Err() == nil
		})
		f.Close()
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && len(all) >= mostLines {
			err = fmt.Errorf("%s: more than %d lines in the log (the file has %d bytes)", name, mostLines, size)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
