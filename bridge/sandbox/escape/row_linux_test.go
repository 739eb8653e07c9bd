package escape

import "maps"

// row is one way out of a fence, or one piece of work that has to go on.
type row struct {
	id string
	// sh is for /bin/sh, in the working folder. HOME and TMPDIR are the scene's;
	// RUN, OUT, EDITOR, BRIDGE, ABS, NOWHERE and X are described at scene.environ.
	sh   string
	want expect
	// got looks from outside: what got through, or what of the work failed; ""
	// when nothing did.
	got func(*scene) string
	// work: it has to succeed; otherwise it is an attack.
	work bool
	// play plays it in another way than by its command; may be nil.
	play func(*scene)
	// fs asks the same through fs/*; nil where it cannot be asked.
	fs []op
	staging
}

// staging is what a row needs beside its command.
type staging struct {
	// prepare changes the fixture before.
	prepare func(*scene)
	// meanwhile is called when the command has made the file "ready"; the
	// command goes on when the file "go" is there.
	meanwhile func(*scene)
	// folder is the session's, below projects; default "pub".
	folder string
	// tells: the user has to be told, while the agent lives.
	tells bool
	// alone: not beside other rows, since time matters, or since all fences see
	// what it mounts.
	alone bool
	// raw: the command is run as it is, and its end is the row's matter.
	raw bool
	// limits of where it runs: why not; "" when it can.
	not func(backend string, u user) string
	// tune changes the job.
	tune func(*scene, *job)
	// dies: the bridge may be killed.
	dies bool
}

// op is one request through fs/*, or a link that was made otherwise.
type op struct {
	do   string // "read", "write", "link"
	path string // below the session's folder, or ~/…, or absolute
	text string // of a write, or the link's target
}

// outcome is what became of a row.
type outcome string

// The outcomes. A limit is a gap that is expected for good.
const (
	allowed outcome = "allowed"
	refused outcome = "refused"
	held    outcome = "held"
	gap     outcome = "gap"
	limit   outcome = "limit"
	told    outcome = "told" // it got through, and the user was told
	barred  outcome = "not started"
)

// The backends, best first.
const (
	bubblewrap = "bubblewrap"
	landlock   = "landlock"
	none       = "none"
)

var backends = []string{bubblewrap, landlock, none}

// expect is the outcome by backend, or by backend/user.
type expect map[string]outcome

func (e expect) of(backend string, u user) outcome {
	if o, ok := e[backend+"/"+u.name]; ok {
		return o
	}
	return e[backend]
}

// but is e with other outcomes.
func (e expect) but(pairs ...any) expect {
	e = maps.Clone(e)
	for i := 0; i < len(pairs); i += 2 {
		e[pairs[i].(string)] = pairs[i+1].(outcome)
	}
	return e
}

var (
	// works everywhere.
	works = expect{bubblewrap: allowed, landlock: allowed, none: allowed}
	// holds in both.
	holds = expect{bubblewrap: held, landlock: held, none: gap}
	// fullOnly holds with bubblewrap alone.
	fullOnly = expect{bubblewrap: held, landlock: gap, none: gap}
	// never can be held.
	never = expect{bubblewrap: limit, landlock: limit, none: limit}
	// anyway is held by what every start of an agent does.
	anyway = expect{bubblewrap: held, landlock: held, none: held}
)
