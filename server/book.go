package server

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sallyport/server/conversation"
)

// bookKeeps is how long the conversations of past sessions are kept.
const bookKeeps = 30 * 24 * time.Hour

// book keeps the conversations of this editor's sessions.
type book struct {
	dir string // empty: none are kept
	log *slog.Logger

	mu     sync.Mutex
	logs   map[string]*conversation.Log // by session
	made   bool                         // dir exists
	closed bool
}

func newBook(state string, log *slog.Logger) *book {
	b := &book{log: log, logs: map[string]*conversation.Log{}}
	if state != "" {
		b.dir = filepath.Join(state, "conversations")
	}
	return b
}

// of is the conversation of a session, nil when there is none.
func (b *book) of(session string) *conversation.Log {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.logs[session]
}

// open is the conversation of a session, made when there was none; nil when
// none can be kept. A conversation is not worth failing a turn for.
func (b *book) open(session, heading string) *conversation.Log {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.logs[session]; l != nil || b.dir == "" || b.closed || session == "" {
		return l
	}
	if err := b.makeLocked(); err != nil {
		b.log.Warn("keeping conversations", "error", err)
		b.dir = ""
		return nil
	}
	if heading == "" {
		heading = "Session " + session
	}
	name := time.Now().Format("2006-01-02 150405.000") + ".md"
	l, err := conversation.Open(filepath.Join(b.dir, name), heading, 0)
	if err != nil {
		b.log.Warn("keeping a conversation", "error", err)
		b.dir = ""
		return nil
	}
	b.logs[session] = l
	return l
}

// page begins a document of its own among the conversations, in the place of
// the one of that name before.
func (b *book) page(name, heading string) (*conversation.Log, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dir == "" {
		return nil, errors.New("there is no folder for documents")
	}
	if err := b.makeLocked(); err != nil {
		return nil, err
	}
	return conversation.Open(filepath.Join(b.dir, name+".md"), heading, 0)
}

// makeLocked makes the folder and drops what is too old.
func (b *book) makeLocked() error {
	if b.made {
		return nil
	}
	b.made = true
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return fmt.Errorf("making %s: %w", b.dir, err)
	}
	old, err := filepath.Glob(filepath.Join(b.dir, "*.md"))
	if err != nil {
		return fmt.Errorf("listing %s: %w", b.dir, err)
	}
	for _, path := range old {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > bookKeeps {
			_ = os.Remove(path) // another server may have done it
		}
	}
	return nil
}

// drop closes the conversation of a session that is no more; its file stays.
func (b *book) drop(session string) {
	b.mu.Lock()
	l := b.logs[session]
	delete(b.logs, session)
	b.mu.Unlock()
	if l != nil {
		_ = l.Close()
	}
}

// close closes all.
func (b *book) close() {
	b.mu.Lock()
	b.closed = true
	logs := b.logs
	b.logs = map[string]*conversation.Log{}
	b.mu.Unlock()
	for _, l := range logs {
		_ = l.Close()
	}
}
