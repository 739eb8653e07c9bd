// Package signin signs a person in to an agent, at the person's terminal, by the
// agent's own program.
//
// The program has a terminal of its own, that we make; bytes and the size of the
// window pass between the two. How it is started, and what holds it, is the
// bridge's (SignIn).
//
// Invariants:
//
//   - The program never has the person's terminal: it can put nothing into what
//     is read from there, and what it asked the terminal is not answered to the
//     next program.
//   - However it ends, the terminal is as it was: its modes, its screen, its
//     cursor. Only our own SIGKILL leaves it as it is.
//   - When the terminal is closed, or we are told to end, so is the program, which
//     sees its terminal closed; nothing of it is left when Run returns.
//   - One line of ours stands before what the program writes, and one after.
//
// What the program writes acts on the terminal, as that of any program does: that
// is what a sign-in is, and all that differs from package terminal.
//
// Deliberately absent: Windows, where programs cannot be given a terminal in this way.
package signin
