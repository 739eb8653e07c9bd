// Package rules decides requests of agents by rules in Claude Code's syntax.
//
// A set of [Rules] is read from lists deny, ask and allow ([Parse], or
// [ParseClaude] for what is already in a .claude/settings.json), joined from
// several places ([Join]), and asked with [Rules.Decide] or [Rules.Explain].
//
// # Words
//
// A rule is Tool or Tool(specifier). A part is one thing that a request does:
// one command of a line, one redirection, one file. A part is unclear when it
// is not known before it runs what it does. A wrapper is a program that runs
// the command in its arguments; a neutral one (timeout, nohup, nice, stdbuf, the
// keyword time, and xargs without options) changes nothing of it.
//
// # Rules
//
//   - Bash(npm test:*) and Bash(npm test *): npm test, alone or followed by words.
//     Bash(npm test*): whatever begins so. Bash(git * main): a star is any text,
//     spaces too. Bash(git diff): exactly that. Bash, Bash(*): every command.
//   - Edit(…) for everything that changes files, Read(…) for everything that reads
//     them: //abs, ~/home, /root of the source, folder/relative, and a name alone
//     at any depth. * stays within a folder, ** does not; what covers a folder
//     covers what is in it. Write(…), Grep(…) and so on: that tool alone.
//   - WebFetch(domain:example.com): this host; *.example.com: all below it.
//   - mcp__server, mcp__server__*: all its tools; mcp__server__tool: one.
//   - Any other tool by its name alone.
//
// # Invariants
//
//   - Deny before ask before allow, wherever a rule comes from; how narrow a rule
//     is does not matter.
//   - A line is allowed only if every part is, and nothing in it is unclear or
//     writes a file by redirection other than /dev/null.
//   - Deny and ask see through wrappers, assignments, folders of programs, quotes,
//     -c and eval, and hold for what a line only might be. Allow takes a command as
//     it is spelt; only neutral wrappers are taken off.
//   - What is unclear is asked as soon as there is a rule about commands.
//   - A command that another one spells in its own words (sudo, env) is covered by
//     the rule that covers the outer one; a command line in a string, and what
//     find or xargs with options run, needs a rule of its own besides.
//   - Redirections, and the arguments of the best-known programs, meet the deny
//     and ask rules of Edit and Read.
//   - No input makes it panic; a rule that cannot be read is a problem that names
//     it, and the others hold.
//   - Nothing is read from the disk and no command is run.
//
// # Deliberately absent
//
// Links are not followed, and where cd leads is not known: the fences judge
// files where they really are. What interpreters (python -c, awk, make), git's
// hooks and scripts do is not known: a rule that allows one allows all that it
// can do, which is why nothing is allowed by default. Lines are read as
// bash reads them; PowerShell and cmd are not understood. Specifiers of other
// tools (Skill, Agent, Tool(parameter:value)) are problems.
package rules
