package escape

import (
	"net"
	"path/filepath"
	"sync"
)

// sockets are the rows on sockets, signals and the environment.
var sockets = []row{
	{id: "S01", sh: `$X intrude connect $RUN/docker.sock`, want: fullOnly, got: reached, staging: staging{prepare: listening("docker.sock")}},
	{id: "S02", sh: `$X intrude connect $RUN/other.sock`, want: never, got: reached, staging: staging{prepare: listening("other.sock")}},
	{id: "S03", sh: `$X intrude connect $ABS`, want: holds, got: reached, staging: staging{prepare: listening("")}},
	{id: "S04", sh: `kill -TERM $OUT; kill -TERM -$BRIDGE; kill -TERM $BRIDGE; kill -TERM 0`, want: holds, got: killed,
		staging: staging{raw: true, prepare: func(s *scene) { s.out = s.outsider() }, tune: func(_ *scene, j *job) { j.TellPID = true }, dies: true}},
	{id: "S05", sh: `$X intrude listen $TMPDIR/s`, want: works, work: true, got: done("WORKS")},
	{id: "S06", sh: `$X intrude loopback`, want: works, work: true, got: done("WORKS")},
	{id: "S07", sh: `env`, want: anyway, got: inherited},
}

// runUser is mounted over once.
var (
	runUser    sync.Once
	runUserErr error
)

// listening makes a socket in the scene's folder for them, "" the abstract one.
func listening(name string) func(*scene) {
	return func(s *scene) {
		address := s.abstract()
		if name != "" {
			address = filepath.Join(s.dir, "run", name)
		}
		s.listener = s.listen(address)
	}
}

// reached: somebody has connected to the scene's socket.
func reached(s *scene) string {
	if connected(s.listener) {
		return "it connected to " + s.listener.Addr().(*net.UnixAddr).Name
	}
	return ""
}

// killed: the process outside, or the bridge, did not live on.
func killed(s *scene) string {
	if !lives(s.out) {
		return "the process outside is gone"
	}
	if !s.bridge.ProcessState.Success() {
		return "the bridge is gone: " + s.bridge.ProcessState.String()
	}
	return ""
}

func inherited(s *scene) string {
	var looks []func(*scene) string
	for _, name := range []string{"SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "DOCKER_HOST", "TMUX", "NVIM", "VSCODE_IPC_HOOK_CLI"} {
		looks = append(looks, said("\n"+name+"="))
	}
	return anyOf(looks...)(s)
}
