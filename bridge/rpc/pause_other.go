//go:build !linux

package rpc

// pauseShortly does nothing: there is no way to wait for less than a millisecond.
func pauseShortly() {}
