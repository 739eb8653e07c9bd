//go:build race

package realtest

// raceFlag builds the program as these tests were built.
var raceFlag = []string{"-race"}
