package decider

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/plugins/decider/decidertest"
)

// one asks a single decider and gives what it came to, and after how long.
func one(t *testing.T, r *rig) (Decision, time.Duration) {
	t.Helper()
	began := time.Now()
	got, err := Set{r.Decider}.Decide(context.Background(), rm)
	if err != nil {
		t.Fatal(err)
	}
	return got, time.Since(began)
}

// says answers every question with a text made of its id.
func says(text func(id int64) string) *decidertest.Program {
	return &decidertest.Program{Decide: func(l *decidertest.Life, id int64, _ jsontext.Value) { l.Say(text(id)) }}
}

func TestWhatCounts(t *testing.T) {
	for _, test := range []struct {
		name  string
		text  func(id int64) string
		want  Say
		why   string // in the journal
		after time.Duration
	}{
		{"allow", func(id int64) string { return decidertest.Decision(id, "allow") }, Allow, "", 0},
		{"deny", func(id int64) string { return decidertest.Decision(id, "deny") }, Deny, "", 0},
		{"ask", func(id int64) string { return decidertest.Decision(id, "ask") }, Ask, "", 0},
		{"unknown members", func(id int64) string { return decidertest.Result(id, `{"decision":"allow","more":[1]}`) }, Allow, "", 0},
		{"null message", func(id int64) string { return decidertest.Result(id, `{"decision":"allow","message":null}`) }, Allow, "", 0},
		{"other case", func(id int64) string { return decidertest.Decision(id, "Allow") }, Ask, "none of allow, deny and ask", 0},
		{"no word", func(id int64) string { return decidertest.Result(id, `{"decision":true}`) }, Ask, "none of allow, deny and ask", 0},
		{"no decision", func(id int64) string { return decidertest.Result(id, `{}`) }, Ask, "none of allow, deny and ask", 0},
		{"no object", func(id int64) string { return decidertest.Result(id, `"allow"`) }, Ask, "no object", 0},
		{"twice the member", func(id int64) string { return decidertest.Result(id, `{"decision":"deny","decision":"allow"}`) }, Ask, "no answer in time", AnswerLimit},
		{"message of another type", func(id int64) string { return decidertest.Result(id, `{"decision":"allow","message":7}`) }, Ask, "its message is no text", 0},
		{"denied with such a message", func(id int64) string { return decidertest.Result(id, `{"decision":"deny","message":7}`) }, Deny, "", 0},
		{"error", func(id int64) string {
			return strings.Replace(decidertest.Result(id, `{"code":-32000,"message":"oops\u001b[2J"}`), "result", "error", 1)
		}, Ask, "error -32000: oops [2J", 0},
		{"result and error", func(id int64) string {
			return strings.Replace(decidertest.Decision(id, "allow"), "}\n", `,"error":{"code":1}}`+"\n", 1)
		}, Ask, "a result and an error", 0},
		{"neither", func(id int64) string {
			return strings.Replace(decidertest.Decision(id, "allow"), `"result"`, `"outcome"`, 1)
		}, Ask, "without a result", 0},
		{"no version", func(id int64) string { return strings.Replace(decidertest.Decision(id, "allow"), "2.0", "1.0", 1) }, Ask, "no answer in time", AnswerLimit},
		{"another id", func(id int64) string { return decidertest.Decision(id+1, "allow") }, Ask, "no answer in time", AnswerLimit},
		{"an id as text", func(id int64) string { return strings.Replace(decidertest.Decision(id, "allow"), "1,", `"1",`, 1) }, Ask, "no answer in time", AnswerLimit},
		{"no JSON", func(int64) string { return "allow\n" }, Ask, "no answer in time", AnswerLimit},
		{"nothing", func(int64) string { return "" }, Ask, "no answer in time", AnswerLimit},
		{"no end of the line", func(id int64) string { return strings.TrimSpace(decidertest.Decision(id, "allow")) }, Ask, "no answer in time", AnswerLimit},
		{"noise before", func(id int64) string { return "debug: hello\n" + decidertest.Decision(id, "allow") }, Allow, "", 0},
		{"in a batch", func(id int64) string { return "[" + strings.TrimSpace(decidertest.Decision(id, "allow")) + "]\n" }, Allow, "", 0},
		{"a line of Windows", func(id int64) string { return strings.Replace(decidertest.Decision(id, "allow"), "\n", "\r\n", 1) }, Allow, "", 0},
		{"twice allowed", func(id int64) string { return decidertest.Decision(id, "allow") + decidertest.Decision(id, "allow") }, Ask, "it answered twice", 0},
		{"allowed and denied", func(id int64) string { return decidertest.Decision(id, "allow") + decidertest.Decision(id, "deny") }, Deny, "", 0},
		{"denied and allowed", func(id int64) string { return decidertest.Decision(id, "deny") + decidertest.Decision(id, "allow") }, Deny, "", 0},
		{"huge", func(id int64) string {
			return decidertest.Result(id, `{"decision":"allow","message":"`+strings.Repeat("x", MaxLine)+`"}`)
		}, Ask, "a line of more than 64 KiB", 0},
		{"flood", func(id int64) string { return strings.Repeat("{}\n", maxStrays+1) + decidertest.Decision(id, "allow") }, Ask, "wrote too much", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := open(t, "one", says(test.text))
				settle()
				got, took := one(t, r)
				synctest.Wait()
				entries := r.log.of(Decided)
				if len(entries) == 0 {
					t.Fatalf("got nothing in the journal")
				}
				if got.Say != test.want || took != test.after || !strings.Contains(entries[0].Why, test.why) || (test.why == "") != (entries[0].Why == "") {
					t.Errorf("got %v after %v, journal %v; want %v after %v, %q", got.Say, took, entries[0], test.want, test.after, test.why)
				}
				r.Close() // the fake's clean-up belongs into the bubble
			})
		})
	}
}

func TestMessageIsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, "one", says(func(id int64) string {
			return decidertest.Result(id, `{"decision":"deny","message":"no\nrm\u001b[2J \u202ehere`+strings.Repeat("é", MaxMessage)+`"}`)
		}))
		defer r.Close()
		settle()
		got, _ := one(t, r)
		if !strings.HasPrefix(got.Message, "no rm [2J  here") || len(got.Message) > MaxMessage+len("…") || !strings.HasSuffix(got.Message, "é…") {
			t.Errorf("got %q", got.Message)
		}
	})
}

func TestStartsSlowlyOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := decidertest.Answers(0, "allow")
		s.Begin = 2 * time.Second
		r := open(t, "slow", s)
		defer r.Close()
		if got, took := one(t, r); got.Say != Allow || took != 2*time.Second {
			t.Errorf("while starting: got %v after %v, want allow after 2 s", got.Say, took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := decidertest.Answers(0, "allow")
		s.Begin = 10 * time.Second
		r := open(t, "slower", s)
		defer r.Close()
		if got, took := one(t, r); got.Say != Ask || took != StartLimit {
			t.Errorf("got %v after %v, want ask after 3 s", got.Say, took)
		}
		if got, took := one(t, r); got.Say != Ask || took != AnswerLimit {
			t.Errorf("the next: got %v after %v, want ask after 500 ms", got.Say, took)
		}
		time.Sleep(10 * time.Second)
		if got, took := one(t, r); got.Say != Allow || took != 0 {
			t.Errorf("ready: got %v after %v, want allow", got.Say, took)
		}
	})
}

func TestCrashAndRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crash := true
		r := open(t, "fragile", &decidertest.Program{Decide: func(l *decidertest.Life, id int64, _ jsontext.Value) {
			if crash {
				time.Sleep(100 * time.Millisecond)
				l.Crash()
				return
			}
			l.Say(decidertest.Decision(id, "allow"))
		}})
		defer r.Close()
		settle()
		if got, took := one(t, r); got.Say != Ask || took != 100*time.Millisecond {
			t.Errorf("it crashes: got %v after %v, want ask after 100 ms", got.Say, took)
		}
		synctest.Wait()
		if got, took := one(t, r); got.Say != Ask || took != 0 {
			t.Errorf("while it rests: got %v after %v, want ask at once", got.Say, took)
		}
		crash = false
		time.Sleep(firstPause)
		synctest.Wait()
		if got, took := one(t, r); got.Say != Allow || took != 0 {
			t.Errorf("after it: got %v after %v, want allow", got.Say, took)
		}
		want := []string{"it is ready", "it ended; it is started again in 250ms", "it is ready"}
		for i, e := range r.log.of(Life) {
			if i >= len(want) || e.Why != want[i] {
				t.Errorf("journal %d: got %q, want %q", i, e.Why, want)
			}
		}
	})
}

func TestPausesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := decidertest.Answers(0, "allow")
		s.Refuse = 3
		r := open(t, "missing", s)
		defer r.Close()
		began := time.Now()
		for r.program.Starts() < 4 {
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		if got, want := time.Since(began), (1+2+4)*firstPause; got != want {
			t.Errorf("got %v until the fourth start, want %v", got, want)
		}
		if got, _ := one(t, r); got.Say != Allow {
			t.Errorf("got %v, want allow", got.Say)
		}
	})
}

func TestAnotherVersionIsRefusedForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, "new", &decidertest.Program{Hello: decidertest.Result(helloID, `{"protocolVersion":2,"capabilities":{}}`)})
		defer r.Close()
		time.Sleep(time.Hour)
		got, took := one(t, r)
		if got.Say != Ask || took != 0 || r.program.Starts() != 1 {
			t.Errorf("got %v after %v and %d starts, want ask at once and one start", got.Say, took, r.program.Starts())
		}
		if e := r.log.of(Decided); !strings.Contains(e[0].Why, "it speaks version 2 of the protocol, not 1") {
			t.Errorf("got %q in the journal", e[0].Why)
		}
	})
}

func TestSilentIsEndedAndStartedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, "silent", &decidertest.Program{Decide: func(*decidertest.Life, int64, jsontext.Value) {}})
		defer r.Close()
		settle()
		for range maxSilences {
			if got, took := one(t, r); got.Say != Ask || took != AnswerLimit {
				t.Errorf("got %v after %v, want ask after 500 ms", got.Say, took)
			}
		}
		time.Sleep(time.Second)
		if r.program.Starts() != 2 {
			t.Errorf("got %d starts, want 2", r.program.Starts())
		}
	})
}

func TestDeafTakesNoMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, "deaf", &decidertest.Program{Deaf: true})
		defer r.Close()
		settle()
		full := 0
		for range 200 {
			r.ask(rm, []byte("{}"), func(a Answer) {
				if a.Why == "it does not read what it is asked" {
					full++
				}
			})
		}
		if full < 100 {
			t.Errorf("got %d questions that were not kept, want most of 200", full)
		}
	})
}

func TestLateIsJournalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, "late", decidertest.Answers(612*time.Millisecond, "allow"))
		defer r.Close()
		settle()
		if got, took := one(t, r); got.Say != Ask || took != AnswerLimit {
			t.Errorf("got %v after %v, want ask after 500 ms", got.Say, took)
		}
		time.Sleep(time.Second)
		entries := r.log.of(Decided)
		if len(entries) != 2 || entries[0].Why != "no answer in time" || !entries[1].Late {
			t.Fatalf("got %v", entries)
		}
		if got := entries[1].String(); !strings.Contains(got, "did not decide Bash rm -rf build: it allowed it after 612 ms, too late") {
			t.Errorf("got %q", got)
		}
	})
}

// TestOvertakenIsJournalled: an answer in time is late when another has settled
// the request, or a person.
func TestOvertakenIsJournalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast, slow := open(t, "fast", decidertest.Answers(100*time.Millisecond, "deny")), open(t, "slow", decidertest.Answers(200*time.Millisecond, "allow"))
		defer fast.Close()
		defer slow.Close()
		settle()
		ctx, answered := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer answered()
		if _, err := (Set{fast.Decider}).Decide(ctx, rm); err == nil {
			t.Error("want the context's error")
		}
		if got, err := (Set{fast.Decider, slow.Decider}).Decide(context.Background(), rm); got.Say != Deny || err != nil {
			t.Errorf("got %v, %v", got, err)
		}
		time.Sleep(time.Second)
		for _, tt := range []struct {
			of   *rig
			want []string
		}{
			{fast, []string{"did not decide Bash rm -rf build: it refused it after 100 ms, too late", "refused Bash rm -rf build (100 ms)"}},
			{slow, []string{"did not decide Bash rm -rf build: it allowed it after 200 ms, too late"}},
		} {
			entries := tt.of.log.of(Decided)
			for i, want := range tt.want {
				if len(entries) != len(tt.want) || !strings.HasSuffix(entries[i].String(), want) {
					t.Errorf("%s: got %v, want %q", tt.of.Name, entries, tt.want)
				}
			}
		}
	})
}

func TestWhatItAsksUs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := make(chan string, 1)
		s := &decidertest.Program{}
		r := &rig{}
		s.Decide = func(l *decidertest.Life, id int64, _ jsontext.Value) {
			l.Say(`[{"jsonrpc":"2.0","id":"x","method":"secrets/get","params":{}},{"jsonrpc":"2.0","method":"log"}]` + "\n" + decidertest.Decision(id, "deny"))
		}
		r.Decider = Open(Program{ID: "dev.test.curious", Note: r.log.note, Start: func(context.Context) (Process, error) {
			l, err := s.Start()
			return tap{l, heard}, err
		}})
		defer r.Close()
		settle()
		if got, _ := one(t, r); got.Say != Deny {
			t.Errorf("got %v, want deny", got.Say)
		}
		synctest.Wait()
		want := `[{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"method not found"}}]`
		if got := <-heard; strings.TrimSpace(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// tap tells the replies that a program gets.
type tap struct {
	*decidertest.Life
	heard chan string
}

func (p tap) Write(b []byte) (int, error) {
	if strings.Contains(string(b), `"error"`) {
		p.heard <- string(b)
		return len(b), nil
	}
	return p.Life.Write(b)
}

func TestCloseAnswersWhatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t, "open", decidertest.Answers(400*time.Millisecond, "allow"))
		settle()
		got := make(chan Answer, 2)
		r.ask(rm, []byte("{}"), func(a Answer) { got <- a })
		r.Close()
		if a := <-got; a.Say != Ask || a.Why != "it was switched off" {
			t.Errorf("got %v", a)
		}
		r.ask(rm, []byte("{}"), func(a Answer) { got <- a })
		if a := <-got; a.Say != Ask {
			t.Errorf("after it: got %v", a)
		}
	})
}
