// Package bridge is the agents' side: it starts agents, speaks ACP version 1
// with them, and runs sessions and turns for a client that implements Display
// (and, where documents are open, workspace.Editor).
//
// Words: an agent is one process; a session is one conversation with one agent
// process, with an id of ours (agents pick ids that collide); a turn goes from
// a prompt to its end; its record is what of it goes on the receipt. A session is
// marked (tainted) once untrusted content came in.
//
// Invariants:
//
//   - Order is wire order. An agent's messages are taken one after the other on
//     its read loop; updates reach the Display from there, and a tool call is
//     known before its permission is asked for.
//   - A slow Display slows the agent: nothing is queued without bound, nothing
//     is lost, and nobody is killed for it. It holds up nothing else: no lock is
//     held while it is called, and an agent that is ended does not wait for it.
//   - What passes through is raw JSON, byte for byte. The types here read; they
//     never re-encode an agent's update.
//   - A write needs a running turn that is not cancelled, a fence that lets it
//     through, and a permission of this turn that showed it or a mode that gives
//     it. When a turn has ended nothing of it is written any more.
//   - Before the checkpoint of a turn is taken, or could not be, nothing is written
//     and nothing granted in it. Whether a turn can be taken back is told before it,
//     and policy record grants nothing in one that cannot.
//   - What a turn changed comes from comparing checkpoints, once open documents have
//     what was written past us. Its prompt returns when the receipt is written.
//   - What is written past us comes into open documents, with or without a turn, through
//     the fence for reading; what a person must know of it is told once for each state of
//     the file. An editor that does not answer is waited for a moment, and asked again when
//     it is heard of.
//   - A card that deciders are asked about is on screen before they answer, where the
//     display can (Early); what else is sent of it follows it.
//   - While a session is marked, nothing of consequence is allowed without a person:
//     no mode, rule or policy does.
//   - An agent that switches itself to a mode in which it asks less is put back before
//     anybody is asked, and stays so unless a person lets it: [ownMode]. Where it does
//     not go back, the posture says so.
//   - Receipts, notices and errors have no contents, prompts or secrets.
//   - "The turn ended" is one event (endTurn); nothing outside this package
//     knows by which message an agent says so.
//   - Replay (session/load) is not action: it asks nothing, writes nothing, has no
//     receipt, and is told once. What it took in marks the session all the same.
//   - A session has one agent at the most; who opens it, ends it or sets its mode
//     has the session's slot. An agent counts from its start until nothing of it
//     is left, whatever it is for.
//   - Whatever an agent sends, time and memory are bounded, and so is what the
//     user is told because of it. Nothing that it says acts on a screen, and no
//     word of it is in the log.
//   - Nothing outlives Close: every goroutine and every process has an owner
//     that waits for it.
//
// ACP types stop here. Deliberately absent: terminal/* (a second way to
// execute, outside every rule) and any retry of a sign-in that the user did
// not ask for.
package bridge
