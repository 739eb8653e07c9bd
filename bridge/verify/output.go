package verify

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"sallyport/workspace/receipt"
)

const (
	mostOutput  = 768 << 10 // bytes of what a check wrote that are kept, the last ones
	mostErrors  = 256 << 10 // and of its standard error
	mostOutputs = 200       // files of one project; the oldest go first
	outputs     = "output"  // the folder of these, in that of the receipts
)

// kept is the end of what a check wrote.
type kept struct {
	buf     []byte // at most 2*mostOutput; its last mostOutput bytes count
	written int64
	errors  string
}

// Write never fails.
func (k *kept) Write(b []byte) (int, error) {
	k.written += int64(len(b))
	k.buf = append(k.buf, b[max(0, len(b)-mostOutput):]...)
	if len(k.buf) > 2*mostOutput {
		k.buf = k.buf[:copy(k.buf, k.end())]
	}
	return len(b), nil
}

func (k *kept) end() []byte { return k.buf[max(0, len(k.buf)-mostOutput):] }

// keep writes what a check wrote to a file of its own.
func (o *Options) keep(v *receipt.Verdict, number int, k *kept) (err error) {
	if o.Output == "" || k == nil || len(k.buf) == 0 && k.errors == "" {
		return nil
	}
	if err := os.MkdirAll(o.Output, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(o.Output)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(outputs, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	name := fmt.Sprintf("%s/%s-%d-%s.txt", outputs, plain(o.Turn), number+1, plain(v.Name))
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, root.Remove(name))
			return
		}
		v.Output = name
	}()
	end := k.end()
	v.Omitted = k.written - int64(len(end))
	if v.Omitted > 0 {
		if _, err := fmt.Fprintf(f, "[the first %d bytes were not kept]\n", v.Omitted); err != nil {
			return err
		}
	}
	if _, err := f.Write(end); err != nil {
		return err
	}
	if k.errors == "" {
		return nil
	}
	title := ""
	if len(end) > 0 {
		if end[len(end)-1] != '\n' {
			title = "\n"
		}
		title += "[standard error]\n"
	}
	_, err = f.WriteString(title + k.errors)
	return err
}

// plain is a text as a part of a file's name.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}, s)
	return s[:min(len(s), 64)]
}

// tidy removes the oldest outputs.
func tidy(folder string) error {
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	d, err := root.Open(outputs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := d.ReadDir(-1)
	d.Close()
	if err != nil || len(entries) <= mostOutputs {
		return err
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, info := range files[:max(0, len(files)-mostOutputs)] {
		err = errors.Join(err, root.Remove(outputs+"/"+info.Name()))
	}
	return err
}
