// Package nvim holds the tests of the Neovim plugin, which is the Lua beside it.
// Each spec of the folder spec runs in a real Neovim, the oldest and the newest
// that the plugin supports, against the real program and a scripted agent.
//
// # Invariants
//
//   - A spec has a home, a project and a Neovim of its own; nothing is left of
//     them when it has ended.
//   - What a user does is done as a user does it: keys go in as keys.
//   - Specs wait for states, never for a time.
//
// # Deliberately absent
//
// Neovim without the plugin is tested in editors/plain. The types of the Lua
// files are not checked here: .luarc.json is for who has lua-language-server.
package nvim
