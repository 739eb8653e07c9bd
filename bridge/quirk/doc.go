// Package quirk knows how real agents depart from what ACP leads to expect.
//
// Everything here was seen on the wire: [Facts] names for each quirk the agent,
// the version and the transcript (testdata/realagents/transcripts), and a test
// reads that transcript and fails where it does not show the quirk. What to do
// about a quirk is the bridge's; here are the facts, and the small readers that
// belong to one agent's spelling.
//
// # Findings
//
// The findings on the recorded agents, by number, and where each is dealt with:
//
//  1. fs/* is no fence: postures (bridge), permission cards (permit), the check
//     of the disk after a turn (workspace).
//  2. opencode's writes are an echo: [EchoWrites].
//  3. opencode and codex-acp edit without asking as shipped: [UnaskedEdits]; the
//     harness manifests start them so that they ask (plugins/harness).
//  4. gemini and a file that does not exist yet: [MissingReadsEmpty].
//  5. The reason of a refusal is lost: [LostReasons], permit.PromptNote.
//  6. The permission request may be the first sight of a call, and a refused
//     call stays open: [UnannouncedCalls], [SilentReject]; permit.Calls.
//  7. The diff may be elsewhere: [DiffBefore]; permit.Calls merges, and the
//     bridge keeps the order of the wire.
//  8. Paths are not normalised: [RawPaths], [BareDiffPaths]; workspace/fence
//     resolves, permit never cleans before it asks the fence.
//  9. allow_always is wide: [WideAlways], [ModeText], [Loosens]; permit sends it
//     only for a person.
//  10. Terminal content without a terminal: [TerminalContent], [TerminalOutput].
//  11. session/load: [LateReplay], [LoadSameMinute] and [LoadWait], [LateChunks]; updates for a
//     session that is not named yet are held by the bridge.
//  12. Late updates: [LateChunks]; the bridge ends a turn by its answer and waits
//     a bounded time.
//  13. Stopping: [StaysOnEOF], [CommandsOutlive]; bridge/process ends the tree.
//  14. One prompt at a time: [NoQueue], [PromptCancels]; the bridge has one turn
//     a session (BusyError).
//  15. Ids of every kind, errors without an id: bridge/rpc.
//  16. Methods and members outside the SDK: the bridge forwards raw JSON and
//     drops unknown notifications.
//  17. Slow starts: the bridge's time limits.
//  18. codex under /tmp: plugins/harness and the end-to-end tests.
//  19. Commands run without asking: [UnaskedCommands]; postures.
//
// # Invariants
//
//   - No quirk without a transcript that shows it.
//   - A quirk never makes a session laxer than it would be without: it only says
//     what to expect.
//
// Deliberately absent: anything that is a choice of a user, and ways to start an
// agent; both are in plugins/harness.
package quirk
