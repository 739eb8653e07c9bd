// Package facade is Sallyport's side towards a client that speaks ACP, such as
// Zed: to the client it is an agent on stdio, and behind it stands a bridge with the
// real one. What either says passes as it came, but for what package bridge acts on.
//
// Words: the client is who started us; an entry is one session as the client names
// it; a lane is the order in which the client's messages for one session are dealt
// with; the lobby is the lane of those that are about no session.
//
// Invariants:
//
//   - The client's name of a session is the agent's own, one to one. Only when two
//     agents give the same name, or a conversation had to be begun anew, do they
//     differ, and then sessionId is all that is exchanged in a message.
//   - What passes is spliced: nothing in it is decoded and written anew. What is
//     acted on keeps the members that we do not know.
//   - What the client says for one session reaches its agent in the order in which
//     it was said; what an agent says reaches the client in its order, answers
//     among it. A cancel overtakes what has not reached the agent yet.
//   - Nothing of a session is told before the answer that names it.
//   - A client that does not read stops its agents; an agent that does not read
//     stops the client at maxLane messages or maxLaneBytes, for Stall at most, and
//     what is about no session does not wait for it.
//   - A session can be closed whatever its agent does.
//   - Files are read from the client where it can give them, and an agent's text
//     becomes a whole text of the client's, merged with what is there now and looked
//     at afterwards.
//   - What a client runs in a terminal to sign in is this program again: no word of
//     an agent's is run outside the fences, or set on us.
//   - What we add is marked with _meta.sallyport.
//   - Run returns when every session is closed and every goroutine has ended.
//
// Deliberately absent: ACP version 2, which is answered with version 1; terminals;
// batches.
package facade
