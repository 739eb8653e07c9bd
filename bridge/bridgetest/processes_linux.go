package bridgetest

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// familiesUnknown is why a family cannot be found here; empty: it can.
const familiesUnknown = ""

// everyProcess reads /proc. Zombies do not count: they do nothing more.
func everyProcess(marker string) []seen {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []seen
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if p, ok := readProcess(pid, marker); ok {
			all = append(all, p)
		}
	}
	return all
}

// readProcess reads one; false when it is gone, or a zombie.
func readProcess(pid int, marker string) (seen, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return seen{}, false
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return seen{}, false
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return seen{}, false
	}
	environ, _ := os.ReadFile(dir + "/environ") // another user's: not ours
	command, _ := os.ReadFile(dir + "/cmdline")
	args := strings.TrimSpace(string(bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
	return seen{
		Process: Process{PID: pid, Parent: parent, Command: args[:min(len(args), 160)], start: fields[19]},
		marked:  bytes.Contains(environ, []byte(marker)),
	}, true
}
