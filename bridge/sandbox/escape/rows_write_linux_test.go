package escape

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// writing are the rows on writes in and out of the region.
var writing = []row{
	{id: "W01", sh: `echo hi > n.txt`, want: works, work: true, got: hasText("n.txt", "hi\n"), fs: []op{{"write", "n.txt", "hi\n"}}},
	{id: "W02", sh: `echo hi > README`, want: works, work: true, got: replaced, fs: []op{{"write", "README", "hi\n"}}, staging: staging{prepare: marked}},
	{id: "W03", sh: `mkdir -p a/b && echo 1 > a/x && mv a/x a/b/y && mv a/b c && rm -r c a`, want: works, work: true, got: succeeded},
	{id: "W04", sh: `echo x > ../other/n.txt`, want: holds, got: outside, fs: []op{{"write", "../other/n.txt", "x"}}},
	{id: "W04 mount", sh: ready + `echo x > ../mnt/n.txt`, want: holds.but(bubblewrap, told, "none/root", held), got: onMount, staging: staging{alone: true, tells: true, not: cannotMount,
		prepare: func(s *scene) { s.as("mkdir", s.projects("mnt")) }, meanwhile: func(s *scene) { s.mount("tmpfs", s.projects("mnt"), "tmpfs", 0) }}},
	{id: "W05", sh: `echo x >> ../other/f.txt`, want: holds, got: outside, fs: []op{{"write", "../other/f.txt", "OTHER\nx"}}},
	{id: "W06", sh: `: > ../other/f.txt; truncate -s 0 ../other/f.txt`, want: holds, got: outside},
	{id: "W07", sh: `rm -f ../other/f.txt`, want: holds, got: outside},
	{id: "W08", sh: `mv ../other/f.txt ../other/g.txt`, want: holds, got: outside},
	{id: "W09", sh: `mv README ../other/R2`, want: holds, got: same("projects/other", "projects/pub/README")},
	{id: "W10", sh: `mv ../other/f.txt ./stolen`, want: holds, got: outside},
	{id: "W11", sh: `echo x > link-other`, want: holds, got: outside, fs: []op{{"write", "link-other", "x"}}},
	{id: "W12", sh: `ln -s ../other d; echo x > d/n.txt`, want: holds, got: outside, fs: []op{{"link", "d", "../other"}, {"write", "d/n.txt", "x"}}},
	{id: "W13", sh: `ln ../other/f.txt h; echo x > h`, want: holds, got: outside},
	{id: "W14", sh: `echo x > hard-other`, want: never, got: outside, fs: []op{{"write", "hard-other", "x"}}},
	{id: "W15", sh: `chmod 000 ../other/f.txt`, want: fullOnly, got: outside},
	{id: "W16", sh: `touch -d 2001-01-01 ../other/f.txt`, want: fullOnly, got: outside},
	{id: "W17", sh: `$X intrude setxattr ../other/f.txt`, want: fullOnly, got: outsideMarked, staging: staging{not: withoutAttributes}},
	{id: "W18", sh: `mkdir ../other/d; ln -s x ../other/s; mkfifo ../other/p`, want: holds, got: outside},
	{id: "W19", sh: `echo evil >> ~/.bashrc`, want: holds, got: same(".bashrc"), fs: []op{{"write", "~/.bashrc", "evil"}}},
	{id: "W20", sh: `cd; echo x > .config/sallyport/config.json; echo x > .local/share/sallyport/plugins/p; echo x > .local/state/sallyport/receipts/r; echo x > .local/state/sallyport/n`,
		want: holds, got: same(".config/sallyport", ".local/share/sallyport", ".local/state/sallyport/receipts", ".local/state/sallyport/n"),
		fs: []op{{"write", "~/.config/sallyport/config.json", "x"}, {"write", "~/.local/share/sallyport/plugins/p", "x"}, {"write", "~/.local/state/sallyport/receipts/r", "x"}}},
	{id: "W21", sh: `for d in /etc /usr/local/bin /var/tmp; do echo x > $d/$NOWHERE; done`, want: holds, got: strewn("/etc", "/usr/local/bin", "/var/tmp"),
		fs: []op{{"write", "/etc/NOWHERE", "x"}, {"write", "/usr/local/bin/NOWHERE", "x"}, {"write", "/var/tmp/NOWHERE", "x"}}},
	{id: "W22", sh: `echo x > /tmp/$NOWHERE`, want: holds, got: strewn("/tmp")},
	{id: "W23", sh: `echo x > ~/.local/share/agent/s`, want: works, work: true, got: hasText("../../.local/share/agent/s", "x\n")},
	{id: "W24", sh: `f=$(mktemp) && echo x > $f && cat $f && case $f in $TMPDIR/*) echo below;; esac`, want: works, work: true, got: done("x\n", "below\n")},
	{id: "W25", sh: `setsid sh -c 'sleep 0.3; echo x > ../other/late' > /dev/null 2>&1 &`, want: holds.but(none, held), got: late},
	{id: "W26", sh: `for p in "node -e" "python3 -c" "perl -e"; do ${p% *} > /dev/null 2>&1 < /dev/null && echo has ${p% *}; done
node -e 'require("fs").writeFileSync("../other/node", "x")'
python3 -c 'open("../other/python", "w").write("x")'
perl -e 'open(F, ">", "../other/perl"); print F "x"'`, want: holds, got: languages},
	{id: "W27", sh: `cd src; cd ../..; echo x > other/n.txt`, want: holds, got: outside, fs: []op{{"write", "src/../../other/n.txt", "x"}}},
	{id: "W28", sh: `mkdir d; $X intrude swap d ../other & $X intrude storm d; kill $!`, want: holds, got: outside, fs: []op{{"storm", "d", "../other"}}},
	{id: "W29", sh: `echo x > abs-in`, want: works, work: true, got: throughLink, fs: []op{{"write", "abs-in", "x\n"}},
		staging: staging{prepare: func(s *scene) { s.as("ln", "-s", s.pub("src", "a.go"), s.pub("abs-in")) }}},
}

// marked gives README an attribute, where the file system has them.
func marked(s *scene) {
	if withoutAttributes("", s.user) == "" {
		if err := unix.Setxattr(s.pub("README"), "user.note", []byte("mine"), 0); err != nil {
			s.t.Fatal(err)
		}
	}
}

// replaced: README has the new text, and the owner, mode and attributes it had.
func replaced(s *scene) string {
	path := s.pub("README")
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return err.Error()
	}
	if got := s.text(path); got != "hi\n" || st.Mode&0o777 != 0o640 || int(st.Uid) != s.user.id {
		return fmt.Sprintf("README is %q, mode %o, of %d", got, st.Mode, st.Uid)
	}
	if withoutAttributes("", s.user) == "" {
		value := make([]byte, 16)
		if n, err := unix.Getxattr(path, "user.note", value); err != nil || string(value[:n]) != "mine" {
			return fmt.Sprintf("README has lost its attribute: %v", err)
		}
	}
	return ""
}

// withoutAttributes: the file system of the fixtures has no extended attributes.
func withoutAttributes(string, user) string {
	if err := unix.Setxattr(ground.dir, "user.x", []byte("1"), 0); err != nil {
		return "the file system has no extended attributes"
	}
	return ""
}

func outsideMarked(s *scene) string {
	if n, err := unix.Lgetxattr(s.projects("other", "f.txt"), "user.x", nil); err == nil {
		return fmt.Sprintf("f.txt has an attribute of %d bytes", n)
	}
	return ""
}

// strewn: a file of a name that no one else uses is in one of the system's
// folders. It is removed.
func strewn(folders ...string) func(*scene) string {
	return func(s *scene) string {
		var found []string
		for _, f := range folders {
			path := filepath.Join(f, s.nowhere())
			if _, err := os.Lstat(path); err == nil {
				found = append(found, f)
				if err := os.Remove(path); err != nil {
					s.t.Error(err)
				}
			}
		}
		return strings.Join(found, " ")
	}
}

// late: the process that left its session wrote after all. What is left of the
// scene is waited for first.
func late(s *scene) string {
	s.gone(5 * time.Second)
	return outside(s)
}

// languages: a write from one of them got through. One that is not here was not
// tried, and one at least has to be.
func languages(s *scene) string {
	if s.result.Stdout != "" && !strings.Contains(s.result.Stdout, "has ") {
		s.t.Error("there is neither node nor python nor perl")
	}
	return outside(s)
}

// throughLink: the link's target was written, and the link is one still.
func throughLink(s *scene) string {
	if got := s.text(s.pub("src", "a.go")); got != "x\n" {
		return fmt.Sprintf("the target is %q", got)
	}
	return s.changed("projects/pub/abs-in")
}

// mount mounts something outside, until the scene ends. Others see it, too.
func (s *scene) mount(source, at, kind string, flags uintptr) {
	s.t.Helper()
	if err := unix.Mount(source, at, kind, flags, ""); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
			s.t.Error(err)
		}
	})
	if kind != "" {
		if err := os.Lchown(at, s.user.id, s.user.group()); err != nil {
			s.t.Error(err)
		}
	}
}

// onMount: what was mounted meanwhile was written.
func onMount(s *scene) string {
	if _, err := os.Stat(s.projects("mnt", "n.txt")); err != nil {
		return ""
	}
	return s.orTold("mnt/n.txt was written", s.projects("mnt"))
}
