package main

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/home"
	"sallyport/plugins/decider"
)

// played is what --json prints of one case.
type played struct {
	Name     string  `json:"name"`
	Tool     string  `json:"tool"`
	Decision string  `json:"decision"`
	Message  string  `json:"message,omitzero"`
	DelayMS  float64 `json:"delayMs"`
	OK       bool    `json:"ok"`
	Wrong    string  `json:"wrong,omitzero"`
}

func reportOf(p decider.Played) played {
	return played{
		Name: p.Case.Name, Tool: p.Case.Request.Tool, Decision: p.Answer.Say.String(), Message: p.Answer.Message,
		DelayMS: float64(p.Answer.Delay.Microseconds()) / 1000, OK: p.Wrong == "", Wrong: p.Wrong,
	}
}

// opened starts the decider in a folder and waits until it is ready.
func (c *call) opened(h *home.Home, dir string) (d *decider.Decider, took time.Duration, err error) {
	m, err := decider.ReadManifest(dir)
	if err != nil {
		return nil, 0, err
	}
	began := time.Now()
	d = decider.Open(h.Starter(buildVersion()).Program(m, func(e decider.Entry) {
		if e.What == decider.Stray || e.What == decider.Life && e.Why != "it is ready" {
			fmt.Fprintln(c.stderr, e)
		}
	}))
	if err := d.Ready(context.Background()); err != nil {
		d.Close()
		return nil, 0, fmt.Errorf("%s: %w", m.ID, err)
	}
	return d, time.Since(began), nil
}

// testPlugin plays the cases of a decider, one after the other and at once.
func (c *call) testPlugin(h *home.Home, dir string, lines bool) int {
	cases, err := decider.Cases(dir)
	if err != nil {
		return c.fail("plugin", err)
	}
	d, took, err := c.opened(h, dir)
	if err != nil {
		return c.fail("plugin", err)
	}
	defer d.Close()
	ctx := context.Background()
	var all []decider.Played
	for _, one := range cases {
		p, err := decider.Play(ctx, d, one)
		if err != nil {
			return c.fail("plugin", err)
		}
		all = append(all, p)
	}
	together, err := decider.PlayTogether(ctx, d, cases)
	if err != nil {
		return c.fail("plugin", err)
	}
	for i, p := range together { // told only where it goes wrong just then
		if p.Wrong != "" && all[i].Wrong == "" {
			p.Case.Name += " (with others at once)"
			all = append(all, p)
		}
	}
	status := 0
	wrong := slices.DeleteFunc(slices.Clone(all), func(p decider.Played) bool { return p.Wrong == "" })
	if len(wrong) > 0 || took > decider.StartLimit {
		status = 1
	}
	return max(status, c.status("plugin", c.printPlayed(all, len(wrong), took, lines)))
}

// printPlayed prints a line for each case, and for people a last one.
func (c *call) printPlayed(all []decider.Played, wrong int, took time.Duration, lines bool) error {
	var b strings.Builder
	var slowest time.Duration
	for _, p := range all {
		slowest = max(slowest, p.Answer.Delay)
		r := reportOf(p)
		if lines {
			if err := json.MarshalWrite(&b, r); err != nil {
				return err
			}
			b.WriteByte('\n')
			continue
		}
		mark, note := "ok    ", r.Message
		if !r.OK {
			mark, note = "WRONG ", r.Wrong
		}
		fmt.Fprintf(&b, "%s%-5s %6.1f ms  %s", mark, r.Decision, r.DelayMS, printable(r.Name))
		if note != "" {
			b.WriteString(": " + note)
		}
		b.WriteByte('\n')
	}
	if !lines {
		fmt.Fprintf(&b, "%d played, %d wrong; ready after %d ms, slowest answer %.1f ms\n",
			len(all), wrong, took.Milliseconds(), float64(slowest.Microseconds())/1000)
		if took > decider.StartLimit {
			fmt.Fprintf(&b, "WRONG it started too slowly: the first request waits %s for it\n", decider.StartLimit)
		}
	}
	_, err := c.stdout.WriteString(b.String())
	return err
}

// printable is a name of a case as one line.
func printable(s string) string {
	q := fmt.Sprintf("%q", s)
	if q == `"`+s+`"` {
		return s
	}
	return q
}

const devHint = `type a tool and what it is about ("Bash npm test", "Read /etc/passwd"), or JSON`

// dev plays what is typed.
func (c *call) dev(h *home.Home, dir string) int {
	d, took, err := c.opened(h, dir)
	if err != nil {
		return c.fail("plugin", err)
	}
	defer d.Close()
	fmt.Fprintf(c.stderr, "%s is ready after %d ms: %s\n", d.Name, took.Milliseconds(), devHint)
	in := bufio.NewScanner(c.stdin)
	in.Buffer(nil, 1<<20)
	status := 0
	for in.Scan() {
		line := strings.TrimSpace(in.Text())
		if line == "" {
			continue
		}
		one, err := typedCase(line)
		if err != nil {
			fmt.Fprintf(c.stderr, "%v\nhint: %s\n", err, devHint)
			status = 1
			continue
		}
		p, err := decider.Play(context.Background(), d, one)
		if err != nil {
			return c.fail("plugin", err)
		}
		r := reportOf(p)
		for _, more := range []string{r.Message, r.Wrong} {
			if more != "" {
				r.Decision += ": " + more
			}
		}
		if _, err := fmt.Fprintf(c.stdout, "%s (%.1f ms)\n", r.Decision, r.DelayMS); err != nil {
			return c.fail("plugin", err)
		}
	}
	return max(status, c.status("plugin", in.Err()))
}

// typedCase makes a case of a line: JSON, perhaps after the word decide, or a tool
// and what it is about.
func typedCase(line string) (decider.Case, error) {
	line = strings.TrimSpace(strings.TrimPrefix(line, "decide "))
	if !strings.HasPrefix(line, "{") {
		tool, about, _ := strings.Cut(line, " ")
		name := map[string]string{"command": "command", "edit": "file_path", "read": "file_path", "fetch": "url"}[decider.KindOf(tool)]
		if name == "" {
			name = "input"
		}
		input, err := json.Marshal(map[string]string{name: strings.TrimSpace(about)})
		if err != nil {
			return decider.Case{}, err
		}
		all, err := json.Marshal(map[string]any{"request": map[string]any{"tool": tool, "input": jsontext.Value(input)}})
		if err != nil {
			return decider.Case{}, err
		}
		line = string(all)
	}
	all, err := decider.ParseCases([]byte(line))
	if err != nil {
		return decider.Case{}, err
	}
	return all[0], nil
}
