package rpc

import (
	"context"
	"errors"
	"fmt"
	"strconv"
)

const head = `{"jsonrpc":"2.0","id":`

// Stream appends one message that build appends to its argument in place: a
// whole JSON-RPC message without framing, or nothing. It blocks while more than
// HighWater bytes wait to be written, until they are fewer, ctx is done, or the
// connection ends (ErrClosed). build is called at most once, with a lock held:
// it must not wait, nor use the Conn.
func (c *Conn) Stream(ctx context.Context, build func(dst []byte) []byte) error {
	return sendErr(c.out.stream(ctx, c.highWater(), false, c.out.framing, build))
}

// Gather is Stream for handlers that forward a burst: the message is written
// with those that follow, when Flush is called (by Idle of the Conn that they
// come from), when 128 KiB are gathered, when anything else is sent, or after a
// millisecond. One write for many messages takes a fraction of the time.
func (c *Conn) Gather(ctx context.Context, build func(dst []byte) []byte) error {
	return sendErr(c.out.stream(ctx, c.highWater(), true, c.out.framing, build))
}

// GatherLines is Gather for messages that are lines already, each with its end, as
// Alike gives them. It is for a Conn framed by Lines.
func (c *Conn) GatherLines(ctx context.Context, lines []byte) error {
	return sendErr(c.out.stream(ctx, c.highWater(), true, framed{}, func(dst []byte) []byte { return append(dst, lines...) }))
}

// Full reports whether Stream would block: the peer does not read as fast as is
// written to it, or not at all.
func (c *Conn) Full() bool { return c.out.full(c.highWater()) }

// Flush has what was gathered written at once; it does not wait for it.
func (c *Conn) Flush() { c.out.flush() }

// Reply answers a request. It does not block, and does nothing for the id of a
// notification. A nil result is null.
func (c *Conn) Reply(id RawID, result any) error {
	raw, err := marshal(result)
	if err != nil {
		return errors.Join(
			fmt.Errorf("encoding an answer: %w", err),
			c.ReplyError(id, Errorf(InternalError, "the answer could not be encoded")))
	}
	return c.ReplyRaw(id, raw)
}

// ReplyRaw is Reply with the result as JSON; empty means null.
func (c *Conn) ReplyRaw(id RawID, result []byte) error {
	return c.ReplyAppend(id, func(dst []byte) []byte {
		if len(result) == 0 {
			return append(dst, "null"...)
		}
		return append(dst, result...)
	})
}

// ReplyAppend is Reply with a result that build appends to its argument in
// place, for large ones; the same rules hold for build as in Stream, and it must
// append one JSON value.
func (c *Conn) ReplyAppend(id RawID, build func(dst []byte) []byte) error {
	return c.reply(id, build, c.out.add)
}

// ReplyNow is ReplyAppend that writes here and now what the peer takes at once,
// rather than on another goroutine: for who is waited for.
func (c *Conn) ReplyNow(id RawID, build func(dst []byte) []byte) error {
	return c.reply(id, build, c.out.addNow)
}

func (c *Conn) reply(id RawID, build func(dst []byte) []byte, add func(func(dst []byte) []byte) (int64, error)) error {
	if id == "" {
		return nil
	}
	_, err := add(func(dst []byte) []byte {
		dst = append(dst, head...)
		dst = append(dst, id...)
		dst = append(dst, `,"result":`...)
		dst = build(dst)
		return append(dst, '}')
	})
	return sendErr(err)
}

// ReplyError answers a request with an error: err itself where it is or wraps an
// *Error, else its text with the code InternalError. It does not block, and does
// nothing for the id of a notification.
func (c *Conn) ReplyError(id RawID, err error) error {
	if id == "" {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Code: InternalError, Message: err.Error()}
	}
	return c.replyError(id, e)
}

// replyError is ReplyError, with null for no id.
func (c *Conn) replyError(id RawID, e *Error) error {
	if id == "" {
		id = "null"
	}
	return c.add(func(dst []byte) []byte {
		dst = append(dst, head...)
		dst = append(dst, id...)
		dst = append(dst, `,"error":{"code":`...)
		dst = strconv.AppendInt(dst, int64(e.Code), 10)
		dst = append(dst, `,"message":`...)
		dst = AppendQuote(dst, e.Message)
		if len(e.Data) > 0 {
			dst = append(dst, `,"data":`...)
			dst = append(dst, e.Data...)
		}
		return append(dst, "}}"...)
	})
}

// add queues one message without blocking.
func (c *Conn) add(build func(dst []byte) []byte) error {
	_, err := c.out.add(build)
	return sendErr(err)
}

func (c *Conn) highWater() int {
	if c.HighWater > 0 {
		return c.HighWater
	}
	return DefaultHighWater
}

// sendErr makes a writer's error one of the connection's.
func sendErr(err error) error {
	if err == nil || errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return closedBy(err)
}
