package sandbox

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
)

// orders are what the inner step does. They travel as gob: paths need not be UTF-8.
type orders struct {
	Program string // absolute
	Args    []string
	Env     []string
	Dir     string
	Seat    bool // standard input becomes the controlling terminal, of a session of its own
	Rules   rules
	Tests   []test
}

// rules are Landlock's.
type rules struct {
	ABI    int  // the one of this kernel; 0: no Landlock
	Scopes bool // signals and abstract sockets
	NoTCP  bool
	Files  *fileRules // nil: files are held by others
}

// fileRules are all that may be reached.
type fileRules struct{ ReadDirs, ReadFiles, WriteDirs, WriteFiles []string }

// test is one thing that the inner step tries.
type test struct {
	Kind testKind
	Path string
	Must bool // the start ends when it comes out wrong
}

type testKind int

const (
	readTest     testKind = iota // opening it must fail
	writeTest                    // making a file in it must fail
	reservedTest                 // writing it, or making a file in it, must fail
	allowedTest                  // making a file in it must not fail
)

// result is what the inner step found.
type result struct {
	Wrong  []test // tests that came out wrong
	Failed string // why it did not become the agent
	Errno  int    // of the last try to become it
}

func (o *orders) encode() ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(o); err != nil {
		return nil, fmt.Errorf("writing the orders of the inner step: %w", err)
	}
	return b.Bytes(), nil
}

// readResults reads until the inner step has become the agent, or has ended. The error is that of a step that said nothing.
func readResults(r io.Reader) (result, error) {
	var last result
	dec := gob.NewDecoder(r)
	for n := 0; ; n++ {
		var next result
		err := dec.Decode(&next)
		switch {
		case errors.Is(err, io.EOF) && n > 0:
			return last, nil
		case err != nil:
			return last, err
		}
		last = next
	}
}

// verdict is what tests say about one kind: whether there were any, and none came out wrong.
func verdict(tests []test, wrong []test, kind testKind) bool {
	any := false
	for _, t := range tests {
		any = any || t.Kind == kind
	}
	for _, t := range wrong {
		if t.Kind == kind {
			return false
		}
	}
	return any
}

// Landlock by its ABI: files can be held from 2 on (before, nothing could be moved between folders), truncation from 3,
// TCP from 4, device ioctls from 5, scopes from 6.
const (
	abiFiles    = 2
	abiTruncate = 3
	abiTCP      = 4
	abiScopes   = 6
)
