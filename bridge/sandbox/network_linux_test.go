package sandbox

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"
)

// reaches reports whether something can be connected to.
func reaches(address string) bool {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// reachesOwn reports whether a server of one's own can be connected to.
func reachesOwn() bool {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return false
	}
	defer l.Close()
	return reaches(l.Addr().String())
}

// TestNetwork: a loopback of its own is not this machine's; off is nothing; and where it cannot be closed nothing starts.
func TestNetwork(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for network, want := range map[Network]string{NetworkOpen: "true true", NetworkLoopback: "false true", NetworkOff: "false false"} {
		p := newPlace(t)
		p.needBoth()
		if network == NetworkOff && p.Probe(t.Context()).Landlock < abiTCP {
			t.Log("this kernel's Landlock is too old to close an own loopback")
			continue
		}
		r := p.request(Bubblewrap, "")
		r.Network, r.Program.Path, r.Program.Args = network, self, []string{"network", port}
		out, _ := once(t, p.Launcher, r)
		if got := strings.TrimSpace(out); got != want {
			t.Errorf("network %q: reaches this machine's and its own: %s, want %s", network, got, want)
		}
	}
	for _, b := range []Backend{Landlock, None} {
		p := newPlace(t)
		r := p.request(b, "true")
		r.Network = NetworkLoopback
		var setup *SetupError
		if _, err := p.Start(t.Context(), r); !errors.As(err, &setup) {
			t.Errorf("%s starts with a network that it cannot close: %v", b, err)
		}
	}
}
