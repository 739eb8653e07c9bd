package escape

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// posture is what a session says of itself before its first prompt.
type posture struct {
	Reads    string `json:"reads"`
	Writes   string `json:"writes"`
	Commands string `json:"commands"`
	Sentence string `json:"sentence"`
	Kernel   string `json:"kernel"`
}

var postures = []struct {
	name    string
	backend string // the best on the machine
	config  string
	want    posture // Sentence: what must be in it, by line
	refused string  // in the sentence with which it does not start; "" when it does
}{
	{"full", bubblewrap, `{}`, posture{"enforced", "enforced", "enforced", "the kernel (bubblewrap) refuses writes outside the region\nthe network is not fenced", "full"}, ""},
	{"full is required", bubblewrap, `{"sandbox": "require"}`, posture{"enforced", "enforced", "enforced", "the kernel (bubblewrap)", "full"}, ""},
	{"off", bubblewrap, `{"sandbox": "off"}`, posture{"observed", "observed", "observed", "can read and write past every fence", "none"}, ""},
	{"bubblewrap is missing", landlock, `{}`, posture{"enforced", "observed", "observed", strings.Join(landlockGaps, "\n"), "partial"}, ""},
	{"both are missing", none, `{}`, posture{"observed", "observed", "observed", "the kernel holds nothing\ncan read and write past every fence", "none"}, ""},
	{"both are missing and one is required", none, `{"sandbox": "require"}`, posture{}, "a sandbox is required, and there is none here"},
	{"the network is closed", bubblewrap, `{"network": "off"}`, posture{"enforced", "enforced", "enforced", "it has no network", "full"}, ""},
	{"the network cannot be closed", none, `{"network": "off"}`, posture{}, "network"},
}

// landlockGaps are what Landlock does not hold, each of which is to be named.
var landlockGaps = []string{
	"the kernel (landlock) refuses writes outside the region",
	"reserved files inside the region",
	"the agent can change its own settings",
	"mode, times and attributes of files outside",
	"size and times of closed files",
	"the folders above what is closed cannot be listed",
	"sockets of daemons",
	"the network is not fenced",
}

// TestF9_Postures: a session says before its first prompt what holds, and never
// more than there is; the receipt says the same.
func TestF9_Postures(t *testing.T) {
	for i, p := range postures {
		for _, u := range users() {
			t.Run(p.name+"/"+u.name, func(t *testing.T) {
				t.Parallel()
				missing(t, p.backend)
				s := newScene(t, row{id: fmt.Sprintf("t%d", i)}, p.backend, u)
				s.configure(p.config)
				s.acting("actor", "echo x > in; echo x > ../other/n.txt; :")
				r := s.turn(s.pub(), "--command", s.dir+"/bin/actor")
				if p.refused != "" {
					if r.code != 1 || !strings.Contains(r.stderr, p.refused) {
						t.Errorf("want exit 1 and %q: %s", p.refused, r)
					}
					if _, err := os.Stat(s.pub("in")); err == nil {
						t.Error("the agent ran")
					}
					return
				}
				var got posture
				r.event(t, "posture", &got)
				for _, part := range strings.Split(p.want.Sentence, "\n") {
					if !strings.Contains(got.Sentence, part) {
						t.Errorf("the sentence does not say %q: %s", part, got.Sentence)
					}
				}
				if held := s.receipt(t); held.Reads != got.Reads || held.Writes != got.Writes || held.Sentence != got.Sentence {
					t.Errorf("the receipt says %+v, the session said %+v", held, got)
				}
				if got.Sentence = p.want.Sentence; got != p.want {
					t.Errorf("got %+v, want %+v", got, p.want)
				}
				if _, err := os.Stat(s.pub("in")); err != nil || r.code != 0 {
					t.Errorf("the agent did not work: %v: %s", err, r)
				}
				if wrote := outside(s) != ""; wrote != (p.want.Kernel == "none") {
					t.Errorf("a file outside was written: %v, with posture %s", wrote, p.want.Kernel)
				}
			})
		}
	}
}
