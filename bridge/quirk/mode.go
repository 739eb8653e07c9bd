package quirk

import "strings"

// modePrefix is how gemini tells a change of its mode: as text of the model.
const modePrefix = "[MODE_UPDATE] "

// ModeFromText reads gemini's message chunk "[MODE_UPDATE] autoEdit". False:
// the chunk is ordinary text.
func ModeFromText(chunk string) (mode string, ok bool) {
	mode, ok = strings.CutPrefix(chunk, modePrefix)
	mode = strings.TrimSpace(mode)
	if !ok || mode == "" || strings.ContainsAny(mode, " \t\r\n") {
		return "", false
	}
	return mode, true
}

// Loosens reports whether an agent in its mode asks for less than every edit
// and command. agent is a harness id or the name that the agent gives itself;
// for one that is not known, any agent's such mode counts.
func Loosens(agent, mode string) bool {
	known := false
	agent = strings.ToLower(agent)
	for _, l := range []struct {
		agent string // part of its names
		modes []string
	}{
		{"claude", []string{"acceptEdits", "bypassPermissions", "auto", "plan"}}, // in its plan it was seen to run commands unasked
		{"codex", []string{"agent", "agent-full-access", "workspace-write", "auto", "full-access"}},
		{"gemini", []string{"autoEdit", "yolo"}},
		{"qwen", []string{"auto-edit", "yolo"}},
		{"opencode", []string{"build"}},
		{"goose", []string{"smart_approve", "auto"}},
	} {
		its := strings.Contains(agent, l.agent)
		known = known || its
		for _, m := range l.modes {
			if m == mode && its {
				return true
			}
		}
	}
	return !known && mode != "build" && loose(mode)
}

// loose reports whether a mode of that name asks less with some agent.
func loose(mode string) bool {
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(mode)) {
	case "acceptedits", "bypasspermissions", "auto", "autoedit", "yolo", "agentfullaccess", "fullaccess", "smartapprove":
		return true
	default:
		return false
	}
}

// PickedMode is the agent's mode that an option of its plan card leads to: claude
// names its options by the modes, gemini and qwen by how one goes on.
func PickedMode(agent, option string) string {
	always := map[string]string{"gemini": "autoEdit", "qwen": "auto-edit"}[agent]
	switch {
	case always == "":
		return option
	case option == "proceed_always":
		return always
	case option == "proceed_once":
		return "default"
	default:
		return ""
	}
}
