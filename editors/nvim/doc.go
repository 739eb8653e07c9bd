// Package nvim holds the tests of the Neovim plugin: each spec runs in a real
// Neovim against the real program.
package nvim
