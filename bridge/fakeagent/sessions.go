package fakeagent

import (
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
)

// sessions are the sessions that the client opened.
type sessions struct {
	mu      sync.Mutex
	list    []*session // guarded by mu, with all that it points to
	prompts int        // guarded by mu: how many prompts without a match were used
	signed  bool       // guarded by mu: authenticate was called
}

type session struct {
	id, cwd string
	mode    string
	options []any // config options, currentValue as set
}

func (s *sessions) find(id string) (*session, bool) {
	for _, one := range s.list {
		if one.id == id {
			return one, true
		}
	}
	return nil, false
}

func (s *sessions) known(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.find(id)
	return ok
}

// folder is the session's folder, empty for an unknown session.
func (s *sessions) folder(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, ok := s.find(id); ok {
		return one.cwd
	}
	return ""
}

// open adds a session; an empty id gets a new one. Opening one again moves it.
func (s *sessions) open(script *Script, id, cwd string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" {
		prefix := script.SessionPrefix
		if prefix == "" {
			prefix = "fake-"
		}
		id = prefix + strconv.Itoa(len(s.list)+1)
	}
	if one, ok := s.find(id); ok {
		one.cwd = cwd
		return id
	}
	one := &session{id: id, cwd: cwd}
	var modes struct {
		Current string `json:"currentModeId"`
	}
	json.Unmarshal(script.Modes, &modes)               // absent: no mode
	json.Unmarshal(script.ConfigOptions, &one.options) // absent: none
	one.mode = modes.Current
	s.list = append(s.list, one)
	return id
}

// choose finds the steps for a prompt.
func (s *sessions) choose(prompts []Prompt, text string) []Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range prompts {
		if p.Match != "" && strings.Contains(text, p.Match) {
			return p.Steps
		}
	}
	used := 0
	for _, p := range prompts {
		if p.Match != "" {
			continue
		}
		if used == s.prompts {
			s.prompts++
			return p.Steps
		}
		used++
	}
	return nil
}
