//go:build unix

package process

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"
	"syscall"
)

// errShort is a description of a program that ends too early.
var errShort = errors.New("the description of the program is cut short")

// order is what a guard is told to start.
type order struct {
	Path  string
	Dir   string
	Args  []string
	Env   []string
	Files int // how many descriptors, from firstFile on, the program gets
	Waits bool
	Seat  seat
	Sweep []string
}

// seat is what becomes of the program's session.
type seat string

const (
	grouped seat = "grouped" // it stays in the guard's, with a group of its own
	leading seat = "leading" // it gets one of its own
	seated  seat = "seated"  // and its standard input as its controlling terminal
)

// seatOf is what a spec asks for.
func seatOf(s Spec) seat {
	switch {
	case s.Terminal == nil:
		return grouped
	case s.Wrap.Seats:
		return leading
	default:
		return seated
	}
}

// attr is how the program is started.
func (o order) attr() *syscall.SysProcAttr {
	attr := agentAttr()
	if o.Seat != grouped { // whose leader has a group of its own anyway
		attr.Setpgid, attr.Setsid, attr.Setctty = false, true, o.Seat == seated
	}
	return attr
}

// firstFile is the guard's descriptor of the first of Wrap.Files.
const firstFile = reportFD + 1

// descriptors are those that the program gets.
func (o order) descriptors() []uintptr {
	all := []uintptr{0, 1, 2}
	for i := range o.Files {
		all = append(all, uintptr(firstFile+i))
	}
	return all
}

// release lets go of the files that only the program needs.
func (o order) release() {
	for i := range o.Files {
		_ = syscall.Close(firstFile + i)
	}
}

// encodeSpec writes a spec for decodeSpec: a length, then strings that end with
// a zero byte: path, folder, number of files, whether the program waits, its
// seat, and with their numbers the arguments of the sweep and those of the
// program; then the environment. No JSON: paths need not be UTF-8.
func encodeSpec(s Spec) []byte {
	var b bytes.Buffer
	b.Write(make([]byte, 4))
	fields := []string{s.Path, s.Dir, strconv.Itoa(len(s.Wrap.Files)), strconv.FormatBool(s.Wrap.Waits), string(seatOf(s))}
	for _, list := range [][]string{s.Wrap.Sweep, s.Args} {
		fields = append(append(fields, strconv.Itoa(len(list))), list...)
	}
	for _, f := range append(fields, s.Env...) {
		b.WriteString(f)
		b.WriteByte(0)
	}
	out := b.Bytes()
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out
}

func decodeSpec(r io.Reader) (order, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return order{}, err
	}
	data := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(r, data); err != nil {
		return order{}, err
	}
	const head = 5
	fields := strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
	if len(fields) < head {
		return order{}, errShort
	}
	files, err := strconv.Atoi(fields[2])
	waits, err2 := strconv.ParseBool(fields[3])
	o := order{Path: fields[0], Dir: fields[1], Files: files, Waits: waits, Seat: seat(fields[4])}
	rest, err3 := takeList(&o.Sweep, fields[head:])
	o.Env, err3 = takeList(&o.Args, rest, err3)
	if errors.Join(err, err2, err3) != nil || files < 0 {
		return order{}, errShort
	}
	return o, nil
}

// takeList takes a list that begins with its length, and returns the rest. After
// an earlier error it does nothing.
func takeList(list *[]string, fields []string, earlier ...error) (rest []string, err error) {
	if err := errors.Join(earlier...); err != nil || len(fields) == 0 {
		return nil, errShort
	}
	n, err := strconv.Atoi(fields[0])
	if err != nil || n < 0 || 1+n > len(fields) {
		return nil, errShort
	}
	*list = fields[1 : 1+n]
	return fields[1+n:], nil
}

// related is one process of the system.
type related struct{ pid, parent int }

// below lists those of all that descend from one of the roots, parents first.
func below(all []related, roots ...int) []int {
	children := make(map[int][]int)
	for _, p := range all {
		if p.pid != p.parent {
			children[p.parent] = append(children[p.parent], p.pid)
		}
	}
	var found []int
	seen := make(map[int]bool)
	for next := roots; len(next) > 0; next = next[1:] {
		for _, pid := range children[next[0]] {
			if !seen[pid] {
				seen[pid] = true
				found = append(found, pid)
				next = append(next, pid)
			}
		}
	}
	return found
}

func pidList(pids []int) string {
	var out []string
	for _, pid := range pids {
		out = append(out, strconv.Itoa(pid))
	}
	return strings.Join(out, " ")
}
