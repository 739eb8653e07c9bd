package workspace

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"sallyport/workspace/disk"
	"sallyport/workspace/text"
)

// saved is what a document was last loaded from or saved as, in the editor's spelling, and
// what the disk looked like when it held the same. It is a value: methods return new ones.
type saved struct {
	text, hash string
	// exact: the disk was seen to hold these very bytes (but for a byte order mark), so the
	// editor does not normalise this file and any other byte on disk is news.
	exact bool
	disk  stamp
}

// stamp identifies a state of a file without reading it. The zero value matches nothing.
type stamp struct {
	info fs.FileInfo
	at   time.Time // when info was taken
	sum  [sha256.Size]byte
	raw  bool // sum is of bytes that are not UTF-8
}

// racy is how coarse a file system's clock may be (FAT's is 2 s): a file changed so shortly
// before it was looked at can change again and show the same time.
const racy = 2 * time.Second

func (s stamp) matches(info fs.FileInfo) bool {
	return s.info != nil && disk.Unchanged(s.info, info) && s.at.Sub(info.ModTime()) >= racy
}

// maxLook is the largest file that is compared with a document, in bytes.
const maxLook = 64 << 20

// onDisk is a file as it was found. The zero value cannot be told anything about.
type onDisk struct {
	stamp  stamp
	text   string // without byte order mark, when decoded
	absent bool
	// decoded: the bytes were read and are UTF-8.
	decoded bool
}

// look reads a regular file; it blocks on no other kind. What it reads is for comparing
// with a buffer that the user has open, and reaches no agent: so it asks no fence. Where
// the file holds what is expected, it is not held twice.
func look(path, expected string) onDisk {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return onDisk{absent: errors.Is(err, fs.ErrNotExist)}
	}
	defer f.Close()
	at := time.Now()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxLook {
		return onDisk{}
	}
	found := onDisk{stamp: stamp{info: info, at: at}}
	if info.Size() == int64(len(expected)) && gives(f, expected) {
		found.text = expected
	} else if found.text, err = readAgain(f, info.Size()); err != nil {
		return onDisk{}
	}
	if after, err := f.Stat(); err != nil || after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime()) {
		found.stamp.at = time.Time{} // it changed while it was read
	}
	if !utf8.ValidString(found.text) {
		found.stamp.sum, found.stamp.raw, found.text = sha256.Sum256([]byte(found.text)), true, ""
		return found
	}
	found.text, found.decoded = strings.TrimPrefix(found.text, mark), true
	return found
}

// OnDisk is the text of a file without byte order mark, for an Editor that compares its
// own with it: it asks no fence, and reaches no agent. A file that is not there yet has
// none; false: it cannot be told, as of what is no text, or no file.
func OnDisk(path string) (content string, ok bool) {
	found := look(path, "")
	return found.text, found.decoded || found.absent
}

// gives reports whether r gives these bytes and then its end.
func gives(r io.Reader, want string) bool {
	buf := make([]byte, min(len(want)+1, 64<<10))
	for {
		n, err := r.Read(buf)
		if n > len(want) || string(buf[:n]) != want[:n] {
			return false
		}
		want = want[n:]
		if err != nil {
			return err == io.EOF && want == ""
		}
	}
}

var errLarge = errors.New("the file is too large to be compared")

// readAgain reads a file of about so many bytes from its start.
func readAgain(f *os.File, size int64) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	var b strings.Builder
	b.Grow(int(size) + 1)
	n, err := io.Copy(&b, io.LimitReader(f, maxLook+1))
	if err == nil && n > maxLook {
		err = errLarge
	}
	return b.String(), err
}

// opened judges a document that the editor has just opened: its text is what was loaded,
// unless the disk says otherwise (an editor restores unsaved text of an earlier day).
func opened(content string, found onDisk) saved {
	s := saved{text: content, disk: found.stamp}
	switch {
	case found.absent && strings.Trim(content, "\r\n") != "":
		s = saved{exact: true} // a file that was never there: nothing was loaded
	case found.decoded && !sameLoaded(content, found.text):
		s.text, s.exact = found.text, true
	case found.decoded:
		s.exact = content == found.text
	}
	s.hash = text.Hash(s.text)
	return s
}

// judgement is what is known of a document once it was compared with the disk.
type judgement struct {
	saved
	dirty, behind bool
	current       bool // as Loaded.Current
	unlike        Unlike
}

// judge compares a document's text with what was saved and with the disk. It gives what is
// known afterwards: the editor may have loaded the file again without a word.
func (s saved) judge(content, hash, path string) judgement {
	same := hash == s.hash
	j := judgement{saved: s, dirty: !same}
	if path == "" {
		return j
	}
	if info, err := os.Stat(path); err == nil && s.disk.matches(info) {
		j.current = true
		return j
	}
	found := look(path, strings.TrimPrefix(s.text, mark))
	switch {
	case found.stamp.raw && s.disk.raw && found.stamp.sum == s.disk.sum:
		j.current, j.disk = true, found.stamp
	case !found.decoded: // absent, special or in another encoding: the editor knows better
		j.unlike = s.unlike(found)
		j.current = j.unlike == "" && found.absent
	case s.holds(found.text):
		j.exact = s.exact || found.text == strings.TrimPrefix(s.text, mark)
		j.current, j.disk = true, found.stamp
	case !same && sameLoaded(content, found.text):
		return judgement{current: true, saved: saved{text: content, hash: hash, exact: content == found.text, disk: found.stamp}}
	default:
		j.behind = same
	}
	return j
}

// unlike says what stands where the document's file was, if it was ever seen there.
func (s saved) unlike(found onDisk) Unlike {
	switch {
	case s.disk.info == nil:
		return ""
	case found.absent:
		return Missing
	case found.stamp.raw:
		return NotText
	default:
		return NotCompared
	}
}

// holds reports whether the disk's text is what was saved.
func (s saved) holds(disk string) bool {
	return disk == strings.TrimPrefix(s.text, mark) || !s.exact && sameLoaded(s.text, disk)
}

// mark is the byte order mark, U+FEFF.
const mark = "\uFEFF"

// sameLoaded reports whether an editor that loads disk can show content: editors drop the
// byte order mark, make all line endings the same, and add a missing last one.
func sameLoaded(content, disk string) bool {
	return content == disk || plainLines(content) == plainLines(disk)
}

var lineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func plainLines(s string) string {
	s = strings.TrimPrefix(s, mark)
	if strings.IndexByte(s, '\r') >= 0 {
		s = lineFeeds.Replace(s)
	}
	return strings.TrimSuffix(s, "\n")
}
