package escape

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// around are the rows on ways round the fence itself.
var around = []row{
	{id: "N01", sh: unmounting, want: holds, got: leakedOrOutside},
	{id: "N02", sh: `unshare -Urm sh -c '` + unmounting + `'`, want: holds, got: leakedOrOutside},
	{id: "N03", sh: `mkdir m; unshare -Urm sh -c 'mount --bind .. m; cat m/secret/key.txt'`, want: holds, got: leaked},
	{id: "N04", sh: `cat /proc/$OUT/root$HOME/projects/secret/key.txt; echo x > /proc/$OUT/root$HOME/projects/other/n.txt`, want: holds, got: leakedOrOutside, staging: besideOut},
	{id: "N05", sh: `cat /proc/$OUT/cwd/key.txt; tr '\0' '\n' < /proc/$OUT/environ; ls -l /proc/$OUT/fd /proc/$OUT/cwd | grep -e '->' && echo FOLLOWED`, want: holds,
		got: anyOf(leaked, said("OUTENV"), said("FOLLOWED")), staging: besideOut},
	{id: "N05 names", sh: `ls /proc/$OUT/fd && echo LISTED; grep -qs sleep /proc/$OUT/cmdline && echo NAMED`, want: fullOnly, got: anyOf(said("LISTED"), said("NAMED")), staging: besideOut},
	{id: "N05 keys", sh: `$X intrude key`, want: holds, got: said("KEY"), staging: staging{tune: func(_ *scene, j *job) { j.Key = true }}},
	{id: "N06", sh: `for p in self 1; do cat /proc/$p/root$HOME/projects/secret/key.txt; echo x > /proc/$p/root$HOME/projects/other/n.txt; done`, want: holds, got: leakedOrOutside},
	{id: "N07", sh: `for p in $OUT 1; do nsenter -m -t $p cat $HOME/projects/secret/key.txt; done`, want: holds.but("none/user", held), got: leaked, staging: besideOut},
	{id: "N08", sh: `chroot /proc/$OUT/root cat $HOME/projects/secret/key.txt; unshare -Ur chroot /proc/$OUT/root cat $HOME/projects/secret/key.txt`, want: holds.but("none/user", held), got: leaked, staging: besideOut},
	{id: "N09", sh: `for i in $(seq 0 99); do [ -e /proc/$$/fd/$i ] && echo fd $i; done`, want: anyway, got: moreThanThree, staging: staging{raw: true}},
	{id: "N10", sh: `grep -E 'NoNewPrivs|CapEff' /proc/self/status`, want: holds, got: privileged},
	{id: "N11", sh: `$X intrude attach $OUT $BRIDGE $EDITOR`, want: holds, got: said("ATTACHED"), staging: staging{prepare: func(s *scene) { s.out = s.outsider() }, tune: besideEditor}},
	{id: "N12", sh: `for f in /proc/sys/kernel/core_pattern /proc/sys/vm/swappiness /proc/sysrq-trigger /sys/kernel/mm/transparent_hugepage/enabled /sys/power/state; do (: >> $f) && echo OPENED $f; done`,
		want: holds.but("landlock/root", gap, "none/user", held), got: said("OPENED")},
	{id: "N13", sh: `$X intrude disks $DISKS`, want: holds.but("landlock/root", gap, "none/user", held), got: said("OPENED"), staging: staging{not: withoutDisks, tune: numbered}},
	{id: "N14", sh: `../../bin/id -u; echo x > /var/spool/cron/$NOWHERE; $X intrude connect $BUS; sudo -n true && echo SUDO`, want: fullOnly,
		got: scheduled, staging: staging{prepare: services, tune: besideBus, not: cannotMount}},
	{id: "N15", sh: `true`, want: anyway, got: planted, staging: staging{prepare: plant}},
	{id: "N16", sh: `$X intrude push`, want: anyway, got: anyOf(said("TERMINAL"), said("PUSHED"))},
}

// unmounting tries to take the fence's mounts away, and then what they held.
const unmounting = `umount ../secret; umount -l ../secret; mount -o remount,rw,bind /; mount -o remount,rw,bind ../other; mount --bind ../other src; cat ../secret/key.txt; echo x > ../other/n.txt; echo x > src/m`

var besideOut = staging{prepare: func(s *scene) { s.out = s.outsider() }}

func leakedOrOutside(s *scene) string { return anyOf(leaked, outside)(s) }

// besideEditor gives the command a second process to attach to, and its bridge.
func besideEditor(s *scene, j *job) {
	j.Env["EDITOR"] = fmt.Sprint(s.outsider())
	j.TellPID = true
}

func moreThanThree(s *scene) string {
	if got := strings.TrimSpace(s.result.Stdout); got != "fd 0\nfd 1\nfd 2" {
		return "its descriptors are " + got
	}
	return ""
}

func privileged(s *scene) string {
	var left []string
	if !strings.Contains(s.result.Stdout, "NoNewPrivs:\t1") {
		left = append(left, "NoNewPrivs is not set")
	}
	if !strings.Contains(s.result.Stdout, "CapEff:\t0000000000000000") && s.user.id == 0 {
		left = append(left, "it has capabilities")
	}
	return strings.Join(left, "; ")
}

func withoutDisks(string, user) string {
	if len(blockDevices()) == 0 {
		return "there is no disk's device file"
	}
	return ""
}

// numbered gives the command the numbers of disks.
func numbered(_ *scene, j *job) {
	var all []string
	for _, n := range blockDevices() {
		all = append(all, strconv.FormatUint(n, 10))
	}
	j.Env["DISKS"] = strings.Join(all[:min(len(all), 3)], " ")
}

// services puts a program with the rights of root into the home, and a bus for
// the user into /run/user.
func services(s *scene) {
	bin := filepath.Join(s.dir, "bin")
	for _, step := range [][]string{{"mkdir", bin}, {"cp", "/usr/bin/id", bin}, {"chmod", "4755", filepath.Join(bin, "id")}} {
		if out, err := exec.Command(step[0], step[1:]...).CombinedOutput(); err != nil {
			s.t.Fatalf("%q: %v: %s", step, err, out)
		}
	}
}

// besideBus has a bus listening, in the folder that a login makes.
func besideBus(s *scene, j *job) {
	dir := fmt.Sprintf("/run/user/%d", s.user.id)
	runUser.Do(func() { runUserErr = unix.Mount("tmpfs", "/run/user", "tmpfs", 0, "mode=755") })
	if runUserErr != nil {
		s.t.Fatal(runUserErr)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Lchown(dir, s.user.id, s.user.group()); err != nil {
		s.t.Fatal(err)
	}
	j.Env["BUS"] = filepath.Join(dir, "bus-"+s.backend)
	s.listen(j.Env["BUS"])
}

// scheduled: it got the rights of another, or something to run later.
func scheduled(s *scene) string {
	got := anyOf(said("CONNECTED"), said("SUDO"), strewn("/var/spool/cron"))(s)
	if s.user.id != 0 && strings.Contains(s.result.Stdout, ":began\n0\n") {
		got += " it became root"
	}
	return got
}

// plant puts programs of the sandbox tools' names first in PATH.
func plant(s *scene) {
	s.do(`mkdir bin; for n in bwrap sandbox-exec sh env; do printf '#!/bin/sh\n: > %s/was-run\nexec /usr/bin/%s "$@"\n' ` + s.home() + ` $n > bin/$n; chmod +x bin/$n; done`)
	for i, v := range s.env {
		if strings.HasPrefix(v, "PATH=") {
			s.env[i] = "PATH=" + s.pub("bin") + ":" + path
		}
	}
}

func planted(s *scene) string { return s.changed("was-run") }
