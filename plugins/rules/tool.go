package rules

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"
)

// hostRule is WebFetch(domain:…).
type hostRule struct {
	Rule
	host string // lower case; what is below it too if it begins with a point
}

func (r *Rules) addHost(rule Rule, spec string) error {
	host, ok := strings.CutPrefix(spec, "domain:")
	if !ok {
		return errors.New("pages are told by their host: write WebFetch(domain:example.com)")
	}
	host = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(host), "."))
	if host == "*" {
		r.tools[rule.Say] = append(r.tools[rule.Say], toolRule{Rule: rule, name: "WebFetch"})
		return nil
	}
	if rest, ok := strings.CutPrefix(host, "*."); ok {
		host = "." + rest
	}
	if !ascii(host) {
		return errors.New("write the host in the letters of the network, as xn--…")
	}
	if strings.Trim(host, ".") == "" || strings.ContainsAny(host, "/:*@?# ") {
		return errors.New("write the host alone, as example.com, or *.example.com for all below it")
	}
	r.hosts[rule.Say] = append(r.hosts[rule.Say], hostRule{rule, host})
	return nil
}

func (h hostRule) matches(host string) bool {
	return host == h.host || h.host[0] == '.' && strings.HasSuffix(host, h.host)
}

// fetch judges the reading of a page.
func (r *Rules) fetch(q *Request) Explanation {
	p := Part{Text: cut(q.URL)}
	if q.URL == "" {
		p.Text = q.Tool
	}
	host := hostOf(q.URL)
	for _, say := range []Say{Deny, Ask, Allow} {
		if rule, ok := r.toolRule(say, q.Tool); ok {
			p.Say, p.Rule = say, rule
			break
		}
		if q.Tool != "WebFetch" {
			continue
		}
		if rule, ok := r.host(say, host); ok {
			p.Say, p.Rule = say, rule
			break
		}
		if host == "" && say > Allow && len(r.hosts[say]) > 0 {
			p.Say, p.Why = Ask, "it is not known which host this is"
			break
		}
	}
	if p.Say == None {
		p.Why = "no rule is about it"
	}
	var e Explanation
	e.note(p)
	e.settle()
	return e
}

func (r *Rules) host(say Say, host string) (Rule, bool) {
	for _, h := range r.hosts[say] {
		if host != "" && h.matches(host) {
			return h.Rule, true
		}
	}
	return Rule{}, false
}

// hostOf is the host of a page in lower case; empty where clients may not agree on
// it: a name in other letters, which some turn into ours, and a number that is no
// address as all read it.
func hostOf(page string) string {
	page = strings.TrimSpace(page)
	if strings.ContainsFunc(page, func(c rune) bool { return c == '\\' || c < ' ' || c == 0x7f }) {
		return ""
	}
	if !strings.Contains(page, "://") {
		if scheme, _, _ := strings.Cut(strings.ToLower(page), ":"); scheme == "http" || scheme == "https" {
			return "" // http:/x is http://x to some
		}
		page = "https://" + page
	}
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	host := strings.ToLower(strings.TrimRight(u.Hostname(), "."))
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().WithZone("").String()
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if !ascii(host) || strings.HasPrefix(last, "0x") || strings.Trim(last, "0123456789") == "" {
		return ""
	}
	return host
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c >= utf8.RuneSelf })
}

// toolRule is a rule of a whole tool, or of all tools of an MCP server.
type toolRule struct {
	Rule
	name   string // the tool's name up to a star
	prefix bool
}

func (r *Rules) addTool(rule Rule, tool string) error {
	t := toolRule{Rule: rule, name: tool}
	if name, ok := strings.CutSuffix(tool, "*"); ok {
		t.name, t.prefix = name, true
	}
	if strings.Contains(t.name, "*") {
		return errors.New("a star may stand only at the end of a tool's name")
	}
	if rest, ok := strings.CutPrefix(t.name, "mcp__"); ok {
		server, _, scoped := strings.Cut(rest, "__")
		switch {
		case server == "" && rule.Say == Allow, t.prefix && !scoped && rule.Say == Allow:
			return errors.New("an allow rule names its server: write mcp__server__*")
		case !scoped && !t.prefix: // mcp__server is all tools of it
			r.tools[rule.Say] = append(r.tools[rule.Say], t)
			t.name, t.prefix = t.name+"__", true
		}
	}
	r.tools[rule.Say] = append(r.tools[rule.Say], t)
	return nil
}

func (r *Rules) toolRule(say Say, tool string) (Rule, bool) {
	for _, t := range r.tools[say] {
		if tool == t.name || t.prefix && strings.HasPrefix(tool, t.name) {
			return t.Rule, true
		}
	}
	return Rule{}, false
}

// tool judges a tool of an MCP server and every other tool by its name. Tools
// that change files meet the rules of Edit as well.
func (r *Rules) tool(q *Request) Explanation {
	p := Part{Text: cut(q.Tool), Why: "no rule is about it"}
	for _, say := range []Say{Deny, Ask, Allow} {
		if rule, ok := r.toolRule(say, q.Tool); ok {
			p = Part{Text: p.Text, Say: say, Rule: rule}
			break
		}
	}
	var e Explanation
	e.note(p)
	if family := familyOf(q.Tool); family != "" {
		e = r.fileRequest(&Request{Kind: strings.ToLower(family), Tool: q.Tool, Paths: q.Paths, Folder: q.Folder, Home: q.Home})
		return e
	}
	e.settle()
	return e
}
