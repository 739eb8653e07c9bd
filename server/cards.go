package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"sallyport/bridge/permit"
)

// cards are the permissions that wait for an answer by command or code action,
// for editors that cannot ask. The zero value is ready.
type cards struct {
	mu   sync.Mutex
	open []*openCard // oldest first
}

// openCard is one of them.
type openCard struct {
	card   *permit.Card
	titles []string
	answer chan int // one slot
}

// add lists a card. It can be answered from now on; wait takes it off.
func (c *cards) add(card *permit.Card, titles []string) *openCard {
	own := &openCard{card, titles, make(chan int, 1)}
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
		if id != "" && x.card.ID != id {
			continue
		}
		if i < 0 || i >= len(x.titles) {
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
