// Package decide starts the programs of deciders (plugins/decider).
//
// # Words
//
// A decider's folder is the one that its manifest is in. Its data is the folder
// data in there, where there is one.
//
// # Invariants
//
//   - A program runs without a shell, in its folder, in a process tree of which
//     nothing is left, with an environment that is built from nothing
//     (process.Environ) and holds no variable of an agent.
//   - Where the kernel holds fences the program is inside one: it writes its data
//     and temporary files only, and reads neither our state, nor private projects,
//     nor what agents may not read. A fence that was promised and cannot be set up
//     keeps the program from starting.
//   - A decider that was changed on the disk is started anew, without a watch: the
//     files are looked at when its pool is asked for, once a second at most.
//   - A manifest names a program by its name on PATH or by a file in its folder;
//     a link that leads out of the folder is refused.
//
// # Deliberately absent
//
// Which deciders there are and what they are asked. A limit on the network: a
// decider may have to ask a service of its team.
package decide
