package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// Status compares the version found with those that were tried.
type Status string

// The statuses.
const (
	IsTested Status = "tested"
	IsOlder  Status = "older"   // than the oldest tried
	IsNewer  Status = "newer"   // than the newest tried
	Untested Status = "unknown" // no version was read, or none was tried
)

// Version is the version of a program on this machine.
type Version struct {
	Found  string // "" when it could not be read
	Status Status
}

// Runner runs a program with arguments and no input, in a scrubbed
// environment, and returns what it printed on standard output, also with an
// error; an *exec.ExitError may carry what was on the other one. It must end the whole tree of the program when ctx ends: some agents
// that are asked for their version start to serve instead.
type Runner func(ctx context.Context, path string, args []string) ([]byte, error)

// Version asks the program for its version; the first thing that looks like
// one is it. When the program prints none, the npm package that it belongs to
// says. An error means that the program did not run well; the version may
// still be known then. Nothing is started, and only the package is read, with
// a nil run, and for a user's command, whose arguments are not ours to change.
func (h *Harness) Version(ctx context.Context, p Program, run Runner) (Version, error) {
	found := p.Package.Version
	var err error
	if run != nil && h.PrintsVersion() {
		var out []byte
		out, err = run(ctx, p.Path, h.Program.VersionArgs)
		if printed := findVersion(string(out)); err == nil && printed != "" {
			found = printed
		}
		if err != nil {
			err = fmt.Errorf("running %s %s: %w%s", p.Path, strings.Join(h.Program.VersionArgs, " "), err, said(out, err))
		}
	}
	return Version{Found: found, Status: h.Program.Tested.Compare(found)}, err
}

// PrintsVersion reports whether the program can be run for its version.
func (h *Harness) PrintsVersion() bool {
	return len(h.Program.VersionArgs) > 0 && !h.Own.Self && h.From.Origin != User
}

// said is the first line of what a program printed, for an error message.
func said(out []byte, err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		out = exit.Stderr
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if line == "" {
		return ""
	}
	return ": " + visible(strings.TrimSpace(line))
}

// Compare says where a version lies. "" is Untested, and so is everything
// when no range is claimed.
func (t Tested) Compare(version string) Status {
	switch {
	case version == "" || t == (Tested{}):
		return Untested
	case compareVersions(version, t.Oldest) < 0:
		return IsOlder
	case compareVersions(version, t.Newest) > 0:
		return IsNewer
	default:
		return IsTested
	}
}

var versionForm = regexp.MustCompile(`(?:^|[^0-9A-Za-z.])v?([0-9]+\.[0-9]+(?:\.[0-9]+)?(?:-[0-9A-Za-z][0-9A-Za-z.-]*)?)`)

// findVersion is the first version number in a text, without v and build.
func findVersion(text string) string {
	if m := versionForm.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// compareVersions orders two versions as Semantic Versioning 2.0.0, section
// 11 does. A missing number is 0, and so is one that is no number.
func compareVersions(a, b string) int {
	aCore, aPre := splitVersion(a)
	bCore, bPre := splitVersion(b)
	for i := range 3 {
		if c := compareNumbers(part(aCore, i), part(bCore, i)); c != 0 {
			return c
		}
	}
	switch {
	case aPre == bPre:
		return 0
	case aPre == "":
		return 1 // a release comes after its pre-releases
	case bPre == "":
		return -1
	}
	as, bs := strings.Split(aPre, "."), strings.Split(bPre, ".")
	for i := range min(len(as), len(bs)) {
		if c := comparePre(as[i], bs[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

func splitVersion(v string) (core []string, pre string) {
	v, _, _ = strings.Cut(strings.TrimPrefix(v, "v"), "+")
	v, pre, _ = strings.Cut(v, "-")
	return strings.Split(v, "."), pre
}

func part(core []string, i int) string {
	if i < len(core) {
		return core[i]
	}
	return "0"
}

// compareNumbers compares decimal numbers of any length.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

func comparePre(a, b string) int {
	_, aErr := strconv.ParseUint(a, 10, 64)
	_, bErr := strconv.ParseUint(b, 10, 64)
	switch {
	case aErr == nil && bErr == nil:
		return compareNumbers(a, b)
	case aErr == nil:
		return -1 // numbers come before words
	case bErr == nil:
		return 1
	default:
		return strings.Compare(a, b)
	}
}
