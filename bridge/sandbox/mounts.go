package sandbox

import (
	"os"
	"slices"
	"strings"

	"sallyport/workspace/fence"
)

// bubblewrap's mounts follow those of the system where these are shared, as systemd makes them: what is mounted while an
// agent runs appears inside, and can be written there. Nothing inside may change that, so it is watched.

// mountLine is one line of mountinfo.
type mountLine struct {
	id, parent string
	at         string // where, with octal escapes undone
	kind       string // of the file system
	shared     bool   // what is mounted beneath is seen in other namespaces
	readOnly   bool
}

// parseMounts reads a table of mounts; lines that are none are left out.
func parseMounts(table []byte) map[string]mountLine {
	all := map[string]mountLine{}
	for line := range strings.Lines(string(table)) {
		// 36 35 98:0 /root /at rw,noatime shared:1 master:2 - ext4 /dev/sda rw,errors=continue
		front, back, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		f, b := strings.Fields(front), strings.Fields(back)
		if !ok || len(f) < 6 || len(b) < 3 {
			continue
		}
		all[f[0]] = mountLine{
			id: f[0], parent: f[1], at: unescape.Replace(f[4]), kind: b[0],
			shared:   slices.ContainsFunc(f[6:], func(s string) bool { return strings.HasPrefix(s, "shared:") }),
			readOnly: slices.Contains(strings.Split(f[5], ","), "ro") || slices.Contains(strings.Split(b[2], ","), "ro"),
		}
	}
	return all
}

var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// ground is what was mounted at the start, and where a new mount gives an agent nothing that it has not.
type ground struct {
	known  map[string]mountLine
	spared []string
}

// ground looks at the mounts now.
func (p *plan) ground(backend Backend) *ground {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || backend != Bubblewrap {
		return nil
	}
	g := &ground{known: parseMounts(table), spared: slices.Concat([]string{"/proc", "/dev", p.temp}, p.layout.Writable, p.needs.State, p.runtime)}
	if !p.within(p.layout.Writable, tmp) {
		g.spared = append(g.spared, tmp)
	}
	for _, h := range p.layout.Hidden {
		g.spared = append(g.spared, h.Path)
	}
	return g
}

// fresh lists where file systems were mounted since, that the agent's programs may be able to write.
func (g *ground) fresh(table []byte) []string {
	if g == nil {
		return nil
	}
	var all []string
	now := parseMounts(table)
	for id, m := range now {
		if was, ok := g.known[id]; ok && was == m || m.readOnly || m.kind == "nsfs" || m.kind == "autofs" || !now[m.parent].shared {
			continue
		}
		if slices.ContainsFunc(g.spared, func(s string) bool { return fence.Beneath(m.at, s) }) || !mayEnter(m.at) {
			continue
		}
		all = append(all, m.at)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
