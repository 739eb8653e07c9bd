package server

import (
	"context"
	"slices"
	"sync"
	"time"
)

// cards are the questions that wait for an answer by command or code action,
// for editors that cannot ask. The zero value is ready.
type cards struct {
	mu   sync.Mutex
	open []*openCard // oldest first
}

// openCard is one of them.
type openCard struct {
	question
	answer chan int // one slot
}

// add lists a question. It can be answered from now on; wait takes it off.
func (c *cards) add(q question) *openCard {
	own := &openCard{q, make(chan int, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = append(c.open, own)
	return own
}

// remindEvery is how often a waiting card is said again: a message goes with the
// next key.
const remindEvery = 15 * time.Second

// wait waits until a card is answered or ctx ends, and calls say now and then.
func (c *cards) wait(ctx context.Context, own *openCard, say func()) (int, error) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open = slices.DeleteFunc(c.open, func(x *openCard) bool { return x == own })
	}()
	say()
	again := time.NewTicker(remindEvery)
	defer again.Stop()
	for {
		select {
		case i := <-own.answer:
			return i, nil
		case <-again.C:
			say()
		case <-ctx.Done():
			return -1, ctx.Err()
		}
	}
}

// list is the waiting cards, oldest first.
func (c *cards) list() []*openCard {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.open)
}

// settle answers the card with an id, or the oldest when id is empty, with its
// i-th option, and reports whether there was such a card and option. The first
// answer stands.
func (c *cards) settle(id string, i int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.open {
		if id != "" && x.id != id {
			continue
		}
		if i < 0 || i >= len(x.answers) {
			return false
		}
		select {
		case x.answer <- i:
			return true
		default:
			return false
		}
	}
	return false
}
