// Package harness reads and keeps the descriptions of coding agents.
//
// A harness is the description of how to start and speak to one agent. It is
// an entry of contributes.harnesses in a manifest, the file
// escouade-plugin.json; the agents that Sallyport knows are manifests of the
// same format in builtin/. The package finds the agent's program on this
// machine, reads its version, and says what was seen to hold with it. It
// starts no agent: bridge does, with what a Harness says.
//
// # Words
//
//   - manifest: one escouade-plugin.json. Parse reads it; schema.json, which is
//     shipped, has every field with its default.
//   - origin: who gave a harness (built-in, installed, user), and so what is
//     believed of it.
//   - short id, global id: gemini, and plugin:dev.sallyport.gemini:gemini.
//   - problem: one thing wrong with a manifest, with line, field, remedy and
//     consequence.
//   - reach: what was seen to pass through the client and to be asked about,
//     with the tested versions.
//   - quirk: a known deviation of an agent, which bridge makes up for.
//
// # Fields of ours
//
// The format has no place for some of what Sallyport needs: names of variables
// to pass on, quirks, reach, the agent's own files, its npm package. They are
// all in one object, x-sallyport, in the harness, so that another host skips
// them at once. Schema says what each is.
//
// # Invariants
//
//   - A program of a manifest is a bare name on PATH. Only the user's own
//     configuration has a path or a command line, and only a built-in manifest
//     may mean Sallyport itself.
//   - Nothing is run to read a manifest, nothing is fetched, no link in it is
//     followed.
//   - What is wrong costs the least that is safe: a field, a harness, a
//     manifest; never the manifests beside it, and never silently.
//   - Keys are case-sensitive; one given twice refuses the manifest, because
//     two readers would see two manifests.
//   - A manifest sets no secret and no variable that makes another program
//     run than the one shown.
//   - No text of a manifest reaches a person with control characters in it.
//   - In every mode of the built-in harnesses of Sallyport the agent goes on
//     asking wherever it can, and Sallyport answers; so a fence or a decider
//     can still refuse in acceptEdits and bypassPermissions. The exceptions say
//     so in their meaning: Codex in bypassPermissions edits the session's folder
//     unasked, and Goose is used as its author wrote it. Claude Code runs commands
//     unasked in a mode plan of its own, and Zed's adapter for Codex does not take
//     its mode read-only on again: neither is sent there, or away from there.
//   - A Harness and a Set do not change once made, and may be shared.
//
// # Decisions
//
//   - A byte order mark is accepted and reported; UTF-16 is refused.
//   - escouade.api must be "1". escouade.min is about Escouade: it never
//     refuses, and above 2.1.0 it warns.
//   - Both adapters of Codex install a program called codex-acp, with different
//     modes: they are two harnesses, codex and codex-zed, told apart by the npm
//     package that the program found belongs to.
//   - An agent is found by its program, not by a guess: what PATH says now, and
//     doctor runs it.
//
// # Deliberately absent
//
// Starting an agent, building its environment, installing a plugin or an agent
// (a person runs the line that is shown), harnesses that need code, deciders,
// and the parts of the format for Escouade's own screens.
package harness
