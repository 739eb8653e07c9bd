package permit

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"sallyport/bridge/rpc"
	"sallyport/workspace/text"
)

// Response is the result of session/request_permission (ACP v1,
// RequestPermissionResponse): the option, or "cancelled". Who settled it and why
// is in `_meta.sallyport`, for agents that look there; empty parts are left out.
//
// The answer of a client that speaks ACP stays as it came.
func (o Outcome) Response() jsontext.Value {
	if o.Raw != nil {
		return o.Raw
	}
	buf := []byte(`{"outcome":{"outcome":"`)
	if o.Option == "" {
		buf = append(buf, `cancelled"`...)
	} else {
		buf = append(buf, `selected","optionId":`...)
		buf = rpc.AppendQuote(buf, o.Option)
	}
	buf = append(buf, `},"_meta":{"sallyport":{"by":`...)
	buf = rpc.AppendQuote(buf, string(o.By))
	for _, m := range [][2]string{{"name", o.Name}, {"why", o.Why}} {
		if m[1] != "" {
			buf = append(rpc.AppendQuote(append(buf, ','), m[0]), ':')
			buf = rpc.AppendQuote(buf, m[1])
		}
	}
	return append(buf, `}}}`...)
}

// DenyNote is the sentence that tells the agent who refused: "Refused by Team
// rules through Sallyport: no rm -rf here". It is empty for what was allowed or
// cancelled. ACP's answer has no field for it, so it is the error message of
// fs/*, in the answer's _meta in parts, and a line before the next prompt.
func (o Outcome) DenyNote() string {
	if o.Allowed || o.By == ByCancel {
		return ""
	}
	who := o.Name
	switch {
	case o.By == ByUser:
		who = "the user"
	case o.By == ByMode:
		who = o.Name + " mode"
	case o.By == ByPolicy && o.Name != "":
		who = "policy " + o.Name
	case who == "":
		who = "the " + string(o.By)
	}
	note := "Refused by " + strings.TrimSpace(who) + " through Sallyport"
	if o.Why != "" && o.By != ByUser {
		note += ": " + o.Why
	}
	return note
}

// PromptNote is the line on one refusal before the next prompt: the DenyNote
// with what was refused. Empty where DenyNote is.
func PromptNote(c *Card, o Outcome) string {
	note := o.DenyNote()
	if note == "" {
		return ""
	}
	what := c.Request.Tool
	if what == "" {
		what = string(c.Request.Kind)
	}
	switch command := textMember(c.Request.Input, "command"); {
	case c.Request.Kind == Command && command != "":
		what += " " + command
	case len(c.Paths) > 0:
		what += " " + strings.Join(c.Paths, ", ")
	}
	what, _ = cutText(what, 300)
	return note + " (" + text.Visible(what) + ")"
}
