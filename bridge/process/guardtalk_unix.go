//go:build unix

package process

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"
)

// errShort is a description of a program that ends too early.
var errShort = errors.New("the description of the program is cut short")

// encodeSpec writes a spec for decodeSpec: a length, then strings that end with
// a zero byte: path, folder, number of arguments, arguments, environment. No
// JSON: paths need not be UTF-8.
func encodeSpec(s Spec) []byte {
	var b bytes.Buffer
	b.Write(make([]byte, 4))
	fields := append([]string{s.Path, s.Dir, strconv.Itoa(len(s.Args))}, s.Args...)
	for _, f := range append(fields, s.Env...) {
		b.WriteString(f)
		b.WriteByte(0)
	}
	out := b.Bytes()
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out
}

func decodeSpec(r io.Reader) (Spec, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return Spec{}, err
	}
	data := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(r, data); err != nil {
		return Spec{}, err
	}
	fields := strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
	if len(fields) < 3 {
		return Spec{}, errShort
	}
	n, err := strconv.Atoi(fields[2])
	if err != nil || n < 0 || 3+n > len(fields) {
		return Spec{}, errShort
	}
	return Spec{Path: fields[0], Dir: fields[1], Args: fields[3 : 3+n], Env: fields[3+n:]}, nil
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
