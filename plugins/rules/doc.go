// Package rules decides requests of agents by rules in Claude Code's syntax.
//
// A set of [Rules] is read from lists deny, ask and allow ([Parse], or
// [ParseClaude] for what is already in a .claude/settings.json), joined from
// several places ([Join]), and asked with [Rules.Decide] or [Rules.Explain].
// [Propose] is the other way round: the narrowest rule that covers a request.
//
// # Words
//
// A rule is Tool or Tool(specifier). A part is one thing that a request does:
// one command of a line, one redirection, one file. A part is unclear when it
// is not known before it runs what it does. A wrapper is a program that runs
// the command in its arguments; a neutral one (timeout, nohup, nice, stdbuf,
// command, builtin, noglob, the keyword time, and xargs without options) changes
// nothing of it.
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
//     options before a subcommand, -c, eval, and options and variables that hand
//     on a command; they hold for what a line only might be. Allow takes a command
//     as it is spelt; only neutral wrappers are taken off.
//   - What is unclear is asked as soon as there is a rule about commands. So is what
//     the shell reads a second time: names in arithmetic, -eq in [[ ]], ${!x}.
//   - A variable that is set by the way (for PATH in …, ${PATH:=…}) is a part, unless
//     its name is one that only the line looks at.
//   - A command that another one spells in its own words is covered by the rule
//     that covers the outer one, and that rule names it: Bash(sudo ls:*), not
//     Bash(sudo:*). For watch, flock, setsid and their like, find -delete, and options
//     by which a program of another purpose runs or writes something, only a
//     rule without wildcards counts; for ssh, docker exec, npx and their like any
//     rule does, as Claude Code has it. A command line in a string, and what xargs with
//     options runs, needs a rule of its own besides.
//   - Where cd leads, names of files count from there as well; git is asked then,
//     as another folder's settings may name commands for it.
//   - Redirections, and the arguments of the best-known programs, meet the deny
//     and ask rules of Edit and Read. A name of which the line does not tell all is
//     asked if it may be meant; a wildcard does not stand for a leading point.
//   - No input makes it panic; a rule that cannot be read is a problem that names
//     it, and the others hold.
//   - Nothing is read from the disk and no command is run.
//
// # Deliberately absent
//
// Links are not followed: the fences judge files where they really are. What
// interpreters (python -c, awk, sed, make), git's hooks and settings, and scripts
// do is not known: a rule that allows one allows all that it can do, which is why
// nothing is allowed by default. Lines are read as bash reads them; PowerShell and
// cmd are not understood, and of zsh and fish only what is not much of a
// difference. Specifiers of other tools (Skill, Agent, Tool(parameter:value)) are problems.
package rules
