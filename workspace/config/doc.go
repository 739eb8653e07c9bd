// Package config reads the user's configuration and a project's own file.
//
// Words. The configuration is the user's config.json: JSON with comments and trailing
// commas. The project file is .sallyport.json, found in a session's folder or above it. A
// problem is something wrong in one of them, with line, column, field and remedy; it is a
// warning when the file can be used all the same.
//
// Invariants:
//   - A file with an error in it is not used, in no part; the last good one stays.
//   - An unknown key is a warning, never an error.
//   - A project file only tightens: Effective grants nothing that the user did not.
//   - A Config that was handed out never changes; a reload makes a new one.
//   - No value of a configuration reaches a log or a problem, except names and choices
//     from closed lists: env may hold secrets.
//
// Absent on purpose: what a harness id means (plugins/harness knows), how a command line is
// split, and any way for a project to name a program or to declare a private project.
package config
