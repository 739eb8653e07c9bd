package bridge_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"sallyport/bridge/permit"
	"sallyport/plugins/decider"
)

// earlyDisplay is a display that shows cards while they are being decided.
type earlyDisplay struct {
	*display
	click  chan string   // the option that its person picks
	shown  chan struct{} // closed with the card
	called chan struct{} // closed with the call

	mu  sync.Mutex
	did []string
}

func early(r *rig) *earlyDisplay {
	d := &earlyDisplay{display: r.display, click: make(chan string, 1), shown: make(chan struct{}), called: make(chan struct{})}
	r.Display = d
	return d
}

func (d *earlyDisplay) note(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.did = append(d.did, what)
}

func (d *earlyDisplay) Show(context.Context, *permit.Card) permit.Shown {
	d.note("shown")
	close(d.shown)
	return d
}

func (d *earlyDisplay) Call(context.Context, *permit.Card) {
	d.note("called")
	close(d.called)
}

func (d *earlyDisplay) Answer(ctx context.Context) (permit.Answer, error) {
	select {
	case option := <-d.click:
		return permit.Answer{Option: option}, nil
	case <-ctx.Done():
		return permit.Answer{}, ctx.Err()
	}
}

// TestG3_CardBeingDecided: a card is on the screen before its deciders have
// answered; whoever settles it first does, is named on screen and receipt, and a
// person is called only when none of them did.
func TestG3_CardBeingDecided(t *testing.T) {
	for _, tt := range []struct {
		name, says string
		when       string // the user clicks: while it is "shown" and being decided, once "called", or never
		said       string // by the agent
		by         permit.Party
		did        string
	}{
		{"the user first", "deny: too late", "shown", "allowed", permit.ByUser, "shown"},
		{"a denial", "deny: no rm -rf here", "", "rejected", permit.ByDecider, "shown"},
		{"an allowance", "allow", "", "allowed", permit.ByDecider, "shown"},
		{"left", "ask", "called", "allowed", permit.ByUser, "shown called"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 5 { // while the machine is too busy
				settled := make(chan struct{})
				j := judges(t, func(decider.Question) string {
					if tt.when == "shown" {
						<-settled
					}
					return tt.says
				})
				r := newRig(t, asking("execute", `{"command": "rm -rf build"}`), keeping)
				r.Home.Deciders = func(string, string) decider.Set { return decider.Set{j.Decider} }
				d := early(r)
				info := r.open()
				ends := r.start(info.ID, "go")
				await(t, "the card", d.shown)
				switch tt.when {
				case "called":
					await(t, "the call", d.called)
					d.click <- "allow"
				case "shown":
					d.click <- "allow"
				}
				d.until(t, "the end of the card", func(d *display) bool { return len(d.settled) == 1 })
				close(settled)
				end := r.end(ends)
				if _, late := j.asked(); late {
					continue
				}
				o := d.settled[0].outcome
				if got := r.said(); got != tt.said || o.By != tt.by || strings.Join(d.did, " ") != tt.did {
					t.Errorf("the agent said %q, by %s, on screen %q; want %q, %s, %q", got, o.By, d.did, tt.said, tt.by, tt.did)
				}
				if len(d.asked) > 0 {
					t.Error("the card was put to the user a second time")
				}
				p := r.receiptOf(end.Turn).Did.Permissions.List[0]
				if tt.by == permit.ByDecider && (p.Decider != "dev.test.team" || p.Name != "Team rules") || tt.by == permit.ByUser && p.Decider != "" {
					t.Errorf("the receipt has %+v", p)
				}
				return
			}
			t.Skip("this machine is too busy for answers within 500 ms")
		})
	}
}
