package home

import "sallyport/bridge"

// voice is who is told what is wrong, and what was told. Home.mu guards it.
type voice struct {
	bridge *bridge.Bridge
	told   map[string]bool // by text
}

// maxTold bounds what is remembered of what was told; past it all is forgotten,
// and told again where it still holds.
const maxTold = 1000

// Attach names the bridge that is told what is wrong with the configuration,
// now and after each change, and whose fences follow it.
func (h *Home) Attach(b *bridge.Bridge) {
	h.mu.Lock()
	h.voice = voice{bridge: b}
	h.mu.Unlock()
	h.changed()
}

// changed brings the private projects into the live sessions, and tells what is
// wrong now.
func (h *Home) changed() {
	problems := h.Problems()
	h.mu.Lock()
	b := h.voice.bridge
	h.mu.Unlock()
	if b != nil {
		b.Refence()
	}
	h.tell(problems, true)
	h.syncDeciders()
}

// tell tells those problems that were not told yet. With all, these are all
// there are: what is not among them is mended, and told again when it comes
// back. Without a bridge they are logged.
func (h *Home) tell(problems []Problem, all bool) {
	h.mu.Lock()
	v := &h.voice
	b := v.bridge
	var news []Problem
	for _, p := range problems {
		if !v.told[p.Text] {
			news = append(news, p)
		}
	}
	if all || v.told == nil || len(v.told) > maxTold {
		v.told = make(map[string]bool, len(problems))
	}
	for _, p := range problems {
		v.told[p.Text] = true
	}
	h.mu.Unlock()
	for _, p := range news {
		if b == nil {
			h.log.Warn("configuration", "problem", p.Text)
			continue
		}
		n := bridge.Notice{Kind: bridge.NoticeConfig, Level: bridge.Warning, Text: p.Text}
		if p.Error {
			n.Level = bridge.Problem
		}
		b.Display.Notice(n)
	}
}
