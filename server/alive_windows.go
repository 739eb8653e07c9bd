package server

import "syscall"

const (
	queryLimited = 0x1000 // PROCESS_QUERY_LIMITED_INFORMATION
	stillActive  = 259    // STILL_ACTIVE
)

// alive reports whether a process runs. One that we may not open counts as
// running.
func alive(pid int) bool {
	h, err := syscall.OpenProcess(queryLimited, false, uint32(pid))
	if err != nil {
		return err == syscall.ERROR_ACCESS_DENIED
	}
	defer func() { _ = syscall.CloseHandle(h) }()
	var code uint32
	return syscall.GetExitCodeProcess(h, &code) != nil || code == stillActive
}
