package bridge

import "testing"

func TestD6(t *testing.T) {
	for _, test := range []struct {
		goos    string
		wsl     bool
		program string
		refused bool
	}{
		{"linux", true, "/mnt/c/tools/agent.exe", true},
		{"linux", true, "/home/u/bin/agent", false},
		{"linux", false, "/opt/agent.exe", false},
		{"windows", false, `C:\Windows\System32\wsl.exe`, true},
		{"windows", false, `C:\tools\agent.exe`, false},
	} {
		if got := crossing(test.goos, test.wsl, test.program) != ""; got != test.refused {
			t.Errorf("%s on %s (WSL %v): refused is %v, want %v", test.program, test.goos, test.wsl, got, test.refused)
		}
	}
}
