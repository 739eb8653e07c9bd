//go:build !windows

package fakeagent

// shellLine is the program that runs one line of shell.
func shellLine(command string) []string { return []string{"sh", "-c", command} }
