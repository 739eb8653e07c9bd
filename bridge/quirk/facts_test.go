package quirk

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

var permission = call("<-", "session/request_permission")

// shows says for each quirk whether a transcript shows it. A quirk without an
// entry here does not count as seen.
var shows = map[Quirk]func(tr transcript) bool{
	EchoWrites: func(tr transcript) bool { // asked, sent to the client, refused there, and written all the same
		asked := tr.find(0, permission)
		sent := tr.find(asked, call("<-", "fs/write_text_file"))
		if asked < 0 || sent < 0 {
			return false
		}
		answered := tr.find(sent, tr.answer(sent, "->"))
		return answered >= 0 && tr[answered].Msg.Error != nil && tr.file("created.txt")
	},
	MissingReadsEmpty: func(tr transcript) bool { // an error for the missing file, and nothing is written
		read := tr.find(0, call("<-", "fs/read_text_file"))
		if read < 0 {
			return false
		}
		answered := tr.find(read, tr.answer(read, "->"))
		return answered >= 0 && tr[answered].Msg.Error != nil &&
			tr.has(answered, failed) && !tr.has(0, call("<-", "fs/write_text_file")) && !tr.file("created.txt")
	},
	LostReasons: func(tr transcript) bool {
		return tr.has(0, func(l line) bool { return l.Dir == "<-" && strings.Contains(l.raw, "[object Object]") })
	},
	UnannouncedCalls: func(tr transcript) bool {
		first := tr.find(0, func(l line) bool { return l.callID() != "" })
		return first >= 0 && !update("tool_call")(tr[first])
	},
	SilentReject: func(tr transcript) bool {
		request, reply := tr.rejected()
		return reply >= 0 && !tr.has(reply, func(l line) bool {
			return update("tool_call_update")(l) && l.callID() == tr[request].callID() && l.update()["status"] != nil
		})
	},
	RejectEndsTurn: func(tr transcript) bool { // the model gets no word after it
		_, reply := tr.rejected()
		end := tr.find(reply, ended)
		return reply >= 0 && end >= 0 && !tr[reply:end].has(0, func(l line) bool { return l.chunk() != "" })
	},
	DiffBefore: func(tr transcript) bool {
		request := tr.find(0, permission)
		return request >= 0 && len(tr[request].contents()) == 0 &&
			tr[:request].has(0, func(l line) bool { return l.callID() == tr[request].callID() && hasDiff(l) })
	},
	RawPaths: func(tr transcript) bool {
		return tr.has(0, func(l line) bool { return permission(l) && strings.Contains(l.raw, `"path":"/project/../`) }) &&
			tr.has(0, func(l line) bool {
				return call("<-", "fs/write_text_file")(l) && strings.Contains(str(l.Msg.Params["path"]), "/../")
			})
	},
	BareDiffPaths: func(tr transcript) bool {
		return tr.has(0, func(l line) bool {
			return update("tool_call_update")(l) && slices.ContainsFunc(l.contents(), func(c map[string]any) bool {
				return c["type"] == "diff" && !strings.Contains(str(c["path"]), "/")
			})
		})
	},
	WideAlways: func(tr transcript) bool { // the second file is not asked about
		_, reply := tr.picked("allow_always")
		return reply >= 0 && tr.count(permission) == 1 && tr.file("a.txt") && tr.file("b.txt")
	},
	ModeText: func(tr transcript) bool {
		return tr.has(0, func(l line) bool {
			mode, ok := ModeFromText(l.chunk())
			return ok && Loosens("gemini", mode)
		})
	},
	AnyMode: func(tr transcript) bool {
		i := tr.find(0, func(l line) bool {
			return call("->", "session/set_mode")(l) && l.Msg.Params["modeId"] == "no-such-mode"
		})
		if i < 0 {
			return false
		}
		at := tr.find(i, tr.answer(i, "<-"))
		return at >= 0 && tr[at].Msg.Error == nil
	},
	TerminalContent: func(tr transcript) bool {
		unasked := tr.has(0, func(l line) bool {
			return slices.ContainsFunc(l.contents(), func(c map[string]any) bool { return c["type"] == "terminal" })
		})
		output := tr.has(0, func(l line) bool {
			raw, err := json.Marshal(l.update())
			if err != nil {
				return false
			}
			text, ok := TerminalOutput(raw)
			return ok && text != ""
		})
		return unasked && output && !tr.has(0, call("<-", "terminal/create"))
	},
	LateReplay: func(tr transcript) bool {
		return tr.afterLoad(func(l line) bool { return update("user_message_chunk", "tool_call")(l) })
	},
	LoadSameMinute: func(tr transcript) bool {
		i := tr.find(0, call("->", "session/load"))
		if i < 0 {
			return false
		}
		at := tr.find(i, tr.answer(i, "<-"))
		return at >= 0 && strings.Contains(tr[at].raw, "No previous sessions found")
	},
	LateChunks: func(tr transcript) bool {
		cancel := tr.find(0, call("->", "session/cancel"))
		end := tr.find(max(cancel, 0), ended)
		late := cancel >= 0 && end >= 0 && tr[cancel:end].has(0, func(l line) bool { return l.chunk() != "" })
		return late || tr.afterLoad(func(l line) bool { return l.update() != nil })
	},
	NoQueue: func(tr transcript) bool {
		return tr.has(0, tr.note("no answer to session/prompt")) && tr.count(call("->", "session/prompt")) == 2
	},
	PromptCancels: func(tr transcript) bool {
		first := tr.find(0, call("->", "session/prompt"))
		second := tr.find(first+1, call("->", "session/prompt"))
		if first < 0 || second < 0 || tr.has(0, call("->", "session/cancel")) {
			return false
		}
		at := tr.find(second, tr.answer(first, "<-"))
		return at >= 0 && tr[at].Msg.Result["stopReason"] == "cancelled"
	},
	CommandsOutlive: func(tr transcript) bool {
		return tr.has(0, func(l line) bool { return strings.HasSuffix(l.Text, " still running after cancel") && l.Value == true })
	},
	StaysOnEOF: func(tr transcript) bool {
		stop := tr.find(0, tr.note("stop: eof"))
		return stop >= 0 && tr.has(stop, func(l line) bool { return l.Text == "agent exited" && l.Signal == "SIGKILL" })
	},
	ErrorAsText: func(tr transcript) bool {
		text := tr.find(0, func(l line) bool { return strings.Contains(strings.ToLower(l.chunk()), "error") })
		return text >= 0 && tr.has(text, func(l line) bool { return l.Msg.Result["stopReason"] == "end_turn" })
	},
	UnaskedEdits: func(tr transcript) bool { return !tr.has(0, permission) && tr.file("created.txt") },
	UnaskedCommands: func(tr transcript) bool {
		return !tr.has(0, permission) && tr.has(0, func(l line) bool { return l.update()["kind"] == "execute" })
	},
	CommandInTitle: func(tr transcript) bool {
		return tr.has(0, func(l line) bool {
			c := object(l.Msg.Params["toolCall"])
			return permission(l) && c["kind"] == "execute" && c["rawInput"] == nil && strings.Contains(str(c["title"]), "printf made-by-shell > by-shell.txt")
		})
	},
}

func failed(l line) bool { return update("tool_call_update")(l) && l.update()["status"] == "failed" }

// ended matches the answer to a prompt.
func ended(l line) bool { return l.Dir == "<-" && l.Msg.Result["stopReason"] != nil }

func hasDiff(l line) bool {
	return slices.ContainsFunc(l.contents(), func(c map[string]any) bool { return c["type"] == "diff" })
}

// afterLoad reports whether a line between the answer to session/load and the
// next message to the agent is ok.
func (tr transcript) afterLoad(ok func(line) bool) bool {
	load := tr.find(0, call("->", "session/load"))
	if load < 0 {
		return false
	}
	answer := tr.find(load, tr.answer(load, "<-"))
	if answer < 0 {
		return false
	}
	next := tr.find(answer, func(l line) bool { return l.Dir == "->" })
	if next < 0 {
		next = len(tr)
	}
	return tr[answer+1:next].has(0, ok)
}

// TestFacts: each quirk is there in the transcript that is given for it, of that
// agent in that version.
func TestFacts(t *testing.T) {
	seen := map[Quirk]bool{}
	for _, f := range Facts() {
		seen[f.Quirk] = true
		t.Run(string(f.Quirk)+"/"+f.Agent, func(t *testing.T) {
			tr := read(t, f.Transcript)
			if name, version := tr.agent(); name != f.Agent || version != f.Version {
				t.Errorf("%s is of %s %s, want %s %s", f.Transcript, name, version, f.Agent, f.Version)
			}
			show, ok := shows[f.Quirk]
			if !ok {
				t.Fatal("nothing says how a transcript shows this quirk")
			}
			if !show(tr) {
				t.Errorf("%s does not show %s", f.Transcript, f.Quirk)
			}
		})
	}
	for q := range shows {
		if !seen[q] {
			t.Errorf("quirk %s has no transcript", q)
		}
	}
}

// TestFactsCanFail: the tests above tell agents apart: a quirk that an agent does
// not have is not found in its like scenario.
func TestFactsCanFail(t *testing.T) {
	for q, transcript := range map[Quirk]string{
		EchoWrites:        "gemini/write-refused",
		MissingReadsEmpty: "gemini/write",
		LostReasons:       "claude/write-reject",
		UnannouncedCalls:  "claude/write",
		SilentReject:      "claude/write-reject",
		RejectEndsTurn:    "claude/write-reject",
		DiffBefore:        "codex-acp-zed/write",
		RawPaths:          "claude/outside",
		BareDiffPaths:     "gemini/write",
		WideAlways:        "codex-acp-zed/write-always",
		ModeText:          "qwen/write-always",
		AnyMode:           "codex-acp-zed/odd",
		TerminalContent:   "codex-acp-zed/shell",
		LateReplay:        "qwen/load",
		LoadSameMinute:    "gemini/load-later",
		LateChunks:        "qwen/cancel-stream",
		NoQueue:           "codex-acp/double-prompt",
		PromptCancels:     "claude/double-prompt",
		CommandsOutlive:   "gemini/cancel-shell",
		StaysOnEOF:        "claude/eof-shell",
		ErrorAsText:       "qwen/error",
		UnaskedEdits:      "codex-acp-ro/write",
		UnaskedCommands:   "gemini/shell",
		CommandInTitle:    "qwen/shell",
	} {
		if shows[q](read(t, transcript)) {
			t.Errorf("%s is found in %s, where it should not be", q, transcript)
		}
	}
}

// TestTranscriptsAreKnown: a transcript of an agent that has no quirk listed is
// a new agent whose findings nobody read.
func TestTranscriptsAreKnown(t *testing.T) {
	recorded(t)
	files, err := filepath.Glob(transcripts + "/*/text.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts under %s (%v)", transcripts, err)
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file)) + "/text"
		agent, got := read(t, name).agent()
		if got == "" || version(agent) != got {
			t.Errorf("%s: agent %s %s is not in the table", name, agent, got)
		}
	}
}
