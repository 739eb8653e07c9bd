// Package permit decides what an agent may do when it asks.
//
// An agent asks with session/request_permission. A [Reader] turns the request
// into a [Card]: it merges what the agent said before about the same tool call
// ([Calls]), names the tool as Claude Code names it and says what kind of act it
// is ([Classify]). An [Engine] settles the card: fence, the judges' refusals, the
// gate, the judges' leave, mode, then the user or the policy. While deciders think,
// the card can be on the screen ([Shown]). [Taint] keeps what
// untrusted content a session took in, and is the gate. [Outcome.Response] is what goes back to the agent;
// [Grants] remembers for the rest of the turn which files were granted.
//
// # Words
//
// A call is one tool call of the agent. A card is a permission as a person sees
// it. An outcome is a settled card. A judge is one party in the order of
// hearing; deciders and the taint gate are judges. A mark is one source of
// untrusted content.
//
// # Invariants
//
//   - An option id that the agent did not offer on this very card is never sent.
//   - allow_always is never sent, but where the option is one of a plan or a
//     question, or switches a mode, and the person picked it. Who picks another is
//     shown before ([Card.Offer]) what is kept; the agent is answered once, or refused
//     where it offers no such answer. Options that switch a mode, and ids offered
//     twice, are never chosen for the person.
//   - What a fence refuses nobody allows, in no mode and under no policy.
//   - What one judge refuses no other allows, and what one sends to the user neither.
//   - A person's answer to a card that is being decided is final at once. What a
//     fence, a judge or the mode refuses at once is never shown so, and who closes
//     such a card has not answered it.
//   - A person is called for a card once, and when nobody else settles it.
//   - While a session is marked, only a person allows commands, fetches, MCP tools,
//     what cannot be classified, and reserved or outside paths.
//   - Marks hold names of sources, never content, and of an address its host only.
//   - A plan or a question is answered by a person or not at all.
//   - Kinds come from the agent's kind, the tool's name and the raw input, in a
//     request or in the call that was told before it, never from the title. What
//     cannot be classified is [Tool] and is asked.
//   - Once the context of Decide has ended the outcome is "cancelled", whatever
//     is clicked afterwards.
//   - An update for a call that was never announced invents no call.
//   - Memory and time are bounded whatever the agent sends: [MaxOpenCalls],
//     [MaxCallBytes], [MaxPaths], [MaxOptions].
//
// # Deliberately absent
//
// Command lines are not parsed: that is the work of rules and deciders. Nothing
// lasts here: every grant ends with its turn, and who keeps [Outcome.Rule] is
// elsewhere.
package permit
